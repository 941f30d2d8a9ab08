"""A tag for each word."""

from collections.abc import Sequence
from typing import Literal

from torch import Tensor, nn
from torch.nn import functional as F

from polyseme.errors import Mistake
from polyseme.heads.head import Features, Head
from polyseme.heads.rules import span_rules
from polyseme.layers.bilstm import BiLstm
from polyseme.layers.crf import Chain, Crf, viterbi

WordModel = Literal["linear", "bilstm"]


class Tag(Head):
    """A linear layer, on a BiLSTM or not, and a CRF or not; targets are the (rows,) numbers of the tags.

    Where the tags mark spans, `constrain` keeps answers within their scheme, and a CRF's training too.
    """

    def __init__(
        self,
        width: int,
        tags: Sequence[str],
        model: WordModel = "linear",
        crf: bool = False,
        constrain: bool = True,
        dropout: float = 0.1,
        hidden_width: int = 128,
    ) -> None:
        super().__init__()
        if not tags or len(set(tags)) < len(tags):
            raise Mistake(f"Found the tags {list(tags)}; wanted one or more, each once.")
        if model not in ("linear", "bilstm"):
            raise Mistake(f"model={model!r} is not known. Use 'linear' or 'bilstm'.")
        self.tags, self.rules = tuple(tags), span_rules(tags) if constrain else None
        self.lstm = BiLstm(width, hidden_width, dropout=dropout) if model == "bilstm" else None
        self.drop = nn.Dropout(dropout)
        self.out = nn.Linear(width if self.lstm is None else self.lstm.width, len(tags))
        self.crf = Crf(len(tags), self.rules) if crf else None

    def forward(self, features: Features) -> Tensor:
        """(rows, tags)"""
        words = features.words if self.lstm is None else self.lstm(features.words, features.offsets).rows
        logits: Tensor = self.out(self.drop(words))
        return logits

    def loss(self, logits: Tensor, targets: Tensor, offsets: Tensor) -> Tensor:
        """The mean over words, or over texts with a CRF."""
        if self.crf is not None:
            return self.crf.nll(logits, targets, offsets)
        return F.cross_entropy(logits, targets, reduction="sum") / max(1, len(targets))

    def decode(self, logits: Tensor, offsets: Tensor) -> Tensor:
        """(rows,) numbers of tags"""
        if self.crf is not None:
            return self.crf.best(logits, offsets)
        if self.rules is None:
            return logits.argmax(1)
        n_tags = len(self.tags)
        free = Chain(logits.new_zeros(n_tags, n_tags), logits.new_zeros(n_tags), logits.new_zeros(n_tags))
        return viterbi(logits, offsets, self.rules.of(free))
