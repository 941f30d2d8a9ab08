"""Files of one word a line, in the order of their numbers."""

from collections.abc import Sequence
from pathlib import Path

from polyseme.errors import BadData, BadFile, Mistake, listed
from polyseme.files import write_file


def write(path: Path, words: Sequence[str]) -> None:
    """One word a line; half of a surrogate pair survives, a line feed cannot."""
    wrong = next((word for word in words if "\n" in word or not word), None)
    if wrong is not None:
        raise Mistake(f"{wrong!r} cannot stand in {path.name}, which has one word a line. Leave it out.")
    write_file(path, "".join(f"{word}\n" for word in words).encode(errors="surrogatepass"))


def read(path: Path) -> list[str]:
    r"""The words of a file. Only \n ends a word: U+2028 and its like are words of BERT's."""
    try:
        text = path.read_bytes().decode(errors="surrogatepass").removeprefix("\ufeff")
    except FileNotFoundError:
        found = listed(sorted(other.name for other in path.parent.glob("*")))
        raise BadFile(f"No {path.name} in {path.parent}. Found: {found}. Copy it beside them.") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BadData(f"this line is not UTF-8 ({error.reason}). Save the file as UTF-8.", path, line) from None
    words = text.removesuffix("\n").split("\n")
    from_windows = len(words) > 1 and all(word.endswith("\r") for word in words[:-1])
    return [word.removesuffix("\r") for word in words] if from_windows else words


def read_distinct(path: Path) -> list[str]:
    """The same; an empty line, or a word that stands there twice, is a mistake."""
    words = read(path)
    if words == [""]:
        raise BadData("the file is empty; one word a line was wanted.", path)
    seen: dict[str, int] = {}
    for number, word in enumerate(words, start=1):
        if not word:
            raise BadData("this line is empty; each wants a word. Take it out.", path, number)
        if seen.setdefault(word, number) != number:
            raise BadData(f"{word!r} is on line {seen[word]} already. Take one of them out.", path, number)
    return words
