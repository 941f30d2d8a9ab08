import hashlib

import torch
from torch import nn

from polyseme.encoders.digest import add_weights


def digest(module):
    found = hashlib.sha256()
    add_weights(found, module)
    return found.hexdigest()


def linear(**changes):
    torch.manual_seed(0)
    module = nn.Linear(3, 2)
    with torch.no_grad():
        for name, value in changes.items():
            getattr(module, name)[0] = value
    return module


def test_equal_weights_have_one_digest_and_a_single_other_number_another():
    assert digest(linear()) == digest(linear())
    assert digest(linear(bias=7.0)) != digest(linear())


def test_names_types_and_shapes_count():
    flat = nn.Linear(6, 1, bias=False)
    flat.weight.data = linear().weight.data.view(1, 6)
    bare = nn.Linear(3, 2, bias=False)
    bare.weight.data = linear().weight.data
    named = nn.Sequential(bare)
    assert len({digest(flat), digest(bare), digest(named), digest(bare.double())}) == 4
