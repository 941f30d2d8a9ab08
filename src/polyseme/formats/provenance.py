"""polyseme.json: where a model comes from."""

import json
from pathlib import Path
from typing import Any

from polyseme.errors import BadFile
from polyseme.files import write_file

NAME = "polyseme.json"


def read(folder: Path) -> dict[str, Any]:
    """What the file says; nothing where there is none."""
    path = folder / NAME
    try:
        found = json.loads(path.read_bytes()) if path.exists() else {}
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise BadFile(f"{path} is damaged. Copy it again, or delete it: it only says where the model comes from.")
    return found


def write(provenance: dict[str, Any], folder: Path) -> None:
    write_file(folder / NAME, json.dumps(provenance, indent=1))
