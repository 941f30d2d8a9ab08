import pytest

from polyseme.formats.protobuf import inner, integer, parse, varint


def test_every_wire_type_of_today_is_read():
    message = bytes([0x08, 0xAC, 0x02]) + b"\x12\x03abc" + b"\x1d\x01\x00\x00\x80" + b"\x21" + bytes(7) + b"\x80"
    assert parse(message) == {1: [300], 2: [b"abc"], 3: [0x80000001], 4: [1 << 63]}


def test_a_field_that_comes_again_is_a_list_and_the_last_is_the_number():
    message = parse(b"\x08\x01\x08\x02")
    assert message == {1: [1, 2]}
    assert integer(message, 1) == 2


def test_a_negative_number_has_ten_bytes():
    assert integer(parse(b"\x08" + b"\xff" * 9 + b"\x01"), 1) == -1


def test_a_field_that_is_left_out_is_zero_or_empty():
    assert integer({}, 5) == 0
    assert inner({}, 5) == []


def test_messages_within_are_read():
    assert inner(parse(b"\x12\x02\x08\x05\x12\x00"), 2) == [{1: [5]}, {}]


@pytest.mark.parametrize(
    "data, found",
    [
        (b"\x08", "cut off"),
        (b"\x08\x80", "cut off"),
        (b"\x08" + b"\x80" * 10, "more than 64 bits"),
        (b"\x12\x05ab", "5 bytes where 2 are left"),
        (b"\x1d\x00", "4 bytes where 1 are left"),
        (b"\x0b", "wire type 3"),
    ],
)
def test_what_is_no_message_is_said(data, found):
    with pytest.raises(ValueError, match=found):
        parse(data)


def test_a_field_of_the_wrong_kind_is_said():
    with pytest.raises(ValueError, match="2 bytes instead of a number in field 2"):
        integer(parse(b"\x12\x02hi"), 2)
    with pytest.raises(ValueError, match="the number 1 instead of a message in field 1"):
        inner(parse(b"\x08\x01"), 1)


def test_a_varint_says_where_it_ends():
    assert varint(b"\x00\xac\x02\x07", 1) == (300, 3)
