import pytest
from pydantic import ValidationError

from polyseme.formats.tf_bert_names import Settings, hf_name, is_training, shapes

BASE = {
    "vocab_size": 30522,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
}


def test_names_and_shapes_are_those_of_transformers():
    transformers = pytest.importorskip("transformers")
    import torch

    with torch.device("meta"):
        model = transformers.BertForPreTraining(transformers.BertConfig(**BASE))
    wanted = {name: tuple(value.shape) for name, value in model.state_dict().items() if ".decoder." not in name}
    wanted.pop("bert.embeddings.position_ids", None)
    found = {
        hf_name(name): shape[::-1] if name.endswith("kernel") else shape for name, shape in shapes(Settings(**BASE))
    }
    assert found == wanted


def test_base_has_its_110_million_numbers():
    numbers = {name: shape for name, shape in shapes(Settings(**BASE)) if name.startswith("bert/")}
    assert sum(shape[0] * (shape[1] if len(shape) > 1 else 1) for shape in numbers.values()) == 109_482_240


@pytest.mark.parametrize(
    "name", ["global_step", "beta1_power", "bert/x/kernel/adam_v", "bert/x/Adam_1", "x/AdamWeightDecayOptimizer"]
)
def test_what_an_optimiser_keeps_is_known(name):
    assert is_training(name)


@pytest.mark.parametrize("name", ["output_weights", "bert/adam/kernel", "my_global_step", "bert/x/adam_mean"])
def test_other_names_are_not_an_optimisers(name):
    assert not is_training(name)


@pytest.mark.parametrize(
    "wrong",
    [
        {"hidden_size": 0},
        {"num_hidden_layers": 10**9},
        {"vocab_size": "many"},
        {"num_attention_heads": 7},
        {"hidden_dropout_prob": 1.5},
    ],
)
def test_settings_that_cannot_be_are_refused(wrong):
    with pytest.raises(ValidationError):
        Settings(**{**BASE, **wrong})
