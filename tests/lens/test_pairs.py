from dataclasses import replace

import numpy as np
import pytest

from polyseme.encoders.awd_pair import pair
from polyseme.errors import Mistake
from polyseme.lens import pairs as module
from polyseme.lens.pairs import chosen, minimal_pairs
from polyseme.lens.score import score
from polyseme.tasks.minimal_pairs import MinimalPair

PAIRS = [
    MinimalPair("the film was great .", "the film great was .", "order", "order"),
    MinimalPair("the film was not great .", "film the was not great .", "order", "order"),
    MinimalPair("the film was", "the film not", "verbs", "verbs"),
]


def test_the_likelier_sentence_is_chosen_in_each_paradigm(awd_lstm):
    model = pair(awd_lstm(), awd_lstm(reverse=True))
    found = {one.paradigm: one for one in minimal_pairs(model, PAIRS)}
    assert list(found) == ["order", "verbs", "all"]
    for name in ("order", "verbs"):
        own = [one for one in PAIRS if one.paradigm == name]
        goods, bads = (list(score(model, [getattr(one, side) for one in own])) for side in ("good", "bad"))
        right = [sum(g.nll.values()) < sum(b.nll.values()) for g, b in zip(goods, bads, strict=True)]
        assert found[name].accuracy == np.mean(right)
        for way in ("forward", "backward"):
            right = [g.nll[way] < b.nll[way] for g, b in zip(goods, bads, strict=True)]
            assert found[name].ways[way] == np.mean(right)
    assert found["all"].accuracy == pytest.approx((found["order"].accuracy + found["verbs"].accuracy) / 2)
    assert found["all"].n == 3


def test_turned_round_pairs_give_the_rest_and_equal_ones_nothing(bert):
    turned = [replace(one, good=one.bad, bad=one.good) for one in PAIRS]
    one, other = (minimal_pairs(bert, pairs)[-1] for pairs in (PAIRS, turned))
    assert one.accuracy + other.accuracy == pytest.approx(1)
    same = [replace(pair, bad=pair.good) for pair in PAIRS]
    assert minimal_pairs(bert, same)[-1].accuracy == 0


def test_unknown_words_are_counted(awd_lstm):
    found = minimal_pairs(
        awd_lstm(), [MinimalPair("the zebra", "the film", "x", "x"), MinimalPair("the", "film", "x", "x")]
    )
    assert found[0].unknown == 0.5
    assert found[0].ways == {}


def test_a_few_of_each_paradigm_are_chosen_by_the_seed():
    many = [MinimalPair(str(n), str(-n), "even" if n % 2 else "odd", "x") for n in range(100)]
    one, other = chosen(many, 5, seed=1), chosen(many, 5, seed=2)
    assert [sum(pair.paradigm == name for pair in one) for name in ("even", "odd")] == [5, 5]
    assert one == chosen(many, 5, seed=1) != other
    assert chosen(many, None) == many


def test_no_pairs_are_told(bert):
    with pytest.raises(Mistake, match="no pairs"):
        minimal_pairs(bert, [])


def test_sentences_that_are_equally_likely_are_not_found_whatever_their_company(awd_lstm, monkeypatch):
    """Rounding differs between batches: it must not tell two sentences apart."""
    seen = []

    def rounded(pretrained, texts, within_word):
        for one in score(pretrained, texts, within_word):
            seen.append(one.text.string)
            yield replace(one, nll={way: nll * (1 + 1e-7 * (-1) ** len(seen)) for way, nll in one.nll.items()})

    monkeypatch.setattr(module, "score", rounded)
    same = [replace(pair, bad=pair.good) for pair in PAIRS]
    unknown = [replace(pair, good=f"{pair.good} zebra", bad=f"{pair.good} zebro") for pair in PAIRS]
    for pairs in (same, unknown, [replace(one, good=one.bad, bad=one.good) for one in unknown]):
        assert minimal_pairs(awd_lstm(), pairs)[-1].accuracy == 0
    assert seen.count(PAIRS[0].good) == 1  # a sentence is scored once
