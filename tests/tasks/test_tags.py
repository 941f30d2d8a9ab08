import random
import warnings

import pytest
from seqeval.metrics import f1_score
from seqeval.metrics.sequence_labeling import get_entities

from polyseme.errors import Mistake
from polyseme.tasks.tags import first_break, scheme_of, span_f1, spans, to_iob2

TYPES = ["-PER", "-LOC", "-A-B", ""]


def random_tags(rng, letters):
    out = []
    for _ in range(rng.randint(0, 12)):
        letter = rng.choice(letters)
        out.append("O" if letter == "O" else letter + rng.choice(TYPES))
    return out


@pytest.mark.parametrize("letters", ["OBI", "OI", "OB", "OBIES"])
def test_spans_are_those_of_seqeval_for_ten_thousand_random_sequences(letters):
    rng = random.Random(letters)
    for _ in range(10_000):
        tags = random_tags(rng, letters)
        wanted = [(start, end + 1, kind) for kind, start, end in get_entities(tags)]
        assert [tuple(span) for span in spans(tags)] == wanted
        again = to_iob2(tags)
        assert spans(again) == spans(tags)
        assert first_break(again, "IOB2") is None


def test_f1_is_that_of_seqeval():
    rng = random.Random(1)
    for _ in range(300):
        wanted = [random_tags(rng, "OBI") for _ in range(rng.randint(1, 30))]
        given = [
            [tag if rng.random() < 0.8 else rng.choice(["O", "I-PER", "B-LOC"]) for tag in tags] for tags in wanted
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # seqeval warns where there is nothing to find
            assert span_f1(wanted, given) == pytest.approx(f1_score(wanted, given), abs=1e-12)


def test_f1_counts_a_span_only_where_start_end_and_type_are_right():
    assert span_f1([["B-PER", "I-PER", "O", "B-LOC"]], [["B-PER", "O", "O", "B-LOC"]]) == 0.5
    assert span_f1([["B-PER"]], [["B-LOC"]]) == 0.0
    assert span_f1([["O"]], [["O"]]) == 0.0
    with pytest.raises(ValueError, match=r"longer|shorter"):
        span_f1([["O"]], [])


@pytest.mark.parametrize("tag", ["X-FOO", "", "B-", "b-PER", "OO", "BPER", "O-PER"])
def test_what_is_no_span_tag_is_refused(tag):
    with pytest.raises(Mistake, match="no tag of a span"):
        spans(["O", tag])


@pytest.mark.parametrize(
    "tags, iob1, iob2, iobes",
    [
        ("O O", None, None, None),
        ("I-A I-A O", None, 0, 0),
        ("B-A I-A O", 0, None, 2),
        ("I-A B-A", None, 0, 0),
        ("B-A I-B", 0, 1, 1),
        ("O B-A E-A S-B", 1, 2, None),
        ("O B-A", 1, None, 1),
        ("S-A", 0, 0, None),
        ("B-A I-A I-A E-A O B-B E-B", 0, 3, None),
    ],
)
def test_the_first_break_of_each_scheme(tags, iob1, iob2, iobes):
    assert [first_break(tags.split(), scheme) for scheme in ("IOB1", "IOB2", "IOBES")] == [iob1, iob2, iobes]


@pytest.mark.parametrize(
    "sentences, scheme",
    [
        (["I-A O", "I-A B-A"], "IOB1"),
        (["B-A O", "B-A B-A"], "IOB2"),
        (["B-A E-A O", "S-A"], "IOBES"),
        (["B-A O", "B-A I-A", "O I-A"], "IOB2"),  # one is broken
        (["B-A O O X-A"], "IOB2"),
        (["O O"], None),
        (["DET NOUN", "B I"], None),
        ([], None),
    ],
)
def test_the_scheme_is_the_one_that_fewest_sentences_break(sentences, scheme):
    assert scheme_of([tags.split() for tags in sentences]) == scheme
