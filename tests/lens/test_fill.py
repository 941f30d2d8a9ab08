import math
from dataclasses import replace

import pytest
import torch

from polyseme.encoders.awd_pair import pair
from polyseme.errors import Mistake
from polyseme.formats import load
from polyseme.lens.fill import fill
from polyseme.text.characters import MARKERS
from polyseme.text.marks import FAKE, SPECIAL
from polyseme.text.words import to_text


def test_berts_pieces_and_their_chances_are_those_of_transformers(bert, theirs):
    import transformers

    model, tokenizer = theirs
    oracle = transformers.pipeline("fill-mask", model=model, tokenizer=tokenizer, top_k=7)
    for text in ["The [MASK] in the wall", "[MASK]", "He was [MASK]high on crack, [MASK] [MASK].", "un[MASK]able"]:
        wanted = oracle(text)
        wanted = wanted if isinstance(wanted[0], list) else [wanted]
        fillings = fill(bert, text, n=7)
        assert len(fillings) == len(wanted) == text.count("[MASK]")
        for filling, best in zip(fillings, wanted, strict=True):
            assert filling.ways.keys() == {"both"}
            found = filling.ways["both"]
            assert [piece for piece, _ in found] == tokenizer.convert_ids_to_tokens([one["token"] for one in best])
            assert [chance for _, chance in found] == pytest.approx([one["score"] for one in best], abs=1e-5)


def test_a_piece_that_goes_on_with_a_word_is_shown_as_such(bert):
    (filling,) = fill(bert, "The [MASK]", n=bert.tokenizer.n_pieces)
    pieces = [piece for piece, _ in filling.ways["both"]]
    assert any(piece.startswith("##") for piece in pieces)
    assert sum(chance for _, chance in filling.ways["both"]) == pytest.approx(1, abs=1e-5)


def test_in_a_long_text_a_mask_reads_what_is_around_it(bert, theirs, sentences):
    model, tokenizer = theirs
    text = " ".join(sentences[:12]) + " [MASK] " + " ".join(sentences[12:20]) + " [MASK]"
    ids = tokenizer(text, add_special_tokens=False, truncation=False)["input_ids"]
    room = bert.tokenizer.window - 2
    fillings = fill(bert, text, n=3)
    masks = [place for place, piece in enumerate(ids) if piece == tokenizer.mask_token_id]
    for filling, mask in zip(fillings, masks, strict=True):
        start = min(mask - room // 2, len(ids) - room)
        around = [tokenizer.cls_token_id, *ids[start : start + room], tokenizer.sep_token_id]
        with torch.inference_mode():
            wanted = model(torch.tensor([around])).logits[0, 1 + mask - start].softmax(0).topk(3)
        assert [chance for _, chance in filling.ways["both"]] == pytest.approx(wanted.values.tolist(), abs=1e-5)
        assert [piece for piece, _ in filling.ways["both"]] == tokenizer.convert_ids_to_tokens(wanted.indices.tolist())


def test_a_vocabulary_without_the_mask_is_told(bert):
    tokenizer = replace(bert.tokenizer, settings={**bert.tokenizer.settings, "mask_token": "[GAP]"})
    with pytest.raises(Mistake, match=r"has no \[GAP\].*never learned to find masked words, so it cannot fill a mask"):
        fill(replace(bert, tokenizer=tokenizer), "The [MASK]")


def test_a_text_without_a_mask_is_told(bert):
    with pytest.raises(Mistake, match=r"There is no \[MASK\] in 'The crack'"):
        fill(bert, "The crack")


def by_hand(model, pieces, n=3):
    """What one direction expects behind these pieces, marks left out."""
    ids = torch.tensor([model.tokenizer.ids[piece] for piece in pieces])
    batch = model.tokenizer.encode([to_text("")])
    batch = replace(batch, ids=ids, offsets=torch.tensor([0, len(ids)]))
    encoder = model.encoder.eval()
    with torch.inference_mode():
        chances = model.lm(encoder(batch).layers[-1][-1:], encoder)[0].softmax(0)
    words = model.tokenizer.words
    found = [(words[number], float(chances[number])) for number in chances.argsort(descending=True)]
    return [one for one in found if one[0] not in (*SPECIAL, FAKE)][:n]


def assert_same(found, wanted):
    assert [word for word, _ in found] == [word for word, _ in wanted]
    assert [chance for _, chance in found] == pytest.approx([chance for _, chance in wanted], abs=1e-6)


def test_an_awd_lstm_fills_from_what_it_read_before_the_mask(awd_lstm):
    (forward,) = fill(awd_lstm(), "The film [MASK] great", n=3)
    assert forward.ways.keys() == {"forward"}
    assert_same(forward.ways["forward"], by_hand(awd_lstm(), ["xxbos", "xxmaj", "the", "film"]))
    (backward,) = fill(awd_lstm(reverse=True), "The film [MASK] GREAT", n=3)
    assert backward.ways.keys() == {"backward"}
    assert_same(backward.ways["backward"], by_hand(awd_lstm(reverse=True), ["xxbos", "great", "xxup"]))


def test_nothing_need_stand_before_or_behind_a_mask(awd_lstm):
    both = pair(awd_lstm(), awd_lstm(reverse=True))
    (filling,) = fill(both, "[MASK]", n=3)
    assert_same(filling.ways["forward"], by_hand(awd_lstm(), ["xxbos"]))
    assert_same(filling.ways["backward"], by_hand(awd_lstm(reverse=True), ["xxbos"]))


def test_of_several_masks_the_others_are_unknown_words(awd_lstm):
    _, second = fill(awd_lstm(), "the [MASK] was [MASK]", n=3)
    assert_same(second.ways["forward"], by_hand(awd_lstm(), ["xxbos", "the", "xxunk", "was"]))


def shares(words, vocabulary):
    """Zipf's law: log((rank + 2) / (rank + 1)), but for a factor."""
    return [math.log1p(1 / (vocabulary.index(word) + 1)) for word in words]


def test_a_pair_multiplies_what_its_directions_say_and_counts_frequency_once(awd_lstm):
    (filling,) = fill(pair(awd_lstm(), awd_lstm(reverse=True)), "the film was [MASK] great .", n=100)
    assert list(filling.ways) == ["forward", "backward", "both"]
    words = [word for word, _ in filling.ways["both"]]
    assert sorted(words) == [".", "film", "great", "not", "the", "was"]
    forward, backward = dict(filling.ways["forward"]), dict(filling.ways["backward"])
    often = shares(words, awd_lstm().tokenizer.words)
    products = [forward[word] * backward[word] / share for word, share in zip(words, often, strict=True)]
    scale = filling.ways["both"][0][1] / products[0]
    assert [chance for _, chance in filling.ways["both"]] == pytest.approx([scale * p for p in products], rel=1e-4)


def test_a_model_in_training_stays_in_training_and_drops_nothing_here(awd_lstm):
    model = awd_lstm()
    model.encoder.train()
    assert fill(model, "the film [MASK]") == fill(model, "the film [MASK]")
    assert model.encoder.training


def test_an_elmo_fills_from_before_and_behind_and_sees_no_mask(elmo):
    first, second = fill(elmo, "the [MASK] in [MASK] wall", n=100)
    batch = elmo.tokenizer.encode([to_text("the zebra in qwerty wall".split())])  # whatever stands there
    with torch.inference_mode():
        ahead, back = (elmo.lm(half).softmax(1) for half in elmo.encoder(batch).layers[-1].chunk(2, 1))
    words = elmo.tokenizer.vocabulary
    assert dict(first.ways["forward"]) == pytest.approx(
        {word: float(ahead[1, number]) for number, word in enumerate(words) if word not in MARKERS}, abs=1e-6
    )
    assert dict(second.ways["backward"]) == pytest.approx(
        {word: float(back[5, number]) for number, word in enumerate(words) if word not in MARKERS}, abs=1e-6
    )
    both = [word for word, _ in first.ways["both"]]
    products = [
        dict(first.ways["forward"])[word] * dict(first.ways["backward"])[word] / share
        for word, share in zip(both, shares(both, list(words)), strict=True)
    ]
    assert products == sorted(products, reverse=True)


def test_what_both_directions_say_is_no_frequent_word():
    (filling,) = fill(load("elmo-starter"), "The film was very [MASK], and I liked it a lot.", n=3)
    assert {"good", "well", "entertaining"} & {word for word, _ in filling.ways["both"]}
    (filling,) = fill(load("elmo-starter"), "She opened the [MASK] and looked out of the window.", n=3)
    assert "door" in [word for word, _ in filling.ways["both"]]
