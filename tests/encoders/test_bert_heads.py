import pytest
import torch

from polyseme.encoders.bert_config import BertConfig
from polyseme.encoders.bert_heads import BertHeads
from polyseme.errors import Mistake

SMALL = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}


def test_heads_score_pieces_and_pairs():
    heads = BertHeads(BertConfig(**SMALL))
    assert heads.masked_words(torch.randn(3, 16), torch.randn(50, 16)).shape == (3, 50)
    assert heads.next_sentence(torch.randn(4, 16)).shape == (4, 2)


def test_the_output_layer_is_the_table_it_is_given():
    heads = BertHeads(BertConfig(**SMALL))
    table = torch.randn(50, 16, requires_grad=True)
    heads.masked_words(torch.randn(3, 16), table).sum().backward()
    assert table.grad.abs().sum() > 0
    assert all(weights.shape != table.shape for weights in heads.parameters())


@pytest.mark.parametrize("flag, call", [("masked_head", "masked"), ("adjacent_head", "adjacent")])
def test_an_absent_head_says_so(flag, call):
    heads = BertHeads(BertConfig(**SMALL, **{flag: False}))
    assert getattr(heads, call) is None
    with pytest.raises(Mistake, match="its file left it out"):
        heads.masked_words(torch.randn(1, 16), torch.randn(50, 16)) if call == "masked" else heads.next_sentence(
            torch.randn(1, 16)
        )
