"""Labelled sentences that come with polyseme: opinions of everyday things, and words of several senses.

All of them were written for polyseme and come under its licence. They were divided once into a part to learn from and a
part to measure on: choose on a part of the first, so that the second stays worth something.
"""

from pathlib import Path
from typing import Literal

Part = Literal["train", "test"]


def opinions(part: Part) -> Path:
    """As many positive as negative sentences (columns text, label): 900 to learn from, 300 to measure on."""
    return Path(__file__).parent / f"opinions.{part}.csv"


def senses(part: Part) -> Path:
    """30 words in 90 senses (columns word, sense, text): 4 sentences a sense to learn from and 4 to measure on."""
    return Path(__file__).parent / f"senses.{part}.csv"
