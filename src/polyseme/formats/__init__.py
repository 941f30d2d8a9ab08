"""Foreign files to Pretrained and back, one format a file; what a file is, is found out by looking."""

from pathlib import Path

from polyseme.encoders import Pretrained
from polyseme.errors import BadFile


def load(name: str | Path) -> Pretrained:
    """The Pretrained in a file or folder of any known format."""
    raise BadFile(f"{name}: no format is known yet.")


def save(pretrained: Pretrained, folder: str | Path, force: bool = False) -> None:
    """Write a Pretrained as a native folder."""
    raise BadFile(f"{folder}: no format is known yet.")
