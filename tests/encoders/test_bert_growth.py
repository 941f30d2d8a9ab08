import pytest
import torch

from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_config import BertConfig
from polyseme.encoders.bert_growth import completed, with_rows
from polyseme.encoders.bert_heads import BertHeads


def bert(**parts):
    sizes = {"vocab_size": 12, "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = BertConfig.model_validate({**sizes, "intermediate_size": 16, **parts})
    return BertEncoder(config), BertHeads(config)


def same(new, old):
    for name, tensor in old.state_dict().items():
        assert torch.equal(new.state_dict()[name], tensor), name


def test_what_is_there_stays_and_what_is_absent_is_named():
    encoder, heads = bert(pooler=False, adjacent_head=False)
    whole, more, absent = completed(encoder, heads, adjacent=True)
    assert absent == ["the pooler", "the head for adjacent sentences"]
    same(whole, encoder)
    same(more, heads)
    assert whole.config.pooler
    assert whole.config.adjacent_head


def test_nothing_more_is_made_than_is_asked_for():
    encoder, _ = bert(pooler=False)
    whole, heads, absent = completed(encoder, None, adjacent=False)
    assert absent == ["the head for masked words"]
    assert whole.pooler is None
    assert heads.adjacent is None


def test_a_head_that_is_there_is_kept_though_it_is_not_asked_for():
    encoder, heads = bert()
    whole, more, absent = completed(encoder, heads, adjacent=False)
    assert absent == []
    same(whole, encoder)
    same(more, heads)


@pytest.mark.parametrize("number", [9, 12, 14])
def test_a_new_row_is_the_mean_of_others_and_may_be_one_that_was_spare(number):
    encoder, heads = bert()
    torch.nn.init.normal_(heads.masked.bias)
    grown, more = with_rows(encoder, heads, {number: [1, 2, 2]})
    assert grown.config.vocab_size == len(more.masked.bias) == max(12, number + 1)
    old, new = encoder.embeddings.words.weight, grown.embeddings.words.weight
    torch.testing.assert_close(new[number], (old[1] + 2 * old[2]) / 3)
    torch.testing.assert_close(more.masked.bias[number], (heads.masked.bias[1] + 2 * heads.masked.bias[2]) / 3)
    assert torch.equal(new[:9], old[:9])
    assert torch.equal(grown.stack[0].inner.weight, encoder.stack[0].inner.weight)
