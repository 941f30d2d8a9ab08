import os
import time

import pytest

from polyseme.errors import Mistake
from polyseme.text.chunks import Chunk, chunks, in_order
from polyseme.text.corpus import Passage


def read(path, on_read):
    """A line a passage; an empty line ends a document."""
    *documents, _ = (path.read_text() + "\n\n").split("\n\n")
    for document in documents:
        lines = document.split("\n")
        for number, line in enumerate(lines, start=1):
            on_read(path.stat().st_size)
            yield Passage(line, number == len(lines))


def files(folder, *contents):
    for number, content in enumerate(contents):
        (folder / f"{number}.txt").write_text(content)
    return sorted(folder.iterdir())


def test_chunks_are_filled_across_files(tmp_path):
    paths = files(tmp_path, "aa\nbb\n\ncc", "dd")
    assert list(chunks(paths, read, 4)) == [
        Chunk(["aa", "bb"], [2], 9),
        Chunk(["cc", "dd"], [1, 2], 11),
        Chunk([], [], 11),
    ]
    assert list(chunks(paths, read, 100)) == [Chunk(["aa", "bb", "cc", "dd"], [2, 3, 4], 11)]


@pytest.mark.parametrize("processes", [1, 2])
def test_results_come_in_the_order_of_the_items(processes):
    assert list(in_order(slow_if_even, range(9), processes)) == [-number for number in range(9)]


@pytest.mark.parametrize("processes", [1, 2])
def test_few_items_are_taken_ahead(processes):
    taken = []
    results = in_order(slow_if_even, (taken.append(number) or number for number in range(100)), processes)
    next(results)
    results.close()
    assert len(taken) <= 2 * processes + 1


def test_an_error_in_a_worker_is_raised_here():
    with pytest.raises(Mistake, match="3 is not liked"):
        list(in_order(dislike_three, range(9), 2))


def test_a_worker_that_dies_is_told():
    with pytest.raises(Mistake, match=r"ended suddenly.*Free some"):
        list(in_order(die, range(9), 2))


def test_there_is_at_least_one_process():
    with pytest.raises(Mistake, match="processes=0"):
        list(in_order(slow_if_even, range(3), 0))


def slow_if_even(number):
    time.sleep(0.02 * (number % 2 == 0))
    return -number


def dislike_three(number):
    if number == 3:
        raise Mistake("3 is not liked")
    return number


def die(number):
    os._exit(1)
