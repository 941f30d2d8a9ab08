"""Every labelled file that the project is measured on reads, with the counts its authors give."""

from collections import Counter
from functools import cache

import pytest

from polyseme.tasks.conll import read_tagged
from polyseme.tasks.squad import read_questions
from polyseme.tasks.tables import check_labels, read_pairs, read_texts
from polyseme.tasks.tags import spans

tagged = cache(read_tagged)


@pytest.mark.parametrize(
    "name, n_rows, n_labels",
    [
        ("sst2/train.csv", 67_349, 2),
        ("sst2/dev.csv", 872, 2),
        ("sst5/train.csv", 8_544, 5),
        ("sst5/dev.csv", 1_101, 5),
        ("imdb/train.jsonl.gz", 25_000, 2),
        ("trec/train.csv", 5_452, 6),
        ("trec/test.csv", 500, 6),
        ("cola/train.csv", 8_551, 2),
        ("cola/dev.csv", 1_043, 2),
    ],
)
def test_texts_read_with_their_counts(shared, name, n_rows, n_labels):
    dataset = read_texts(shared / "data" / "tasks" / name)
    assert len(dataset) == n_rows
    assert len({example.label for example in dataset.examples}) == n_labels


def test_the_fine_labels_of_trec_are_fifty_in_train_and_all_known_in_test(shared):
    train = read_texts(shared / "data/tasks/trec/train.csv", label_column="fine")
    test = read_texts(shared / "data/tasks/trec/test.csv", label_column="fine")
    assert len({example.label for example in train.examples}) == 50
    check_labels(train, test)


def test_texts_without_labels_read(shared):
    assert len(read_texts(shared / "data/tasks/imdb/unlabelled.jsonl.gz", target=None)) == 20_000


@pytest.mark.parametrize(
    "name, n_rows, target",
    [
        ("mrpc/train.tsv", 3_668, "label"),
        ("mrpc/dev.tsv", 408, "label"),
        ("stsb/train.tsv", 5_749, "score"),
        ("stsb/dev.tsv", 1_500, "score"),
        ("rte/train.tsv", 2_490, "label"),
        ("rte/dev.tsv", 277, "label"),
        ("wic/train.tsv", 5_428, "label"),
        ("wic/dev.tsv", 638, "label"),
    ],
)
def test_pairs_read_with_their_counts(shared, name, n_rows, target):
    dataset = read_pairs(shared / "data" / "tasks" / name, target=target)
    assert len(dataset) == n_rows
    if target == "label":
        assert len({example.label for example in dataset.examples}) == 2
    else:
        assert 0 <= min(example.label for example in dataset.examples) < max(e.label for e in dataset.examples) == 5


@pytest.mark.parametrize(
    "name, n_sentences, scheme",
    [
        ("conll2003/train.txt", 14_041, "IOB1"),
        ("conll2003/dev.txt", 3_250, "IOB1"),
        ("conll2003/test.txt", 3_453, "IOB1"),
        ("conll2000/train.txt", 8_936, "IOB2"),
        ("conll2000/test.txt", 2_012, "IOB2"),
        ("ud_ewt/train.conllu", 12_544, None),
        ("ud_ewt/dev.conllu", 2_001, None),
        ("ud_ewt/test.conllu", 2_077, None),
    ],
)
def test_tagged_sentences_read_with_their_counts(shared, name, n_sentences, scheme):
    dataset = tagged(shared / "data" / "tasks" / name)
    assert len(dataset) == n_sentences
    assert [scheme in sentence for sentence in dataset.said if "spans" in sentence] == [True] * (scheme is not None)


def test_the_entities_of_conll_2003_are_those_its_authors_count(shared):
    dataset = tagged(shared / "data/tasks/conll2003/train.txt")
    counts = Counter(span.type for example in dataset.examples for span in spans(example.tags))
    assert counts == {"LOC": 7_140, "MISC": 3_438, "ORG": 6_321, "PER": 6_600}  # Tjong Kim Sang & De Meulder 2003


@pytest.mark.parametrize("name, n_questions", [("train.json", 3_080), ("dev.json", 758)])
def test_questions_read_with_their_counts(shared, name, n_questions):
    dataset = read_questions(shared / "data" / "tasks" / "spans" / name)
    assert len(dataset) == n_questions
    assert all(question.answers for question in dataset.examples)
