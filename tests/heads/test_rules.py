from itertools import pairwise, product

import pytest
import torch

from polyseme.heads.rules import span_rules
from polyseme.tasks.tags import first_break

IOB2 = ["B-PER", "O", "I-LOC", "B-LOC", "I-PER"]
IOBES = ["O", "S-A", "B-A", "I-A", "E-A", "B-B", "E-B"]


@pytest.mark.parametrize("tags, scheme", [(IOB2, "IOB2"), (IOBES, "IOBES")])
def test_what_is_allowed_is_what_the_scheme_allows(tags, scheme):
    rules = span_rules(tags)
    for length in (1, 2, 3):
        for path in product(range(len(tags)), repeat=length):
            steps = [rules.follow[one, other] for one, other in pairwise(path)]
            allowed = bool(torch.stack([rules.start[path[0]], *steps, rules.end[path[-1]]]).all())
            assert allowed == (first_break([tags[tag] for tag in path], scheme) is None)


@pytest.mark.parametrize(
    "tags",
    [
        ["NOUN", "VERB"],
        ["O", "X-PER"],
        ["O", "B-"],
        ["B", "I", "O"],  # no types: perhaps not spans at all
        ["O", "I-PER", "I-LOC", "B-LOC"],  # IOB1, where I-PER begins a span
        ["B-A", "E-A"],  # no tag for a lone word
    ],
)
def test_tags_of_no_whole_scheme_have_no_rules(tags):
    assert span_rules(tags) is None
