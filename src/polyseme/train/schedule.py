"""Learning rates as pure functions of the step: each gives a factor for the highest rate."""


def warm_up_linear(step: int, n_steps: int, warm_up: float = 0.1) -> float:
    """Up over the first part (a fraction of the steps, or a number of them), then straight down to zero (BERT).

    >>> [warm_up_linear(step, 10, warm_up=2) for step in (0, 1, 2, 6, 9)]
    [0.5, 1.0, 1.0, 0.5, 0.125]
    """
    rising = warm_up * n_steps if warm_up < 1 else warm_up
    if step < rising:
        return (step + 1) / rising if rising >= 1 else 1.0
    return max(0.0, (n_steps - step) / max(1.0, n_steps - rising))


def slanted_triangular(step: int, n_steps: int, cut: float = 0.1, ratio: float = 32) -> float:
    """A short rise and a long fall, to 1/ratio (ULMFiT, equation 3).

    The equation's fall is as long as the whole peak's step says: where n_steps * cut is no whole number it would end
    early and go on below zero. Here it stays at 1/ratio then.
    """
    peak = max(1, int(n_steps * cut))
    p = step / peak if step < peak else max(0.0, 1 - (step - peak) / (peak * (1 / cut - 1)))
    return (1 + p * (ratio - 1)) / ratio
