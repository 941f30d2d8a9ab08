import dataclasses
from pathlib import Path

import pytest

from polyseme.tasks.examples import Dataset, LabelledText, Pair, Question, TaggedWords

VALUES = [
    LabelledText("good", "positive"),
    Pair(("one", "two"), "b", 3.5),
    TaggedWords(("Kim",), ("B-PER",)),
    Question("q1", "Kim left.", "Who?", ((0, 3),)),
    Dataset((LabelledText("good", None),), Path("new.csv")),
]


@pytest.mark.parametrize("value", VALUES)
def test_what_a_reader_gives_cannot_be_changed_and_can_be_a_key(value):
    name = dataclasses.fields(value)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, name, None)
    assert {value: 1}[dataclasses.replace(value)] == 1


def test_the_length_of_a_dataset_is_that_of_its_examples():
    assert len(Dataset((LabelledText("a", "x"), LabelledText("b", "y")), Path("train.csv"))) == 2
