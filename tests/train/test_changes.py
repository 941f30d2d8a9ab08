"""Settings as people write them."""

import pytest

from polyseme.errors import Mistake
from polyseme.train.changes import change


@pytest.mark.parametrize(
    ("text", "value"),
    [("a=1", 1), ("a=null", None), ("a=true", True), ("a=word", "word"), ("a=", ""), ("a=b=c", "b=c"), ("a=[1", "[1")],
)
def test_a_value_is_json_or_else_text(text, value):
    assert change(text) == ("a", value)


def test_a_name_alone_is_told():
    with pytest.raises(Mistake, match="NAME=VALUE"):
        change("epochs")
