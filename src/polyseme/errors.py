"""What a person did wrong, said with what was found, what was wanted and what to do."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path


class Mistake(ValueError):
    """A person's mistake. The message says what was found, what was wanted and what to do next."""


class BadData(Mistake):
    """A data file that cannot be read as asked, with the place in it."""

    def __init__(self, problem: str, path: Path | str, line: int | None = None, column: str | None = None) -> None:
        self.problem, self.path, self.line, self.column = problem, Path(path), line, column
        place = str(path)
        if line is not None:
            place += f", line {line}"
        if column is not None:
            place += f", column {column!r}"
        super().__init__(f"{place}: {problem}")


class BadFile(Mistake):
    """A model file or folder that is absent, damaged or of another kind."""


class Busy(Mistake):
    """A folder that another run is writing to."""


class MissingExtra(Mistake):
    """A package that this verb needs and the core install leaves out."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}, which is not installed. Run: pip install 'polyseme[{extra}]'")


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """A sentence that names the nearest choice, or nothing.

    >>> did_you_mean("Positve", ["Negative", "Positive"])
    " Did you mean 'Positive'?"
    >>> did_you_mean("neutral", ["Negative", "Positive"])
    ''
    """
    choices = list(choices)
    near = get_close_matches(name, choices, n=1, cutoff=0.75)
    if not near:
        folded = {choice.casefold(): choice for choice in choices}
        near = [folded[key] for key in get_close_matches(name.casefold(), folded, n=1, cutoff=0.75)]
    return f" Did you mean {near[0]!r}?" if near else ""


def listed(names: Iterable[str], limit: int = 8) -> str:
    """Names for a message, cut after a few.

    >>> listed(["a", "b", "c"], limit=2)
    'a, b and 1 more'
    """
    names = list(names)
    if len(names) <= limit:
        return ", ".join(names) if names else "nothing"
    return f"{', '.join(names[:limit])} and {len(names) - limit} more"
