import pytest
import torch
from pydantic import ValidationError

from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_config import BertConfig
from polyseme.errors import Mistake

SMALL = {"vocab_size": 500, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}


def test_unknown_keys_are_kept():
    assert BertConfig.model_validate({**SMALL, "id2label": {"0": "a"}}).model_dump()["id2label"] == {"0": "a"}


def test_a_config_does_not_change():
    with pytest.raises(ValidationError):
        BertConfig().hidden_size = 3


@pytest.mark.parametrize(
    "field, value",
    [("hidden_size", 0), ("num_hidden_layers", 10**9), ("hidden_dropout_prob", 2.0), ("vocab_size", "many")],
)
def test_numbers_that_make_no_sense_are_refused(field, value):
    with pytest.raises(ValidationError, match=field):
        BertConfig.model_validate({field: value})


@pytest.mark.parametrize(
    "field, value, said",
    [
        ("position_embedding_type", "relative_key", "only the paper's 'absolute' is known"),
        ("is_decoder", True, "Only encoders are known here"),
        ("hidden_act", "gelu_", "Did you mean 'gelu'"),
        ("num_attention_heads", 3, "16 cannot be shared among 3 heads"),
    ],
)
def test_what_the_encoder_is_not_is_refused(field, value, said):
    with pytest.raises(Mistake, match=said):
        BertEncoder(BertConfig.model_validate({**SMALL, field: value}))


def test_weights_begin_as_the_paper_says():
    torch.manual_seed(0)
    encoder = BertEncoder(BertConfig(**{**SMALL, "hidden_size": 128}))
    weights = encoder.stack[0].attention.qkv.weight
    assert 0.015 < float(weights.detach().std()) < 0.02
    assert float(weights.detach().abs().max()) <= 0.04 + 1e-6
    assert float(encoder.embeddings.words.weight.detach().abs().max()) <= 0.04 + 1e-6
    assert not encoder.stack[0].inner.bias.any()
    assert (encoder.embeddings.norm.weight == 1).all()
