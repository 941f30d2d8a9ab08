"""The encoders in the box: small, whole, told about, and able to do what they are shown for."""

import csv
import json

import numpy as np
import pytest

import polyseme
from polyseme.lens.fill import fill
from polyseme.lens.wsd import wsd
from polyseme.samples import senses
from polyseme.starters import starters
from polyseme.tasks.senses import read_senses

CONTEXTUAL = [name for name in starters() if name != "static-starter"]


def test_they_are_there_and_take_little_room():
    assert list(starters()) == ["static-starter", "elmo-starter", "ulmfit-starter", "bert-starter"]
    files = [file for folder in starters().values() for file in folder.iterdir()]
    assert sum(file.stat().st_size for file in files) <= 30e6


@pytest.mark.parametrize("name", starters())
def test_each_tells_how_it_was_made(name):
    facts = json.loads((starters()[name] / "polyseme.json").read_text())
    assert facts["recipe"]["seed"] == 1
    for file in facts["corpus"]["files"]:
        assert len(file["sha256"]) == 64
        assert "/" not in file["path"]  # of the machine it was made on
    card = (starters()[name] / "README.md").read_text()
    assert name in card
    if name != "static-starter":
        assert facts["cost"]["seconds"] > 1000
        assert facts["curve"][-1] == facts["metrics"]
        measured = "masked accuracy" if name == "bert-starter" else "perplexity"
        assert measured in card


@pytest.mark.parametrize("name", starters())
def test_a_word_is_read_in_its_sentence_but_by_static_vectors(name):
    one, other = polyseme.load(name).embed(["A crack in the wall", "He was high on crack"])
    assert np.allclose(one[1], other[-1]) == (name == "static-starter")


def of_sense(name: str) -> float:
    """The best layer's share of the sample's ambiguous words whose sense is found."""
    train, test = (read_senses(senses(part)).examples for part in ("train", "test"))
    return max(layer.f1 for layer in wsd(polyseme.load(name), train, test))


def test_static_vectors_are_at_chance_on_senses():
    with senses("test").open() as file:
        rows = list(csv.DictReader(file))
    chance = np.mean([1 / len({row["sense"] for row in rows if row["word"] == one["word"]}) for one in rows])
    assert of_sense("static-starter") < chance + 0.1


@pytest.mark.parametrize("name", CONTEXTUAL)
def test_contextual_vectors_tell_senses(name):
    assert of_sense(name) > 0.5


@pytest.mark.parametrize("name", CONTEXTUAL)
def test_blanks_are_filled_with_likely_words(name):
    said = fill(polyseme.load(name), "She was born in the [MASK] of Paris.", 30)[0].ways["both"]
    assert {"city", "capital", "university", "town", "district", "church", "house", "palace", "area"} & {
        word for word, _ in said
    }
