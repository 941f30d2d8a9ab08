"""polyseme convert: any model we can read, written as our folder or as another format."""

from pathlib import Path

import typer


def run(
    source: Path = typer.Argument(help="A file or folder of any known format."),
    target: Path = typer.Argument(help="What to write."),
    to: str | None = typer.Option(None, "--to", help="The format to write; by default our own folder."),
    weights: str = typer.Option("float32", help="float16 or int8: a folder of ours of half or a quarter of the size."),
    force: bool = typer.Option(False, "--force", help="Overwrite what is there."),
) -> None:
    """Write a model of any format as a folder of ours, or as another format."""
    from polyseme.formats import format_named, load, save
    from polyseme.formats.fewer_bits import check

    check(weights)  # a wrong name is told before a large file is read
    if to is not None:
        format_named(to)
    save(load(source), target, format=to, force=force, weights=weights)
    print(target)
