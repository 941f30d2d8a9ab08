import torch

from polyseme.encoders import Pretrained
from polyseme.encoders.fresh import fresh
from polyseme.encoders.static import StaticConfig, StaticEncoder
from polyseme.text.bags import BagTokenizer


def static():
    torch.manual_seed(0)
    return Pretrained(BagTokenizer(("a", "b"), None, True), StaticEncoder(StaticConfig(n_rows=2, width=3)).eval())


def test_a_fresh_encoder_is_of_the_same_make_with_other_weights():
    old = static()
    new = fresh(old, seed=1)
    assert new.encoder.config == old.encoder.config
    assert new.tokenizer is old.tokenizer
    assert not torch.equal(new.encoder.table.weight, old.encoder.table.weight)
    assert torch.equal(new.encoder.table.weight, fresh(old, seed=1).encoder.table.weight)
    assert not torch.equal(new.encoder.table.weight, fresh(old, seed=2).encoder.table.weight)


def test_the_order_of_random_numbers_outside_is_not_disturbed():
    old = static()
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    fresh(old, seed=1)
    assert torch.equal(torch.rand(3), wanted)
