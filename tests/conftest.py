"""Where the tests find data that is not part of the project."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    folder = Path(os.environ.get("POLYSEME_SHARED", Path(__file__).resolve().parent.parent.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"needs the shared data folder; {folder} is not there")
    return folder
