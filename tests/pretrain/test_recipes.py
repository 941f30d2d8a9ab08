"""Recipes and what can be changed in them."""

import pytest

from polyseme.errors import Mistake
from polyseme.pretrain import RECIPES, recipe


def test_every_recipe_is_itself_again_without_changes():
    for name, one in RECIPES.items():
        assert recipe(name) == one


def test_the_released_elmos_are_trained_as_in_the_paper():
    for name in ("elmo-small", "elmo-medium", "elmo-original"):
        made = recipe(name)
        assert (made.optimizer, made.rate, made.schedule, made.most_norm) == ("adagrad", 0.2, "constant", 10.0)
        assert (made.loss, made.n_samples, made.rows, made.unroll, made.reset) == ("sampled", 8192, 128, 20, 0.0)


def test_changes_reach_inner_settings():
    made = recipe("elmo-tiny", ["encoder.dropout=0.2", "epochs=3"])
    assert (made.encoder.dropout, made.epochs) == (0.2, 3)
    assert RECIPES["elmo-tiny"].encoder.dropout == 0.3


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("foo.bar=1", "foo holds no settings; those that do: encoder"),
        ("epochs.bar=1", "epochs holds no settings; those that do: encoder"),
        ("epoch=1", "Did you mean 'epochs'"),
        ("encoder.dropuot=1", "Did you mean 'dropout'"),
        ("epochs=0", "cannot have epochs=0"),
        ("encoder.dropout=2", "cannot have encoder.dropout=2"),
    ],
)
def test_what_cannot_be_set_is_told(change, problem):
    with pytest.raises(Mistake, match=problem):
        recipe("elmo-tiny", [change])


def test_a_recipe_that_is_not_there_is_told():
    with pytest.raises(Mistake, match="Did you mean 'elmo-tiny'"):
        recipe("elmo-tine")
