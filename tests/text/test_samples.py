from itertools import pairwise

from polyseme.text.samples import even_sample


def test_little_text_is_taken_whole():
    assert even_sample(["a", "b", "c"], 3) == ["a", "b", "c"]
    assert even_sample([], 3) == []


def test_much_text_is_thinned_out_evenly():
    strings = [f"{number:05d}" for number in range(10_000)]
    found = even_sample(iter(strings), 1000)
    assert 100 <= len(found) <= 200
    places = [int(string) for string in found]
    assert len({after - before for before, after in pairwise(places)}) == 1
    assert places[0] == 0
    assert places[-1] > 9800


def test_one_string_is_kept_however_long_it_is():
    assert even_sample(["a" * 10], 3) == ["a" * 10]
