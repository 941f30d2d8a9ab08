"""How much one client may ask for, and for how long."""

from dataclasses import dataclass
from math import inf

from polyseme.errors import Mistake


@dataclass(frozen=True)
class Limits:
    """Every limit of the server; each is a flag of `polyseme serve` and is shown by /info."""

    body_bytes: int = 8 << 20  # of a request, counted while it comes in
    inputs: int = 1024  # texts of a request
    tokens_per_input: int = 16_384
    waiting_tokens: int = 65_536  # of all requests that are not computed yet; beyond it they are refused with 429
    reply_numbers: int = 4_000_000  # in a reply: about 80 MB of JSON
    deadline: float = 60.0  # seconds from a request's arrival to its answer
    receive: float = 20.0  # seconds for a request to come in, and for a reply to be taken
    idle: float = 15.0  # seconds a connection may be kept without a request
    head_bytes: int = 64 << 10  # of the request line and the headers
    connections: int = 1024
    drain: float = 30.0  # seconds to finish after SIGTERM
    cut_long: bool = True  # whether a text longer than the model reads is cut off where the request does not say

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not isinstance(value, bool) and not 0 < value < inf:
                raise Mistake(f"{name}={value} is no limit. Give a number above 0.")
        if self.drain < 2:
            raise Mistake(f"drain={self.drain:g} seconds are too few to end in good order. Give 2 or more.")
