"""The values that readers of labelled data give."""

from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

Words: TypeAlias = tuple[str, ...]
Label: TypeAlias = str | float | None  # a class, a score, or nothing where labels were not asked for
Example = TypeVar("Example", covariant=True)


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text, as a string or as its words where it is split already, and its class or score."""

    text: str | Words
    label: Label


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts and the class or score of the two together."""

    text_a: str | Words
    text_b: str | Words
    label: Label


@dataclass(frozen=True, slots=True)
class TaggedWords:
    """A sentence's words and the tag of each, as it stands in the file."""

    words: Words
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a context; each answer is the span `context[start:end]`, none means it has no answer there."""

    id: str
    context: str
    question: str
    answers: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Dataset(Generic[Example]):
    """What one file held, and what the reader had to guess about it."""

    examples: tuple[Example, ...]
    path: Path
    said: tuple[str, ...] = ()  # a sentence a guess, for whoever started the run to see
    lines: tuple[int, ...] = ()  # where each example's label stands, or the example begins; empty where unknown
    label_column: str | None = None

    def __len__(self) -> int:
        return len(self.examples)
