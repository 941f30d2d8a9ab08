"""polyseme.json: where a model comes from."""

import json
from pathlib import Path
from typing import Any

from polyseme.errors import BadFile
from polyseme.files import json_object, write_file

NAME = "polyseme.json"


def read(folder: Path) -> dict[str, Any]:
    """What the file says; nothing where there is none."""
    path = folder / NAME
    found = json_object(path) if path.exists() else {}
    if found is None:
        raise BadFile(f"{path} is damaged. Copy it again, or delete it: it only says where the model comes from.")
    return found


def write(provenance: dict[str, Any], folder: Path) -> None:
    write_file(folder / NAME, json.dumps(provenance, indent=1))
