import pytest
import torch

from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_config import BertConfig
from polyseme.encoders.bert_heads import BertHeads
from polyseme.errors import BadFile
from polyseme.formats.hf_bert_weights import build, to_theirs
from polyseme.formats.tensor_files import Stored

CONFIG = BertConfig(vocab_size=9, hidden_size=4, num_hidden_layers=2, num_attention_heads=2, intermediate_size=5)


def made():
    torch.manual_seed(0)
    return BertEncoder(CONFIG), BertHeads(CONFIG)


def stored(tensors):
    return {name: Stored.of(tensor) for name, tensor in tensors.items()}


def test_there_and_back_changes_no_number():
    encoder, heads = made()
    again, heads_again, left_out = build(CONFIG, stored(to_theirs(encoder, heads)), "memory")
    assert left_out == []
    for one, other in ((encoder, again), (heads, heads_again)):
        assert all(torch.equal(tensor, other.state_dict()[name]) for name, tensor in one.state_dict().items())


def test_queries_keys_and_values_are_stacked_in_this_order():
    encoder, _ = made()
    theirs = to_theirs(encoder, None)
    parts = [theirs[f"bert.encoder.layer.1.attention.self.{name}.weight"] for name in ("query", "key", "value")]
    assert torch.equal(torch.cat(parts), encoder.stack[1].attention.qkv.weight)


def test_what_is_given_out_shares_no_memory():
    encoder, heads = made()
    theirs = to_theirs(encoder, heads)
    before = encoder.embeddings.words.weight.detach().clone()
    for tensor in theirs.values():
        tensor.zero_()
    assert torch.equal(encoder.embeddings.words.weight, before)
    built, _, _ = build(CONFIG, stored(theirs), "memory")
    next(iter(theirs.values())).add_(1)
    assert not built.embeddings.words.weight.any()


def test_a_file_may_hold_the_tied_output_layer_instead_of_the_table():
    encoder, heads = made()
    theirs = to_theirs(encoder, heads)
    theirs["cls.predictions.decoder.weight"] = theirs.pop("bert.embeddings.word_embeddings.weight")
    theirs["cls.predictions.decoder.bias"] = theirs.pop("cls.predictions.bias")
    again, heads_again, left_out = build(CONFIG, stored(theirs), "memory")
    assert torch.equal(again.embeddings.words.weight, encoder.embeddings.words.weight)
    assert heads_again.masked is not None
    assert left_out == []


def test_the_config_says_which_parts_there_are():
    encoder, heads = made()
    theirs = {name: tensor for name, tensor in to_theirs(encoder, heads).items() if "pooler" not in name}
    theirs = {name: tensor for name, tensor in theirs.items() if "seq_relationship" not in name}
    again, heads_again, _ = build(CONFIG, stored(theirs), "memory")
    assert not again.config.pooler
    assert not again.config.adjacent_head
    assert again.config.masked_head
    assert heads_again.adjacent is None


def test_a_file_that_holds_no_numbers_is_refused():
    encoder, heads = made()
    theirs = to_theirs(encoder, heads)
    theirs["bert.embeddings.LayerNorm.bias"][0] = torch.nan
    with pytest.raises(BadFile, match=r"NaN or infinity in bert\.embeddings\.LayerNorm\.bias"):
        build(CONFIG, stored(theirs), "memory")
