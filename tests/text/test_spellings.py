import numpy as np
import pytest

from polyseme.errors import Mistake
from polyseme.text.spellings import UNKNOWN, Numbering, Types


def ranked(folder, numbering):
    ranks, n_unknown = numbering.write(folder)
    types = Types(np.load(folder / "types.npy"), np.load(folder / "type_offsets.npy"))
    return ranks, n_unknown, types, np.load(folder / "counts.npy").tolist()


def test_types_are_ranked_by_count_and_then_by_characters(tmp_path):
    numbering = Numbering(max_types=10)
    first = numbering.number(["é", "z", "b", "漢"], np.array([2, 1, 2, 5]))
    second = numbering.number(["a", "z"], np.array([2, 2]))
    ranks, n_unknown, types, counts = ranked(tmp_path, numbering)
    assert list(types) == ["漢", "z", "a", "b", "é"]
    assert counts == [5, 3, 2, 2, 2]
    assert ranks[first].tolist() == [4, 1, 3, 0]
    assert ranks[second].tolist() == [2, 1]
    assert n_unknown == 0


def test_types_that_come_too_late_are_one_unknown_type_at_the_end(tmp_path):
    numbering = Numbering(max_types=2)
    numbers = numbering.number(["a", "b", "c", "d"], np.array([1, 2, 50, 50]))
    ranks, n_unknown, types, counts = ranked(tmp_path, numbering)
    assert ranks[numbers].tolist() == [1, 0, 2, 2]
    assert (list(types), counts, n_unknown) == (["b", "a", UNKNOWN], [2, 1, 100], 100)


def test_types_are_bounded_in_characters_too(tmp_path, monkeypatch):
    monkeypatch.setattr("polyseme.text.spellings._MOST_CHARACTERS", 5)
    numbering = Numbering(max_types=10)
    numbers = numbering.number(["aa", "bbbb", "cc"], np.array([1, 1, 1]))
    ranks, _, types, _ = ranked(tmp_path, numbering)
    assert [types[rank] for rank in ranks[numbers]] == ["aa", UNKNOWN, "cc"]


def test_there_is_room_for_many_types(tmp_path, monkeypatch):
    monkeypatch.setattr("polyseme.text.spellings._BLOCK", 7)
    words = [f"w{number:03}" for number in range(100)]
    numbering = Numbering(max_types=1000)
    numbering.number(words, np.arange(100, 0, -1))
    assert list(ranked(tmp_path, numbering)[2]) == words


def test_a_limit_that_ids_cannot_number_is_refused():
    for max_types in (0, 2**32):
        with pytest.raises(Mistake, match="out of range; choose 1 to"):
            Numbering(max_types)


def test_types_are_a_sequence(tmp_path):
    numbering = Numbering(max_types=10)
    numbering.number(["a", "漢字", "👨‍👩‍👧"], np.array([3, 2, 1]))
    types = ranked(tmp_path, numbering)[2]
    assert (len(types), types[0], types[2], types[-2]) == (3, "a", "👨‍👩‍👧", "漢字")
    assert types.spelling(np.array([2, 0, 2], dtype=np.uint32)) == ["👨‍👩‍👧", "a", "👨‍👩‍👧"]
    assert types.spelling([]) == []
    assert types.between(1, 99) == ["漢字", "👨‍👩‍👧"]
    for number in (3, -4):
        with pytest.raises(IndexError):
            types[number]
