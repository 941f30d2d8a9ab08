import numpy as np
import pytest

from polyseme.lens.wsd import FIRST, wsd
from polyseme.tasks.intervals import share
from polyseme.tasks.senses import Sense, SensedWords

BANK, CRACK = ("bank", "noun"), ("crack", "noun")


def marked(text, word, lemma, *keys):
    words = tuple(text.split())
    return SensedWords(words, (Sense(words.index(word), words.index(word) + 1, lemma, keys),))


TRAIN = [
    marked("a bank in the river water .", "bank", BANK, "bank%shore"),
    marked("the river bank was high", "bank", BANK, "bank%shore"),
    marked("money in the bank", "bank", BANK, "bank%money"),
    marked("the bank took money at night", "bank", BANK, "bank%money", "bank%house"),
    marked("spring came early", "spring", ("spring", "noun"), "spring%season"),
]
TEST = [
    marked("the river bank was red", "bank", BANK, "bank%shore"),
    marked("the bank took money early", "bank", BANK, "bank%money"),
    marked("a crack in the wall", "crack", CRACK, "crack%drug"),
]
INVENTORY = {BANK: ("bank%money", "bank%shore"), CRACK: ("crack%gap", "crack%drug")}


def test_the_nearest_sense_is_that_of_brute_force(tiny_bert):
    found = wsd(tiny_bert, TRAIN, TEST, INVENTORY)
    for layer in found[:-1]:
        rows = tiny_bert.embed([one.words for one in TRAIN], layers=layer.layer)
        senses = {}
        for one, vectors in zip(TRAIN, rows, strict=True):
            for key in one.senses[0].keys:
                senses.setdefault(key, []).append(vectors[one.senses[0].start])
        right = 0
        for one, vectors in zip(TEST, tiny_bert.embed([one.words for one in TEST], layers=layer.layer), strict=True):
            sense, own = one.senses[0], vectors[one.senses[0].start]
            known = {key: np.mean(rows, 0) for key, rows in senses.items() if key.startswith(sense.lemma[0])}
            cosine = {key: own @ mean / np.linalg.norm(mean) for key, mean in known.items()}
            said = max(cosine, key=cosine.__getitem__) if cosine else INVENTORY[sense.lemma][0]
            right += said in sense.keys
        assert layer.f1 == layer.precision == layer.recall == pytest.approx(right / 3)
        assert layer.seen == pytest.approx(right / 2)  # crack was never seen, and its first sense is wrong
        assert layer.low <= layer.f1 <= layer.high


def test_the_first_sense_is_the_baseline(tiny_bert):
    last = wsd(tiny_bert, TRAIN, TEST, INVENTORY)[-1]
    assert (last.layer, last.n) == (FIRST, 3)
    assert last.f1 == pytest.approx(1 / 3)


def test_without_an_inventory_new_lemmas_get_no_answer(tiny_bert):
    found = wsd(tiny_bert, TRAIN, TEST)
    assert [layer.layer for layer in found] == [0, 1, 2]
    for layer in found:
        assert layer.precision == pytest.approx(layer.recall * 3 / 2)
        assert layer.f1 == pytest.approx(2 * layer.precision * layer.recall / max(1e-9, layer.precision + layer.recall))


def test_a_sense_of_several_words_is_their_mean(tiny_static):
    took = SensedWords(("it", "took", "place"), (Sense(1, 3, ("take_place", "verb"), ("take_place%1",)),))
    assert wsd(tiny_static, [took], [took])[0].f1 == 1


def test_the_interval_of_f1_stays_within_0_and_1(tiny_bert):
    test = [*TEST[:1] * 3, TEST[2]]
    for some in (test, test[:1], test[-1:]):
        for layer in wsd(tiny_bert, TRAIN[:1], some):
            assert 0 <= layer.low <= layer.f1 <= layer.high <= 1
    assert wsd(tiny_bert, TRAIN[:1], test)[0].f1 == pytest.approx(2 * 3 / (4 + 3))


def test_one_sentence_has_the_interval_of_its_words(tiny_static):
    took = SensedWords(("it", "took", "place"), (Sense(1, 3, ("take_place", "verb"), ("take_place%1",)),))
    (layer,) = wsd(tiny_static, [took], [took])
    assert (layer.f1, layer.low, layer.high) == pytest.approx(share(1, 1))


def test_a_word_without_a_vector_gets_the_first_sense(tiny_static):
    train = [marked("the zebra", "zebra", BANK, "bank%none"), marked("the bank", "bank", BANK, "bank%shore")]
    unknown, known = marked("a zebro", "zebro", BANK, "bank%money"), marked("a bank", "bank", BANK, "bank%shore")
    assert wsd(tiny_static, train, [unknown], INVENTORY)[0].f1 == 1
    assert wsd(tiny_static, train, [unknown])[0].precision == wsd(tiny_static, train, [unknown])[0].f1 == 0
    assert wsd(tiny_static, train, [known])[0].f1 == 1
    only = train[:1]  # a sense whose occurrences all lack a vector is none to be near to
    assert wsd(tiny_static, only, [marked("a bank", "bank", BANK, "bank%money")], INVENTORY)[0].f1 == 1
