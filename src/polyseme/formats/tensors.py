"""Named tensors into a module, every one of them accounted for."""

from collections.abc import Mapping
from typing import TypeVar

from torch import Tensor, nn

from polyseme.errors import BadFile, listed

AnyModule = TypeVar("AnyModule", bound=nn.Module)


def fill(module: AnyModule, tensors: Mapping[str, Tensor], source: str) -> AnyModule:
    """Give a module made on the meta device its tensors, without a copy; absent, extra and misshapen ones are named."""
    wanted = module.state_dict()
    if absent := sorted(wanted.keys() - tensors.keys()):
        raise BadFile(f"{source} lacks {listed(absent)}. It has {listed(sorted(tensors), 4)}.")
    if extra := sorted(tensors.keys() - wanted.keys()):
        raise BadFile(f"{source} has {listed(extra)}, which this model has no place for.")
    for name, tensor in tensors.items():
        if tensor.shape != wanted[name].shape:
            raise BadFile(
                f"{source}: {name} is {tuple(tensor.shape)}; its configuration wants {tuple(wanted[name].shape)}."
            )
        if not tensor.isfinite().all():
            raise BadFile(f"{source}: {name} holds NaN or infinity, not numbers. Take an earlier checkpoint.")
    module.load_state_dict({name: tensor.float() for name, tensor in tensors.items()}, assign=True)
    assert not any(tensor.is_meta for tensor in (*module.parameters(), *module.buffers()))
    return module


def under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names begin with a prefix, without it.

    >>> under("lm.", {"lm.bias": Tensor([0]), "encoder.bias": Tensor([1])})
    {'bias': tensor([0.])}
    """
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
