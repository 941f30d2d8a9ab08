import contextlib
import json
import os
import pickle
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyseme.errors import BadFile
from polyseme.formats.itos import _plain_pickle, read_itos, write_itos

WORDS = ["xxunk", "the", "naïve", "\n", "", "日本", "🙂", "the", "x" * 300]


class Payload:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_list_of_words_is_read(tmp_path, protocol):
    (tmp_path / "itos.pkl").write_bytes(pickle.dumps(WORDS, protocol))
    assert read_itos(tmp_path / "itos.pkl") == WORDS


def test_a_long_list_is_read(tmp_path):
    words = [f"word{number}" for number in range(3000)] * 2  # pickled in several parts, the second time from the memo
    (tmp_path / "itos.pkl").write_bytes(pickle.dumps(words))
    assert read_itos(tmp_path / "itos.pkl") == words


def test_json_and_text_are_read(tmp_path):
    (tmp_path / "vocab.json").write_text(json.dumps(WORDS))
    assert read_itos(tmp_path / "vocab.json") == WORDS
    (tmp_path / "vocab.txt").write_text("xxunk\nthe\n")
    assert read_itos(tmp_path / "vocab.txt") == ["xxunk", "the"]


def test_what_is_written_any_unpickler_reads(tmp_path):
    write_itos(tuple(WORDS), tmp_path / "itos.pkl")
    assert pickle.loads((tmp_path / "itos.pkl").read_bytes()) == WORDS
    assert read_itos(tmp_path / "itos.pkl") == WORDS


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_that_runs_a_command_is_refused_and_runs_nothing(tmp_path, protocol):
    (tmp_path / "itos.pkl").write_bytes(pickle.dumps(["xxunk", Payload(tmp_path / "harm")], protocol))
    with pytest.raises(BadFile, match=r"GLOBAL.*can run code\. Nothing was run"):
        read_itos(tmp_path / "itos.pkl")
    assert not (tmp_path / "harm").exists()


def test_the_command_would_have_run(tmp_path):
    """The twin of the test above: so that it can fail."""
    pickle.loads(pickle.dumps(Payload(tmp_path / "harm")))
    assert (tmp_path / "harm").exists()


@pytest.mark.parametrize("thing", [defaultdict(int, {"the": 1}), {"the": 1}, {"the"}, ("the",), 3, None, b"the"])
def test_other_objects_are_refused(tmp_path, thing):
    (tmp_path / "itos.pkl").write_bytes(pickle.dumps(thing))
    with pytest.raises(BadFile, match="no plain list of words"):
        read_itos(tmp_path / "itos.pkl")


@pytest.mark.parametrize("thing", ["the", [["the"]]])
def test_strings_and_lists_of_lists_are_no_vocabulary(tmp_path, thing):
    for name, content in [("itos.pkl", pickle.dumps(thing)), ("vocab.json", json.dumps(thing).encode())]:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(BadFile, match="must be a list of words"):
            read_itos(tmp_path / name)


def test_a_list_that_holds_itself_is_refused(tmp_path):
    knot = ["the"]
    knot.append(knot)
    (tmp_path / "itos.pkl").write_bytes(pickle.dumps(knot))
    with pytest.raises(BadFile, match="must be a list of words"):
        read_itos(tmp_path / "itos.pkl")


@pytest.mark.parametrize(
    "content", [b"", b"no pickle", b"\x80\x02](X\xff\xff\xff\x7fab", b"\x80\x04]e.", b"\x80\x02h\x05."]
)
def test_damaged_pickles_are_refused(tmp_path, content):
    (tmp_path / "itos.pkl").write_bytes(content)
    with pytest.raises(BadFile):
        read_itos(tmp_path / "itos.pkl")


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 255), st.integers(0, 5))
def test_a_changed_byte_is_read_or_refused(place, byte, protocol):
    content = bytearray(pickle.dumps(WORDS, protocol))
    content[place % len(content)] = byte
    with contextlib.suppress(BadFile):
        assert isinstance(_plain_pickle(bytes(content), "itos.pkl"), list | str)


def test_json_that_is_none_is_refused(tmp_path):
    (tmp_path / "vocab.json").write_text("[1,")
    with pytest.raises(BadFile, match="not JSON"):
        read_itos(tmp_path / "vocab.json")


def test_a_missing_vocabulary_is_said(tmp_path):
    with pytest.raises(BadFile, match="There is no vocabulary"):
        read_itos(tmp_path / "itos.pkl")


def test_a_file_too_large_for_a_vocabulary_is_not_read(tmp_path):
    with (tmp_path / "itos.pkl").open("wb") as file:
        file.truncate(2**30)  # takes no room on disk
    with pytest.raises(BadFile, match="has 1,073,741,824 bytes"):
        read_itos(tmp_path / "itos.pkl")
