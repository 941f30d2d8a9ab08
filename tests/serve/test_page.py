import pytest
from serving import ask

pytest.importorskip("fastapi")
from polyseme.serve.app import make_app


@pytest.fixture
def page(service, tmp_path):
    folder = tmp_path / "page"
    folder.mkdir()
    for name in ("index.html", "page.js", "page.css", "icon.svg"):
        (folder / name).write_text(name)
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    return make_app(service, folder=folder)


@pytest.mark.parametrize(
    "path, kind",
    [
        ("/", "text/html; charset=utf-8"),
        ("/page.js", "text/javascript; charset=utf-8"),
        ("/page.css", "text/css; charset=utf-8"),
        ("/icon.svg", "image/svg+xml"),
    ],
)
def test_files_are_served_with_their_types_and_a_strict_policy(page, path, kind):
    answer = ask(page, path)
    assert answer.status == 200
    assert answer.headers["content-type"] == kind
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["/../secret.txt", "/link.txt", "/%2e%2e/secret.txt", "/absent.js"])
def test_nothing_outside_the_folder_is_served(page, path):
    assert ask(page, path).status == 404


def test_the_routes_come_before_the_page(page):
    assert ask(page, "/embed", {"inputs": "a crack"}).status == 200
    assert ask(page, "/", {"inputs": "a crack"}).status == 200


def test_the_page_needs_no_token_but_what_it_asks_for_does(service, page, tmp_path):
    app = make_app(service, token="sesam", folder=tmp_path / "page")
    assert ask(app, "/").status == ask(app, "/page.js").status == 200
    assert ask(app, "/info").status == ask(app, "/", {"inputs": "a"}).status == 401


def test_a_path_that_is_not_there_is_not_there_for_any_method(page):
    assert ask(page, "/absent", {"inputs": "a crack"}).status == 404
    assert ask(page, "/page.js", {"inputs": "a crack"}).status == 405
    assert ask(page, "/embed").status == 405
    assert ask(page, "/info", {}).status == 405
