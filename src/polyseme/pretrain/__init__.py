"""Pretraining: from raw text to a Pretrained."""

from polyseme.pretrain.begin import pretrain
from polyseme.pretrain.recipes import RECIPES, recipe

__all__ = ["RECIPES", "pretrain", "recipe"]
