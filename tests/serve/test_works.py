import numpy as np
import pytest
import serving
import torch

pytest.importorskip("fastapi")
from polyseme.encoders.sentences import sentence_vectors
from polyseme.serve import pieces, works
from polyseme.serve.examples import encoded, examples, join, joined
from polyseme.text.words import to_text

TEXTS = [
    "the crack in the wall",
    "bats fly at night",
    "spring came early , he said .",
    "word " * 60,
    "a",
    "who visited London ? John loves Paris . " * 9,
    "the red river bank",
]


@pytest.fixture(scope="module", params=serving.FAMILIES)
def model(request):
    return serving.FAMILIES[request.param]()


def mixed(model, texts):
    """The texts as they come from several requests, taken together in another order, and that order."""
    parts = [texts[:2], texts[2:6], texts[6:]]
    some = [one for part in parts for one in examples(encoded(model, [to_text(text) for text in part]))]
    order = [4, 0, 6, 5, 2, 1, 3]
    return [some[place] for place in order], order


def test_inputs_of_several_requests_are_read_as_if_they_came_in_one(model):
    some, order = mixed(model, TEXTS)
    together = joined(some)
    whole = model.tokenizer.encode([to_text(TEXTS[place]) for place in order])
    assert together.n_examples == len(TEXTS)
    for name in ("offsets", "words", "n_words", "texts"):
        assert torch.equal(getattr(together.batch, name), getattr(whole, name)), name
    if whole.spellings is None:
        assert torch.equal(together.batch.ids, whole.ids)
    if whole.owned is not None:
        assert torch.equal(together.batch.owned, whole.owned)
    with torch.inference_mode():
        for one, other in zip(model.encoder(together.batch).layers, model.encoder(whole).layers, strict=True):
            torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-5)


def test_joining_one_batch_gives_that_batch(model):
    batch = model.tokenizer.encode([to_text("a crack")])
    assert join([batch]) is batch


@pytest.mark.parametrize("layers", ["top", 0])
def test_word_vectors_are_those_of_embed(model, layers):
    some, order = mixed(model, TEXTS)
    with torch.inference_mode():
        found = works.word_vectors(model, layers, "both", some)
    for place, vectors in zip(order, found, strict=True):
        np.testing.assert_allclose(vectors, model.embed([TEXTS[place]], layers=layers)[0], atol=1e-5)


def test_what_a_text_is_computed_with_does_not_change_its_vectors(model):
    some, _ = mixed(model, TEXTS)
    with torch.inference_mode():
        together = works.word_vectors(model, "top", "both", some)
        alone = [works.word_vectors(model, "top", "both", [one])[0] for one in some]
    assert all(serving.is_same(one, other) for one, other in zip(together, alone, strict=True))


def test_text_vectors_are_those_of_embed(model):
    some, order = mixed(model, TEXTS)
    with torch.inference_mode():
        found = works.text_vectors(model, some)
    wanted = model.embed(TEXTS, level="text")
    np.testing.assert_allclose(np.stack(found), wanted[order], atol=1e-5)


def test_chosen_words_have_the_vectors_of_every_layer(model):
    inputs = encoded(model, [to_text("the crack in the wall"), to_text("a word")])
    with torch.inference_mode():
        found = works.chosen_words(model, examples(inputs, [[1, 4], [1]]))
    for layer in range(len(model.encoder.widths)):
        one, other = model.embed(["the crack in the wall", "a word"], layers=layer)
        np.testing.assert_allclose(found[0][layer], one[[1, 4]], atol=1e-5)
        np.testing.assert_allclose(found[1][layer], other[[1]], atol=1e-5)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_sentence_vectors_are_those_of_the_encoder(pooling):
    model = serving.tiny_bert()
    model.provenance["sentence"] = {"pooling": pooling, "normalise": False}
    found = []
    with torch.inference_mode():
        for part in (TEXTS[:3], TEXTS[3:]):
            sequences = pieces.of_texts(model.tokenizer, part, model.tokenizer.window)
            found += works.sentence_vectors(model, pooling, examples(sequences.inputs))
    np.testing.assert_allclose(np.stack(found), sentence_vectors(model, TEXTS), atol=1e-5)


def test_a_long_text_keeps_its_beginning_or_its_end():
    tokenizer = serving.tiny_bert().tokenizer
    text = "the red river bank"
    whole = pieces.of_texts(tokenizer, [text], 32).inputs.batch.ids.tolist()
    assert pieces.of_texts(tokenizer, [text], 5).inputs.batch.ids.tolist() == [*whole[:4], whole[-1]]
    assert pieces.of_texts(tokenizer, [text], 5, "left").inputs.batch.ids.tolist() == [whole[0], *whole[-4:]]
    assert pieces.of_texts(tokenizer, [text], 5).n_pieces == [len(whole)]
    for ids in (whole, whole[1:-1]):
        assert pieces.of_ids(tokenizer, [ids], 32).inputs.batch.ids.tolist() == whole
