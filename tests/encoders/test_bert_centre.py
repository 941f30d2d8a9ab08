import pytest
import torch

from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_centre import centre
from polyseme.encoders.bert_config import BertConfig
from polyseme.encoders.bert_heads import BertHeads
from polyseme.types import Batch


def bert(**parts):
    torch.manual_seed(0)
    sizes = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2}
    config = BertConfig.model_validate({**sizes, "intermediate_size": 32, "initializer_range": 0.3, **parts})
    encoder, heads = BertEncoder(config).eval(), BertHeads(config).eval()
    for module in (encoder, heads):
        for parameter in module.parameters():
            if parameter.ndim == 1:
                torch.nn.init.normal_(parameter, 1.0)  # so that layers have a mean
    return encoder, heads


def batch(seed, lengths=(7, 3, 12)):
    ids = torch.randint(50, (sum(lengths),), generator=torch.Generator().manual_seed(seed))
    offsets = torch.tensor([0, *lengths]).cumsum(0)
    numbers = torch.arange(len(lengths))
    return Batch(ids=ids, offsets=offsets, words=torch.full_like(ids, -1), n_words=0 * numbers, texts=numbers)


def said(encoder, heads, some):
    encoding = encoder(some)
    masked = heads.masked_words(encoding.layers[-1], encoder.embeddings.words.weight)
    return encoding.layers, masked, heads.next_sentence(encoder.pooled(encoding))


@torch.no_grad()
def test_layers_lose_their_mean_and_the_model_says_the_same():
    encoder, heads = bert()
    some, other = batch(1), batch(2)
    layers, *before = said(encoder, heads, some)
    _, *before_other = said(encoder, heads, other)
    assert min(float(layer.mean(0).abs().max()) for layer in layers) > 0.5
    centre(encoder, heads, [some])
    moved, *after = said(encoder, heads, some)
    assert max(float(layer.mean(0).abs().max()) for layer in moved) < 1e-5
    for layer, old in zip(moved, layers, strict=True):
        assert torch.allclose(layer - layer[0], old - old[0], atol=1e-5)  # moved as a whole
    _, *after_other = said(encoder, heads, other)
    for one, two in zip([*before, *before_other], [*after, *after_other], strict=True):
        assert torch.allclose(one, two, atol=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("parts", [{"pooler": False, "adjacent_head": False}, {"masked_head": False}], ids=str)
def test_what_a_model_does_not_have_is_not_asked_for(parts):
    encoder, heads = bert(**parts)
    centre(encoder, heads, [batch(1)])
    centre(encoder, None, [batch(1)])
    assert float(encoder(batch(1)).layers[-1].mean(0).abs().max()) < 1e-5


def test_the_mode_it_was_in_is_kept():
    encoder, heads = bert()
    encoder.train()
    centre(encoder, heads, [batch(1)])
    assert encoder.training
