from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polyseme.errors import BadData
from polyseme.text.lines import cut, decoded, parts

PATH = Path("some.txt")
texts = st.text(st.sampled_from("ab é漢👨\u200d\u0301🏽\t\u3000\n\r\x00\u2028"), max_size=60)


def sliced(content, cuts):
    """The content in parts, cut at any places."""
    places = sorted({0, len(content), *(place % (len(content) + 1) for place in cuts)})
    return [content[start:end] for start, end in pairwise(places)]


@settings(deadline=None)
@given(texts, st.lists(st.integers(0, 1000)))
def test_where_blocks_end_changes_nothing(text, cuts):
    wanted = text.replace("\r\n", "\n").replace("\r", "\n")
    assert "".join(decoded(sliced(text.encode(), cuts), PATH)) == wanted
    whole = list(parts([wanted], longest=5))
    assert list(parts(sliced(wanted, cuts), longest=5)) == whole


@settings(deadline=None)
@given(texts, st.integers(1, 20))
def test_parts_make_up_the_lines_and_are_never_too_long(text, longest):
    text = text.replace("\r", "")
    found = list(parts([text], longest))
    assert "".join(part + "\n" * ends_line for part, ends_line in found) in (text, text + "\n")
    assert all(len(part) <= longest for part, _ in found)
    assert [part for part, ends_line in found if ends_line] != [] or text == ""


def test_a_byte_order_mark_is_dropped_only_at_the_start():
    assert "".join(decoded([b"\xef\xbb", b"\xbfa\xef\xbb\xbfb"], PATH)) == "a\ufeffb"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_a_byte_that_is_not_utf8_is_placed(size):
    content = "\ufeffé\r\nzwei\rdrei\n".encode() + b"vi\xffer\n"
    blocks = [content[start : start + size] for start in range(0, len(content), size)]
    with pytest.raises(BadData, match=r"some\.txt, line 4: byte 19 \(0xff\) is not UTF-8.*errors='replace'") as caught:
        list(decoded(blocks, PATH))
    assert content[19] == 0xFF
    assert caught.value.line == 4


def test_a_character_without_its_end_is_not_utf8():
    with pytest.raises(BadData, match=r"line 2: byte 2 .*unexpected end"):
        list(decoded(["a\né".encode()[:-1]], PATH))


def test_utf16_is_recognised():
    with pytest.raises(BadData, match="this is UTF-16"):
        list(decoded(["hello".encode("utf-16")], PATH))


def test_bytes_that_are_not_utf8_can_be_replaced():
    assert "".join(decoded([b"a\xff", b"\xc3"], PATH, errors="replace")) == "a��"


def test_a_cut_goes_before_white_space():
    assert cut("to be or not", longest=6) == ["to be", " or", " not"]
    assert cut("tobeornot", longest=4) == ["tobe", "orno", "t"]


def test_a_hard_cut_keeps_a_character_with_its_marks():
    assert cut("abce\u0301\u0308f", longest=5) == ["abc", "e\u0301\u0308f"]
    assert cut("ab👨\u200d👩\u200d👧", longest=6) == ["ab", "👨\u200d👩\u200d👧"]
    assert cut("abc👍🏽", longest=4) == ["abc", "👍🏽"]


def test_marks_without_end_are_cut_all_the_same():
    found = cut("a" + "\u0301" * 500, longest=100)
    assert "".join(found) == "a" + "\u0301" * 500
    assert max(map(len, found)) == 100
