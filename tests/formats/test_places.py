"""Names of models: paths first, then the box, then the hub's cache; the network only where it is asked for."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from serving import tiny_bert

import polyseme
from polyseme.errors import BadFile
from polyseme.formats import hub, places


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache as the hub's client leaves it, with one model."""
    folder = tmp_path / "hub" / "models--someone--small"
    snapshot = folder / "snapshots" / "abc123"
    snapshot.mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("abc123")
    (snapshot / "config.json").write_text(json.dumps({"model_type": "bert"}))
    (snapshot / "model.safetensors").touch()
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    return snapshot


@pytest.fixture
def box(tmp_path, monkeypatch):
    folder = tmp_path / "box" / "static-starter"
    folder.mkdir(parents=True)
    monkeypatch.setattr(places, "starters", lambda: {"static-starter": folder})
    return folder


def test_a_name_stands_for_the_model_in_the_box(box):
    assert places.model_path("static-starter") == box


def test_a_path_that_is_there_goes_before_a_name(box, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "static-starter").mkdir()
    assert places.model_path("static-starter") == Path("static-starter")


def test_a_name_of_the_hub_that_was_fetched_before_is_found_without_the_network(cache, monkeypatch):
    assert places.model_path("someone/small") == cache
    assert hub.all_kept() == {"someone/small": cache}
    monkeypatch.setattr(hub, "_hub", lambda: Unreachable)
    assert places.model_path("hub:someone/small") == cache


class Unreachable:
    """A client without a network."""

    @staticmethod
    def snapshot_download(name, **options):
        raise OSError("no way out\nand more")


@pytest.mark.parametrize("config", ['{"model_type": "gpt2"}', "[]", "{", '{"model_type": ["bert"]}'])
def test_other_models_in_the_cache_are_none_of_ours(cache, config):
    (cache / "config.json").write_text(config)
    assert hub.all_kept() == {}
    (cache / "config.json").write_text('{"polyseme": 1}')
    assert hub.all_kept() == {"someone/small": cache}


def test_the_cache_is_where_the_hubs_own_client_has_it(cache):
    constants = pytest.importorskip("huggingface_hub")
    assert constants.snapshot_download("someone/small", cache_dir=cache.parents[2], local_files_only=True) == str(cache)


def test_only_a_name_that_says_so_is_asked_of_the_network(cache, monkeypatch):
    asked = []

    class Client:
        @staticmethod
        def snapshot_download(name, **options):
            asked.append(name)
            raise OSError("no way out\nand more")

    monkeypatch.setattr(hub, "_hub", lambda: Client)
    with pytest.raises(
        BadFile, match=r"no file or folder 'someone/other'.* on the Hugging Face hub: hub:someone/other"
    ):
        places.model_path("someone/other")
    assert asked == []
    with pytest.raises(BadFile, match=r"hub did not give 'someone/other': OSError: no way out$"):
        places.model_path("hub:someone/other")
    assert asked == ["someone/other"]


def test_a_model_whose_weights_never_came_is_asked_of_the_hub_again(cache, monkeypatch):
    class Client:
        @staticmethod
        def snapshot_download(name, **options):
            return f"/fetched/{name}"

    monkeypatch.setattr(hub, "_hub", lambda: Client)
    assert places.model_path("hub:someone/small") == Path("/fetched/someone/small")  # what other programs left out
    (cache / "model.safetensors").unlink()
    assert hub.all_kept() == {}
    (cache / "pytorch_model.bin").touch()
    assert hub.all_kept() == {"someone/small": cache}


@pytest.mark.parametrize("names", [["XDG_CACHE_HOME"], ["XDG_CACHE_HOME", "HF_HOME"], ["HF_HUB_CACHE", "HF_HOME"], []])
def test_the_environment_moves_the_cache_as_it_moves_the_clients(names, monkeypatch, tmp_path):
    pytest.importorskip("huggingface_hub")
    for name in ("XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    for name in names:
        monkeypatch.setenv(name, str(tmp_path / name))
    program = "from huggingface_hub import constants; print(constants.HF_HUB_CACHE)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert str(hub._cache()) == done.stdout.strip()


def test_a_run_and_a_fitted_model_stand_for_their_encoder(tmp_path):
    fitted = tmp_path / "run" / "fitted"
    fitted.mkdir(parents=True)
    (tmp_path / "run" / "run.json").write_text("{}")
    with pytest.raises(BadFile, match="a run that has no model yet"):
        places.model_path(tmp_path / "run")
    (fitted / "task.json").write_text("{}")
    assert places.model_path(tmp_path / "run") == places.model_path(fitted) == fitted / "model"


def test_a_misspelt_starter_is_guessed(box):
    with pytest.raises(BadFile, match="Did you mean 'static-starter'"):
        polyseme.load("static-startr")


def test_a_path_with_a_missing_file_in_a_folder_that_is_there_is_no_name_of_the_hub(tmp_path):
    with pytest.raises(BadFile) as caught:
        places.model_path(tmp_path / "absent.bin")
    assert "hub" not in str(caught.value)


class Hub(BaseHTTPRequestHandler):
    """As much of the hub's interface as its client asks for one model."""

    folder: Path  # of someone/tiny
    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.path.startswith("/api/models/someone/tiny/tree/"):
            files = [(path.name, path.stat().st_size) for path in self.folder.iterdir()]
            rows = [{"type": "file", "path": name, "size": size, "oid": name} for name, size in files]
            return self.answer(json.dumps(rows).encode())
        if self.path.startswith("/api/models/someone/tiny/revision/"):
            return self.answer(json.dumps({"id": "someone/tiny", "sha": "f" * 40, "siblings": []}).encode())
        place = self.folder / self.path.rpartition("/")[2]
        return self.answer(place.read_bytes()) if place.is_file() else self.send_error(404)

    do_HEAD = do_GET

    def answer(self, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
        self.send_header("X-Repo-Commit", "f" * 40)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


def test_a_model_is_fetched_from_a_hub_and_what_it_lacks_the_next_time(tmp_path):
    pytest.importorskip("huggingface_hub")
    bert = tiny_bert()
    polyseme.save(bert, tmp_path / "tiny")
    (tmp_path / "tiny" / "flax_model.msgpack").write_bytes(b"other files are left where they are")
    Hub.folder, Hub.asked = tmp_path / "tiny", []
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        environment = {**os.environ, "HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "home"), "NO_PROXY": "127.0.0.1"}
        program = "import polyseme; print(polyseme.load('hub:someone/tiny').encoder.widths)"

        def load() -> None:
            done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
            assert done.stdout.strip() == str(bert.encoder.widths), done.stderr

        load()
        for path in (tmp_path / "home").rglob("tokenizer.json"):
            path.unlink()  # as if another program had fetched only the weights
        Hub.asked = []
        load()
        assert any("tokenizer.json" in path for path in Hub.asked)
        assert not any("safetensors" in path and "resolve" in path for path in Hub.asked if "HEAD" not in path)
        server.shutdown()
    load()  # without the hub
    assert not any("flax" in path for path in Hub.asked)
