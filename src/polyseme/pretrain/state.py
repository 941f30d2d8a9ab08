"""The recurrent state that a step of pretraining begins with."""

import torch

from polyseme.types import State


def forgotten(state: State, rate: float) -> State:
    """The state after the last step, of which some rows begin anew: as often as the rate says, by torch's generator."""
    if rate == 0:
        return state
    kept = (torch.rand(len(state[0]), 1) >= rate).float()
    return tuple(part * kept for part in state)
