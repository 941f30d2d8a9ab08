"""The same encoder without what it learned: what training from scratch begins with."""

from __future__ import annotations

import torch

from polyseme.encoders import Pretrained, family


def fresh(pretrained: Pretrained, seed: int) -> Pretrained:
    """An encoder of the same make with weights drawn anew, and the same tokenizer."""
    encoder = pretrained.encoder
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = family(encoder.family).encoder(encoder.config)
    return Pretrained(pretrained.tokenizer, made.eval(), {"from scratch": True, "seed": seed})
