"""Texts, or pairs of texts, with a number each."""

from pathlib import Path
from typing import Any

from polyseme.errors import Mistake
from polyseme.tasks.columns import names_pairs
from polyseme.tasks.examples import Dataset, LabelledText, Pair
from polyseme.tasks.sheets import open_sheet
from polyseme.tasks.tables import Target, read_pairs, read_texts


def read_scored(path: Path | str, *, target: Target = "score", **options: Any) -> Dataset[LabelledText | Pair]:
    """Pairs where the file's columns, or the ones chosen, are those of pairs; else texts."""
    sheet = open_sheet(path, options.get("delimiter"), options.get("quotes"))
    chosen = any(options.get(name) is not None for name in ("text_a_column", "text_b_column"))
    wants_text = options.get("text_column") is not None
    if chosen and wants_text:
        raise Mistake(
            "A column was chosen for a text alone, and one for a text of a pair. Choose the one or the other."
        )
    if chosen or (names_pairs(sheet) and not wants_text):
        options.pop("text_column", None)
        return read_pairs(path, target=target, **options)
    options = {name: value for name, value in options.items() if name not in ("text_a_column", "text_b_column")}
    return read_texts(path, target=target, **options)
