import csv
import re
from collections import Counter

from polyseme.samples import opinions, senses


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_opinions_are_many_balanced_and_apart():
    train, test = rows(opinions("train")), rows(opinions("test"))
    assert (len(train), len(test)) == (900, 300)
    assert Counter(row["label"] for row in train) == {"positive": 450, "negative": 450}
    assert Counter(row["label"] for row in test) == {"positive": 150, "negative": 150}
    assert len({row["text"].casefold() for row in [*train, *test]}) == 1200


def test_a_word_of_several_senses_stands_in_each_of_its_sentences_once():
    both = [*rows(senses("train")), *rows(senses("test"))]
    assert len({row["text"].casefold() for row in both}) == len(both) == 720
    for row in both:
        assert re.findall(r"[a-z]+", row["text"].casefold()).count(row["word"]) == 1, row


def test_each_sense_has_four_sentences_in_each_part():
    for part in ("train", "test"):
        counts = Counter((row["word"], row["sense"]) for row in rows(senses(part)))
        assert set(counts.values()) == {4}
        assert len(counts) == 90
        assert len({word for word, _ in counts}) == 30
