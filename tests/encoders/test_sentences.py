import numpy as np
import pytest
import torch

from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_config import BertConfig
from polyseme.encoders.pretrained import Pretrained
from polyseme.encoders.sentences import sentence_vectors
from polyseme.errors import Mistake
from polyseme.text.wordpiece import WordPiece
from polyseme.text.words import to_text

TEXTS = ["The crack in the wall", "", "a crack " * 30]


def made(**sentence):
    torch.manual_seed(0)
    tokenizer = WordPiece.train(TEXTS, n_pieces=60, window=32)
    config = BertConfig(
        vocab_size=60,
        hidden_size=8,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=8,
        initializer_range=1,
    )
    return Pretrained(tokenizer, BertEncoder(config), {"sentence": sentence} if sentence else {})


def first_windows(pretrained, text):
    batch = pretrained.tokenizer.encode([to_text(text)])
    return pretrained.encoder.eval()(batch).layers[-1][: int(batch.lengths[0])].detach().numpy()


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_pooling_is_over_all_pieces_of_the_first_window(pooling):
    pretrained = made(pooling=pooling)
    for text, found in zip(TEXTS, sentence_vectors(pretrained, TEXTS), strict=True):
        rows = first_windows(pretrained, text)
        assert np.allclose(found, rows.mean(0) if pooling == "mean" else rows[0], atol=1e-5)


def test_the_mean_is_taken_where_nothing_is_said():
    assert np.array_equal(sentence_vectors(made(), TEXTS), sentence_vectors(made(pooling="mean"), TEXTS))


def test_vectors_are_normalised_where_the_model_says_so():
    lengths = np.linalg.norm(sentence_vectors(made(pooling="mean", normalise=True), TEXTS), axis=1)
    assert np.allclose(lengths, 1)


def test_an_encoder_in_training_stays_in_training_and_drops_nothing_here():
    pretrained = made()
    pretrained.encoder.train()
    one, other = sentence_vectors(pretrained, TEXTS), sentence_vectors(pretrained, TEXTS)
    assert pretrained.encoder.training
    assert np.array_equal(one, other)


def test_no_texts_are_fine():
    assert sentence_vectors(made(), []).shape == (0, 8)


@pytest.mark.parametrize("sentence", [{"pooling": "mean+max"}, {"pooling": "mean", "other_modules": ["Dense"]}])
def test_what_is_not_known_is_refused(sentence):
    with pytest.raises(Mistake, match="known are the poolings mean and cls"):
        sentence_vectors(made(**sentence), TEXTS)
