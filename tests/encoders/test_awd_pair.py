from dataclasses import replace

import pytest
import torch

from polyseme.encoders import Pretrained
from polyseme.encoders.awd_lstm import AwdLstmConfig, AwdLstmEncoder, TiedDecoder
from polyseme.encoders.awd_pair import apart, pair
from polyseme.errors import Mistake
from polyseme.text.marked import MarkedWords
from polyseme.text.marks import SPECIAL
from polyseme.text.words import to_text

WORDS = (*SPECIAL, "the", "film", "was", "great", ".")
TEXTS = ["The film was GREAT .", "the", "was the film great"]


def model(reverse, words=WORDS, lm=True, hidden_width=10):
    torch.manual_seed(int(reverse))
    config = AwdLstmConfig(n_words=len(words), embedding_width=6, hidden_width=hidden_width)
    origin = {"name": "bwd" if reverse else "fwd"}
    decoder = TiedDecoder(config) if lm else None
    return Pretrained(MarkedWords(words, reverse), AwdLstmEncoder(config).eval(), origin, decoder)


def test_a_backward_model_is_a_forward_model_on_reversed_pieces():
    backward = model(reverse=True)
    read = backward.encoder(backward.tokenizer.encode([to_text(text) for text in TEXTS]))
    ahead = MarkedWords(WORDS).encode([to_text(text) for text in TEXTS])
    for number, text in enumerate(TEXTS):
        rows = slice(ahead.offsets[number], ahead.offsets[number + 1])
        alone = MarkedWords(WORDS).encode([to_text(text)])
        by_hand = backward.encoder(replace(alone, ids=torch.tensor(alone.ids.tolist()[::-1])))
        for one, other in zip(read.layers, by_hand.layers, strict=True):
            assert torch.allclose(one[rows], other, atol=1e-6)


def test_a_pair_gives_each_word_the_vectors_of_both_models():
    forward, backward = model(reverse=False), model(reverse=True)
    found = pair(forward, backward).embed(TEXTS)
    for both, ahead, back in zip(found, forward.embed(TEXTS), backward.embed(TEXTS), strict=True):
        assert both.shape == (len(ahead), 12)
        assert abs(both[:, :6] - ahead).max() < 1e-6
        assert abs(both[:, 6:] - back).max() < 1e-6


def test_a_pair_comes_apart_again():
    forward, backward = model(reverse=False), model(reverse=True)
    for before, after in zip((forward, backward), apart(pair(forward, backward)), strict=True):
        assert after.encoder is before.encoder
        assert after.lm is before.lm
        assert after.provenance == before.provenance
        assert after.tokenizer.reverse == before.tokenizer.reverse
        assert after.tokenizer.words == before.tokenizer.words


def test_a_pair_can_be_trained():
    both = pair(model(reverse=False), model(reverse=True))
    assert all(parameter.requires_grad and not parameter.is_meta for parameter in both.encoder.parameters())
    assert all(parameter.requires_grad and not parameter.is_meta for parameter in both.lm.parameters())


def test_a_pair_has_output_layers_only_if_both_models_have():
    assert pair(model(reverse=False), model(reverse=True, lm=False)).lm is None


def test_two_forward_models_are_no_pair():
    with pytest.raises(Mistake, match="backward model's tokenizer has reverse=False"):
        pair(model(reverse=False), model(reverse=False))


def test_models_of_other_words_are_no_pair():
    with pytest.raises(Mistake, match=r"different vocabularies, of 14 and 15 words.*with_vocabulary"):
        pair(model(reverse=False), model(reverse=True, words=(*WORDS, "zebra")))


def test_models_of_other_sizes_are_no_pair():
    with pytest.raises(Mistake, match=r"\(6, 10, 10, 6\) and \(6, 12, 12, 6\)"):
        pair(model(reverse=False), model(reverse=True, hidden_width=12))


def test_a_single_model_does_not_come_apart_nor_does_a_pair_pair_again():
    both = pair(model(reverse=False), model(reverse=True))
    with pytest.raises(Mistake, match="takes a pair"):
        apart(model(reverse=False))
    with pytest.raises(Mistake, match="found BidirectionalAwdLstm"):
        pair(both, model(reverse=True))
