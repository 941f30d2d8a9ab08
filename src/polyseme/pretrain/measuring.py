"""How often a language model is measured on the text held out while it learns."""

from polyseme.pretrain.recipes import NeuralRecipe

_TIMES = 10  # in a run of a single epoch, at the most
_DISTANCE = 10  # words learned from between two measurements, for each that is held out: the full softmax is dear


def steps_between(recipe: NeuralRecipe, steps_an_epoch: int, words_a_step: int, n_held_out: int) -> int:
    """Once an epoch; a run of few epochs is measured within them too, so that it has a curve.

    >>> steps_between(NeuralRecipe(family="elmo", epochs=10), 1000, words_a_step=640, n_held_out=1000)
    1000
    >>> steps_between(NeuralRecipe(family="elmo", epochs=1), 1000, words_a_step=640, n_held_out=1000)
    100
    >>> steps_between(NeuralRecipe(family="elmo", epochs=1), 1000, words_a_step=640, n_held_out=30_000)
    500
    """
    if recipe.optimizer == "nt_asgd":
        return steps_an_epoch  # its patience is counted in measurements, one an epoch
    affordable = steps_an_epoch * words_a_step // (_DISTANCE * max(1, n_held_out))
    return -(-steps_an_epoch // max(1, min(_TIMES // recipe.epochs, affordable)))
