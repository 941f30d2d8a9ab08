"""The text of a run: its shards, built once and found again."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from polyseme.errors import Mistake
from polyseme.text import shards
from polyseme.text.shards import Shards

_MOST_HELD_OUT = 100_000  # words
