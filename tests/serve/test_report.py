import pytest
from serving import ask

pytest.importorskip("fastapi")
from polyseme.errors import Mistake
from polyseme.serve import report
from polyseme.serve.app import make_app


def test_a_report_is_shown_where_it_can_reach_nothing(service, tmp_path):
    file = tmp_path / "report.html"
    file.write_text("<script>1</script>")
    app = make_app(service, report_file=report.find(tmp_path))
    answer = ask(app, "/report")
    assert answer.content == b"<script>1</script>"
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert "sandbox allow-scripts;" in policy
    assert "allow-same-origin" not in policy
    assert "default-src 'none'" in policy
    assert "connect-src" not in policy
    assert ask(app, "/looking").json["report"]
    file.unlink()
    assert ask(app, "/report").status == 404


def test_a_report_that_is_not_there_is_said_before_models_are_loaded(service, tmp_path):
    with pytest.raises(Mistake, match="polyseme compare"):
        report.find(tmp_path)
    assert ask(make_app(service), "/report").status == 404


def test_a_token_keeps_the_report_but_not_the_page(service, tmp_path):
    (tmp_path / "index.html").write_text("page")
    (tmp_path / "report.html").write_text("numbers")
    app = make_app(service, token="secret", folder=tmp_path, report_file=tmp_path / "report.html")
    assert ask(app, "/").status == 200
    for path in ("/report", "/looking", "/info", "/absent.js"):
        assert ask(app, path).status == 401, path
    assert ask(app, "/", {"inputs": "a crack"}).status == 401
    assert ask(app, "/report", headers={"authorization": "Bearer secret"}).status == 200
