"""Pretraining: from raw text to a Pretrained."""

from polyseme.pretrain.begin import pretrain
from polyseme.pretrain.recipes import ABOUT, RECIPES, recipe

__all__ = ["ABOUT", "RECIPES", "pretrain", "recipe"]
