"""A number for each text or pair of texts."""

import torch
from torch import Tensor
from torch.nn import functional as F

from polyseme.errors import Mistake
from polyseme.heads.head import Features, Head
from polyseme.heads.text_models import TextModel, text_model


class Regress(Head):
    """Mean squared error in units of the targets' spread, so that any scale of targets learns at the same rate."""

    target_mean: Tensor
    target_sd: Tensor

    def __init__(
        self, width: int, model: TextModel = "linear", dropout: float = 0.1, hidden_width: int | None = None
    ) -> None:
        super().__init__()
        self.model = text_model(model, width, 1, dropout, hidden_width)
        self.register_buffer("target_mean", torch.zeros((), dtype=torch.double))
        self.register_buffer("target_sd", torch.ones((), dtype=torch.double))

    def standardise(self, targets: Tensor) -> None:
        """Take mean and spread from the targets of all training texts; before training, once."""
        if not len(targets) or not bool(targets.isfinite().all()):
            raise Mistake("Targets must be finite numbers, one or more. Leave the others out.")
        spread, mean = torch.std_mean(targets.double(), correction=0)
        if not bool(spread.isfinite()):
            raise Mistake(
                f"Targets up to {targets.abs().max():g} are too large to be learned. Divide them by some number."
            )
        self.target_mean.fill_(mean.item())
        self.target_sd.fill_(spread.item() or 1.0)

    def forward(self, features: Features) -> Tensor:
        """(texts,) in units of the targets' spread"""
        outputs: Tensor = self.model(features)
        return outputs.squeeze(1)

    def loss(self, logits: Tensor, targets: Tensor, offsets: Tensor) -> Tensor:
        return F.mse_loss(logits, ((targets.double() - self.target_mean) / self.target_sd).to(logits.dtype))

    def decode(self, logits: Tensor, offsets: Tensor) -> Tensor:
        """(texts,) as the targets are"""
        return logits.double() * self.target_sd + self.target_mean
