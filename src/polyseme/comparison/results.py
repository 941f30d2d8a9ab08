"""What a comparison has found so far, on disk: a line a fit, and what each model answered."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

from polyseme.files import write_file

Line = dict[str, Any]

RESULTS, PREDICTIONS = "results.jsonl", "predictions"


class Results:
    """results.jsonl and predictions/. A line is there only after the answers that belong to it."""

    def __init__(self, folder: Path, mend: bool = False) -> None:
        self.path, self.predictions = folder / RESULTS, folder / PREDICTIONS
        self.lines: dict[str, Line] = {line["id"]: line for line in self._read(mend)}

    def has(self, cell_id: str) -> bool:
        """Whether a fit is done; one that failed, or whose answers were lost, is not."""
        return "error" not in self.lines.get(cell_id, {"error": ""}) and self._answers_path(cell_id).is_file()

    def add(self, line: Line, answers: dict[str, Any] | None) -> None:
        if answers is not None:
            raw = json.dumps(answers).encode()
            write_file(self._answers_path(line["id"]), gzip.compress(raw, mtime=0))
        with self.path.open("ab") as file:
            file.write(json.dumps(line).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.lines[line["id"]] = line

    def answers(self, cell_id: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(gzip.decompress(self._answers_path(cell_id).read_bytes()))
        return found

    def _read(self, mend: bool) -> list[Line]:
        """A last line that a kill cut short is taken off, so that the next one begins a line of its own.

        Only whoever holds the folder's lock may do that: another run may be writing it.
        """
        raw = self.path.read_bytes() if self.path.exists() else b""
        whole = raw[: raw.rfind(b"\n") + 1]
        if mend and whole != raw:
            with self.path.open("r+b") as file:
                file.truncate(len(whole))
        return [line for text in whole.splitlines() if (line := _parsed(text)) is not None]

    def _answers_path(self, cell_id: str) -> Path:
        return self.predictions / f"{cell_id}.json.gz"


def _parsed(text: bytes) -> Line | None:
    try:
        line = json.loads(text)
    except ValueError:
        return None
    return line if isinstance(line, dict) and isinstance(line.get("id"), str) else None
