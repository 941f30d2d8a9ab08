import pytest
import torch

from polyseme.adapt.inputs import can_join, pairs_in, texts_in
from polyseme.adapt.order import Order
from polyseme.errors import Mistake

TEXTS = ["A crack in the wall .", "Spring .", "The bank of the river was high .", "Bats fly ."]


def test_examples_taken_are_those_asked_for_with_texts_numbered_anew(tiny_bert):
    inputs = texts_in(tiny_bert, TEXTS)
    batch = inputs.take(torch.tensor([1, 3]))
    alone = tiny_bert.tokenizer.encode([_text(TEXTS[1]), _text(TEXTS[3])])
    assert batch.ids.tolist() == alone.ids.tolist()
    assert batch.texts.tolist() == [0, 1]


def test_pairs_read_apart_keep_their_two_texts_together(tiny_bert):
    inputs = pairs_in(tiny_bert, [(TEXTS[0], TEXTS[1]), (TEXTS[2], TEXTS[3])], "apart")
    assert (inputs.n_examples, inputs.n_each) == (2, 2)
    assert inputs.take(torch.tensor([1])).texts.tolist() == [0, 1]


def test_pairs_are_joined_only_by_bert(tiny_bert, tiny_elmo):
    assert can_join(tiny_bert)
    assert pairs_in(tiny_bert, [(TEXTS[0], TEXTS[1])], "joined").batch.n_sequences == 1
    with pytest.raises(Mistake, match="is for BERT"):
        pairs_in(tiny_elmo, [(TEXTS[0], TEXTS[1])], "joined")


def test_long_texts_keep_their_first_windows(tiny_bert):
    long = " ".join(["word"] * 300)
    assert texts_in(tiny_bert, [long, "short"]).batch.n_sequences > 3
    cut = texts_in(tiny_bert, [long, "short"], most_windows=1)
    assert cut.batch.texts.tolist() == [0, 1]


def test_the_digest_tells_texts_apart(tiny_bert):
    one = texts_in(tiny_bert, TEXTS).digest()
    assert one == texts_in(tiny_bert, list(TEXTS)).digest()
    assert one != texts_in(tiny_bert, TEXTS[::-1]).digest()


def test_every_epoch_has_every_example_once_and_each_epoch_its_own_order():
    order = Order(torch.randint(1, 50, (101,)), batch_size=8, seed=3)
    epochs = [torch.cat([order.examples(e * 13 + s) for s in range(13)]) for e in range(2)]
    assert order.steps_an_epoch == 13
    assert all(sorted(epoch.tolist()) == list(range(101)) for epoch in epochs)
    assert epochs[0].tolist() != epochs[1].tolist()


def test_batches_hold_examples_of_like_length():
    lengths = torch.randint(1, 500, (4096,))
    order = Order(lengths, batch_size=32, seed=1)
    spread = [int(lengths[order.examples(step)].max() - lengths[order.examples(step)].min()) for step in range(20)]
    assert sorted(spread)[len(spread) // 2] < 50


def _text(string):
    from polyseme.text.words import to_text

    return to_text(string)
