import pytest
import torch

from polyseme.encoders import Pretrained
from polyseme.encoders.awd_lstm import AwdLstmConfig, AwdLstmEncoder, TiedDecoder
from polyseme.encoders.awd_pair import apart, pair
from polyseme.encoders.awd_vocabulary import with_vocabulary
from polyseme.errors import Mistake
from polyseme.text.marked import MarkedWords
from polyseme.text.marks import SPECIAL

OLD = (*SPECIAL, "the", "film", "was", "great", "xxfake")
NEW = (*SPECIAL, "zebra", "great", "the", "xxfake")


def model(reverse=False, lm=True):
    torch.manual_seed(int(reverse))
    config = AwdLstmConfig(n_words=len(OLD), embedding_width=6, hidden_width=10)
    decoder = TiedDecoder(config) if lm else None
    if decoder is not None:
        torch.nn.init.uniform_(decoder.bias)
    return Pretrained(MarkedWords(OLD, reverse), AwdLstmEncoder(config).eval(), {"name": "old"}, decoder)


def check(old, new):
    table, mapped = old.encoder.embedding.weight, new.encoder.embedding.weight
    assert mapped.shape == (len(NEW), 6)
    for number, word in enumerate(NEW):
        known = word in OLD and word != "xxfake"
        assert torch.allclose(mapped[number], table[OLD.index(word)] if known else table.mean(0))
        assert torch.allclose(new.lm.bias[number], old.lm.bias[OLD.index(word)] if known else old.lm.bias.mean())


def test_known_words_keep_their_rows_and_new_ones_get_the_mean():
    old = model()
    new = with_vocabulary(old, NEW)
    check(old, new)
    assert new.tokenizer.words == NEW
    assert new.encoder.config.n_words == len(NEW)


def test_a_text_of_known_words_has_the_same_vectors():
    old = model(reverse=True)
    new = with_vocabulary(old, NEW)
    assert new.tokenizer.reverse
    assert (old.embed(["the great the"])[0] == new.embed(["the great the"])[0]).all()


def test_both_models_of_a_pair_get_the_words():
    old = pair(model(), model(reverse=True))
    for before, after in zip(apart(old), apart(with_vocabulary(old, NEW)), strict=True):
        check(before, after)


def test_the_old_model_stays_as_it_was():
    old = model()
    before = {name: tensor.clone() for name, tensor in old.encoder.state_dict().items()}
    new = with_vocabulary(old, NEW)
    with torch.no_grad():
        for parameter in (*new.encoder.parameters(), *new.lm.parameters()):
            parameter.add_(1)
    assert all(torch.equal(before[name], tensor) for name, tensor in old.encoder.state_dict().items())


def test_what_comes_out_can_be_trained():
    new = with_vocabulary(model(), NEW)
    assert all(parameter.requires_grad for parameter in (*new.encoder.parameters(), *new.lm.parameters()))


def test_no_random_numbers_are_used_up():
    torch.manual_seed(0)
    wanted = torch.rand(1)
    old = model()
    torch.manual_seed(0)
    with_vocabulary(old, NEW)
    assert torch.equal(torch.rand(1), wanted)


def test_a_model_without_its_output_layer_has_none_afterwards():
    assert with_vocabulary(model(lm=False), NEW).lm is None


def test_words_without_the_marks_are_refused():
    with pytest.raises(Mistake, match="lacks xxunk"):
        with_vocabulary(model(), ("the", "film"))
