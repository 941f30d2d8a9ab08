"""Google's checkpoint through our own encoder: every layer and head as TensorFlow computed them."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import polyseme
from polyseme.errors import BadFile
from polyseme.text.batches import offsets_of
from polyseme.types import Batch

FOLDER = Path(__file__).parent / "data" / "tf_bert_tiny"


@pytest.fixture(scope="module")
def expected():
    return np.load(FOLDER / "expected.npz")


def batch_of(expected) -> tuple[Batch, torch.Tensor]:
    """The rows without their padding, and where in the padded rows their positions are."""
    real = torch.from_numpy(expected["ids"] > 0)
    ids, segments = (torch.from_numpy(expected[name]).long()[real] for name in ("ids", "segments"))
    none = torch.full_like(ids, -1)
    n = len(real)
    lengths = real.sum(1)
    return Batch(ids, offsets_of(lengths), none, torch.zeros(n, dtype=torch.long), torch.arange(n), segments), real


def test_all_layers_and_heads_are_tensorflows(expected):
    bert = polyseme.load(FOLDER)
    batch, real = batch_of(expected)
    with torch.no_grad():
        encoding = bert.encoder(batch)
        pooled = bert.encoder.pooled(encoding)
        words = bert.lm.masked_words(encoding.layers[-1], bert.encoder.embeddings.words.weight)
        adjacent = bert.lm.next_sentence(pooled)
    for layer, wanted in zip(encoding.layers, expected["layers"], strict=True):
        torch.testing.assert_close(layer, torch.from_numpy(wanted)[real], atol=1e-5, rtol=0)
    torch.testing.assert_close(pooled, torch.from_numpy(expected["pooled"]), atol=1e-5, rtol=0)
    torch.testing.assert_close(words, torch.from_numpy(expected["masked_word_logits"])[real], atol=2e-5, rtol=0)
    torch.testing.assert_close(adjacent, torch.from_numpy(expected["next_sentence_logits"]), atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", ["bert_model.ckpt", "bert_model.ckpt.index", "."])
def test_a_folder_a_prefix_and_a_file_mean_the_same(name):
    bert = polyseme.load(FOLDER / name)
    assert bert.encoder.family == "bert"
    assert bert.provenance["source"]["format"] == "tf_bert"


def test_it_becomes_a_folder_that_reads_back_equal(tmp_path):
    bert = polyseme.load(FOLDER)
    polyseme.save(bert, tmp_path / "hf")
    again = polyseme.load(tmp_path / "hf")
    for one, other in ((bert.encoder, again.encoder), (bert.lm, again.lm)):
        assert all(tensor.equal(other.state_dict()[name]) for name, tensor in one.state_dict().items())
    assert np.array_equal(bert.embed(["a b"])[0], again.embed(["a b"])[0])


def test_a_missing_vocabulary_is_named(tmp_path):
    folder = shutil.copytree(FOLDER, tmp_path / "bert")
    (folder / "vocab.txt").unlink()
    with pytest.raises(BadFile, match=r"No vocab\.txt"):
        polyseme.load(folder)
