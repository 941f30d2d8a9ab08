"""Static vectors, ELMo, AWD-LSTM and BERT in one home: pretrain, read and write released weights, embed."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polyseme.comparison.compare import compare as compare
    from polyseme.encoders import Pretrained as Pretrained
    from polyseme.estimators import Embedder as Embedder
    from polyseme.estimators import PairClassifier as PairClassifier
    from polyseme.estimators import SpanFinder as SpanFinder
    from polyseme.estimators import TextClassifier as TextClassifier
    from polyseme.estimators import TextRegressor as TextRegressor
    from polyseme.estimators import TokenTagger as TokenTagger
    from polyseme.formats import load as load
    from polyseme.formats import save as save

__version__ = "0.1.0"

# What `polyseme.name` is, and the module it is in: importing polyseme itself imports no torch.
_PUBLIC = {
    **dict.fromkeys(
        ("TextClassifier", "PairClassifier", "TextRegressor", "TokenTagger", "SpanFinder", "Embedder"),
        "polyseme.estimators",
    ),
    "load": "polyseme.formats",
    "save": "polyseme.formats",
    "Pretrained": "polyseme.encoders",
    "compare": "polyseme.comparison.compare",
}

__all__ = [
    "Embedder",
    "PairClassifier",
    "Pretrained",
    "SpanFinder",
    "TextClassifier",
    "TextRegressor",
    "TokenTagger",
    "compare",
    "load",
    "save",
]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"polyseme has no {name!r}; it has {', '.join(sorted(_PUBLIC))}")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_PUBLIC]
