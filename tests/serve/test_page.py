import json
import shutil
import subprocess

import pytest
from serving import ask

pytest.importorskip("fastapi")
from polyseme.serve.app import make_app
from polyseme.serve.page import FOLDER
from polyseme.text.words import to_text

SENTENCES = [
    "It took them years to crack the enemy's code, didn't it?",
    "I’ll say you’re right: the dogs' bowls CAN’T be the boss’s. She'd've known, I'm sure.",
    "A well-read man of 3,14 or 10:30 o'clock, on 5/6 and the 2nd; snake_case.",
    "Ärzte, naïve and NAÏVE, İstanbul'da; 日本の家 and Köln.",
]


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
    for path in ("/" + "a" * 5000, "/%00"):
        assert ask(page, path).status == ask(page, path, {"inputs": "a crack"}).status == 404
    assert ask(page, "/embed").status == 405
    assert ask(page, "/info", {}).status == 405


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_page_splits_words_as_the_server_does(tmp_path):
    shutil.copy(FOLDER / "words.js", tmp_path / "words.mjs")
    script = f"""import {{ holds, wordsOf }} from "{(tmp_path / "words.mjs").as_uri()}";
const found = {json.dumps(SENTENCES)}.map(wordsOf);
console.log(JSON.stringify([found, holds("The enemy's code", "Enemy"), holds("enemy's", "enemy's")]));"""
    done = subprocess.run(["node", "--input-type=module", "-e", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    wanted = [[word for word in to_text(text).words if any(map(str.isalnum, word))] for text in SENTENCES]
    assert json.loads(done.stdout) == [wanted, True, False]
