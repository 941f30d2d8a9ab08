"""A room imports only from lower floors, and never from another room of its own floor."""

import ast
from pathlib import Path

FLOORS = [
    {"types", "errors", "files", "samples", "starters"},
    {"text", "layers"},
    {"encoders", "heads"},
    {"formats", "train", "tasks"},
    {"pretrain", "adapt"},
    {"domain", "estimators"},
    {"comparison", "lens"},
    {"serve"},
    {"cli"},
]
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
SOURCE = Path(__file__).parent.parent / "src" / "polyseme"


def imports(source: str) -> set[str]:
    """The rooms of polyseme that a file imports, at its top or inside a function."""
    rooms = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "write imports in full: from polyseme.text import words"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        rooms |= {name.split(".")[1] for name in names if name.startswith("polyseme.")}
    return rooms - {"__version__"}


def trespasses(room: str, source: str) -> list[str]:
    return [
        f"{room} (floor {FLOOR[room]}) imports {other} (floor {FLOOR[other]})"
        for other in sorted(imports(source))
        if other != room and FLOOR[other] >= FLOOR[room] and not (FLOOR[room] == 0 and FLOOR[other] == 0)
    ]


def test_no_room_imports_its_own_floor_or_a_higher_one():
    found = []
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if room in ("__init__", "__main__"):
            continue  # the public face looks at everything
        assert room in FLOOR, f"{path} is in no room: give it a floor"
        found += [f"{path.name}: {line}" for line in trespasses(room, path.read_text())]
    assert not found


def test_an_import_of_a_higher_floor_is_found():
    source = "def f():\n    from polyseme.train import loop\n    import polyseme.cli.embed\n"
    assert trespasses("text", source) == [
        "text (floor 1) imports cli (floor 8)",
        "text (floor 1) imports train (floor 3)",
    ]


def test_an_import_of_a_neighbour_on_the_same_floor_is_found():
    assert trespasses("formats", "from polyseme.train.loop import run") == ["formats (floor 3) imports train (floor 3)"]


def test_an_import_from_below_or_from_the_room_itself_is_fine():
    assert trespasses("formats", "from polyseme.formats import native\nfrom polyseme.text.words import split\n") == []


def test_every_module_opens_with_its_purpose():
    for path in SOURCE.rglob("*.py"):
        assert ast.get_docstring(ast.parse(path.read_text())), f"{path} does not say what it is for"
