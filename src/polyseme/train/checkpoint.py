"""Checkpoints of a run: whole or absent, verified before they are trusted."""

import logging
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from polyseme.files import damage, new_folder

log = logging.getLogger(__name__)

_NAME = re.compile(r"step-(\d{9})")


def save(run: Path, step: int, write: Callable[[Path], None], keep: int = 2) -> Path:
    """Let `write` fill a folder for this step, put it into the run all at once, and drop all but the newest few.

    Those of later steps are dropped too: who saves this one has passed them over as damaged.
    """
    folder = run / "checkpoints" / f"step-{step:09d}"
    if folder.exists():  # damaged, or the same step again
        shutil.rmtree(folder)
    with new_folder(folder) as temporary:
        write(temporary)
    found = _all(run)
    n_later = sum(number > step for number, _ in found)
    for _, needless in found[:n_later] + found[n_later + keep :]:
        shutil.rmtree(needless)
    return folder


def newest(run: Path) -> tuple[int, Path] | None:
    """The last step whose checkpoint is whole, and its folder; a damaged one is named in the log and passed over."""
    for step, folder in _all(run):
        problem = damage(folder)
        if problem is None:
            return step, folder
        log.warning("The checkpoint %s is damaged (%s); going back to the one before it.", folder, problem)
    return None


def clean(run: Path) -> None:
    """Remove what a killed run left half-written. Only whoever holds the run's lock may do that."""
    for leftover in (run / "checkpoints").glob(".step-*"):
        shutil.rmtree(leftover, ignore_errors=True)


def _all(run: Path) -> list[tuple[int, Path]]:
    """Every checkpoint of a run, newest first."""
    folders = [path for path in (run / "checkpoints").glob("step-*") if _NAME.fullmatch(path.name)]
    return sorted(((int(path.name[5:]), path) for path in folders), reverse=True)
