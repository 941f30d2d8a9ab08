"""What to tell whoever watches a long piece of work."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Report:
    """How far a stage is; `metrics` where something was measured, `said` where there is something to know."""

    stage: str
    done: float
    total: float
    note: str = ""
    metrics: dict[str, float] | None = None
    said: str = ""
    loss: float | None = None  # of the last step of training
