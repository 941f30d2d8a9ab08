from dataclasses import replace

import pytest
import torch

from polyseme.encoders import Pretrained
from polyseme.encoders.bert_heads import BertHeads
from polyseme.encoders.static import StaticConfig, StaticEncoder
from polyseme.errors import Mistake
from polyseme.lens.fill import fill
from polyseme.lens.score import score
from polyseme.lens.ways import reading
from polyseme.text.bags import BagTokenizer


def test_each_family_is_told_why_it_may_have_no_output_layer(bert, awd_lstm):
    with pytest.raises(Mistake, match=r"so it cannot fill a mask: many BERT files leave out.*BertForMaskedLM"):
        fill(replace(bert, lm=None), "[MASK]")
    with pytest.raises(Mistake, match="so it cannot score text: an encoder saved alone has none"):
        next(score(awd_lstm(lm=False), ["the"]))


def test_a_bert_with_the_other_head_only_has_no_output_layer(bert):
    heads = BertHeads(bert.encoder.config.model_copy(update={"masked_head": False}))
    for use in (lambda model: fill(model, "[MASK]"), lambda model: next(score(model, ["the"]))):
        with pytest.raises(Mistake, match="many BERT files leave out"):
            use(replace(bert, lm=heads))


def test_a_family_without_a_language_model_names_those_with_one():
    static = Pretrained(BagTokenizer(("a",)), StaticEncoder(StaticConfig(n_rows=1, width=2)))
    with pytest.raises(Mistake, match="family 'static' cannot score text here; elmo, awd_lstm, bert can"):
        next(score(static, ["a"]))


def test_a_model_is_given_back_as_it_was_even_after_a_mistake(awd_lstm):
    model = awd_lstm()
    model.encoder.train()
    model.lm.eval()
    with pytest.raises(Mistake), reading(model):
        assert not model.encoder.training
        assert torch.is_inference_mode_enabled()
        raise Mistake("no")
    assert model.encoder.training
    assert not model.lm.training
