"""Small encoders that come with polyseme: each a folder of ours with its weights in 8 bits and a card, README.md.

All were pretrained by `make starters` with the recipe of their name; the card has the text, the curve and the cost.
"""

from pathlib import Path

_HERE = Path(__file__).parent


def starters() -> dict[str, Path]:
    """The folders by name, in the order of their history."""
    names = ("static-starter", "elmo-starter", "ulmfit-starter", "bert-starter")
    return {name: _HERE / name for name in names if (_HERE / name / "config.json").is_file()}
