import sys

import pytest
import serving

from polyseme.cli import main
from polyseme.cli.serve import _token
from polyseme.formats import save


def test_mistakes_are_told_in_a_line(tmp_path, monkeypatch, capsys):
    pytest.importorskip("fastapi")
    one, two = tmp_path / "one" / "model", tmp_path / "two" / "model"
    (tmp_path / "token").write_text("\n")
    for place in (one, two):
        save(serving.tiny_static(), place)

    def told(*arguments, code=1):
        monkeypatch.setattr(sys, "argv", ["polyseme", "serve", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == code
        return capsys.readouterr().err

    assert "first=PATH second=PATH" in told(one, two)
    assert "There is no file" in told(tmp_path / "absent")
    assert "There is no file" in told("--allow-host", "models.example", tmp_path / "absent")
    for limit, value in (("--inputs", "0"), ("--idle", "nan"), ("--deadline", "nan"), ("--drain", "inf")):
        assert "above 0" in told(one, limit, value)
    assert "is empty" in told(one, "--token-file", tmp_path / "token")
    (tmp_path / "token").write_bytes(b"\xff\xfe")
    assert "UTF-8" in told(one, "--token-file", tmp_path / "token")
    assert "Missing argument" in told(code=2)
    with serving.socket.create_server(("127.0.0.1", 0)) as taken:
        assert "Choose another --port" in told(one, "--port", taken.getsockname()[1])


def test_models_have_the_name_of_their_folder_or_the_one_they_are_given(tmp_path):
    pytest.importorskip("fastapi")
    from polyseme.serve.models import load_models

    save(serving.tiny_static(), tmp_path / "glove")
    assert list(load_models([str(tmp_path / "glove"), f"other={tmp_path / 'glove'}"]).all) == ["glove", "other"]


def test_white_space_around_a_token_is_not_of_it(tmp_path, monkeypatch):
    (tmp_path / "token").write_text(" sesam\n")
    monkeypatch.setenv("POLYSEME_TOKEN", "sesam2\n")
    assert _token(tmp_path / "token") == "sesam"
    assert _token(None) == "sesam2"
    monkeypatch.delenv("POLYSEME_TOKEN")
    assert _token(None) is None
