import math
from dataclasses import replace

import pytest
import torch

from polyseme.encoders.awd_pair import pair
from polyseme.errors import Mistake
from polyseme.lens.score import Score, score, total
from polyseme.text.words import to_text
from polyseme.types import Text

TEXTS = ["the film was not great .", "The FILM", "", "the zebra was great"]


def naive(theirs, string, within_word=False):
    """One piece masked after another, each in a pass of its own."""
    model, tokenizer = theirs
    encoded = tokenizer(string, return_tensors="pt", truncation=False)
    ids, words, nll = encoded["input_ids"][0], encoded.word_ids(), 0.0
    for place in range(1, len(ids) - 1):
        masked = ids.clone()
        masked[place] = tokenizer.mask_token_id
        if within_word:
            later = [p for p in range(place + 1, len(ids) - 1) if words[p] == words[place]]
            masked[later] = tokenizer.mask_token_id
        with torch.inference_mode():
            nll -= float(model(masked[None]).logits[0, place].log_softmax(0)[ids[place]])
    return nll, len(ids) - 2


@pytest.mark.parametrize("within_word", [False, True])
def test_berts_scores_are_those_of_masking_one_piece_at_a_time(bert, theirs, sentences, within_word):
    short = [text for text in sentences if len(theirs[1](text)["input_ids"]) <= bert.tokenizer.window][:8]
    texts = [*short[:4], "", *short[4:]]
    for text, found in zip(texts, score(bert, texts, within_word), strict=True):
        nll, n_pieces = naive(theirs, text, within_word)
        assert found.text.string == text
        assert found.n_predicted == n_pieces
        assert found.nll == {"pseudo": pytest.approx(nll, abs=1e-4)}
        assert found.perplexity() == pytest.approx(math.exp(nll / max(1, n_pieces)), rel=1e-4)


def test_masking_the_rest_of_a_word_changes_the_score_of_words_in_pieces_only(bert):
    whole = [word for word in bert.tokenizer.backend.get_vocab() if word.isalpha()][:5]
    in_pieces = "qwertyqwerty"
    one, other = (list(score(bert, [" ".join(whole), in_pieces], within_word)) for within_word in (False, True))
    assert one[0].nll["pseudo"] == pytest.approx(other[0].nll["pseudo"], abs=1e-5)
    assert abs(one[1].nll["pseudo"] - other[1].nll["pseudo"]) > 1e-3


def test_every_piece_of_a_long_text_is_scored_once_in_the_window_that_owns_it(bert, sentences):
    long = " \x01\u200b ".join(sentences)
    (found,) = score(bert, [long])
    whole = bert.tokenizer.with_window(100_000).encode([to_text(long)])
    assert found.n_predicted == len(whole.ids) - 2
    windows = bert.tokenizer.encode([to_text(long)])
    assert windows.n_sequences > 5
    counted = windows.ids[windows.owned]
    assert counted.tolist() == whole.ids.tolist()
    assert math.isfinite(found.nll["pseudo"])


def test_a_piece_of_no_word_is_scored_too(bert):
    words = to_text("the crack in the wall")
    wordless = replace(words, spans=words.spans[1:-1])  # nobody calls the first and the last a word
    one, other = score(bert, [words, wordless])
    assert one.nll["pseudo"] == pytest.approx(other.nll["pseudo"], abs=1e-5)
    assert one.n_predicted == other.n_predicted


def test_the_company_of_other_texts_changes_nothing(bert, sentences):
    texts = sentences[:6]
    together = [one.nll["pseudo"] for one in score(bert, texts)]
    alone = [next(score(bert, [text])).nll["pseudo"] for text in texts]
    assert together == pytest.approx(alone, abs=1e-4)


def test_unknown_pieces_are_counted(bert):
    (found,) = score(bert, ["the ☃ ☃"])
    assert found.n_unknown == 2


def test_bits_a_byte_come_from_the_sum(bert):
    scores = list(score(bert, ["the crack", "a wall"]))
    both = total(scores)
    assert both.n_predicted == sum(one.n_predicted for one in scores)
    assert both.bits_per_byte() == pytest.approx(sum(one.nll["pseudo"] for one in scores) / math.log(2) / 16)


def by_hand(model, string):
    """The sum over all pieces but the first, one text alone."""
    encoder, batch = model.encoder.eval(), model.tokenizer.encode([to_text(string)])
    with torch.inference_mode():
        logs = model.lm(encoder(batch).layers[-1], encoder).log_softmax(1)
    return -sum(float(logs[place - 1, batch.ids[place]]) for place in range(1, len(batch.ids)))


def test_an_awd_lstms_scores_are_those_of_its_output_layer(awd_lstm):
    models = {"forward": awd_lstm(), "backward": awd_lstm(reverse=True)}
    both = list(score(pair(*models.values()), TEXTS))
    for way, model in models.items():
        for text, found, paired in zip(TEXTS, score(model, TEXTS), both, strict=True):
            wanted = by_hand(model, text)
            assert found.nll == {way: pytest.approx(wanted, abs=1e-4)}
            assert paired.nll[way] == pytest.approx(wanted, abs=1e-4)
            assert found.n_predicted == paired.n_predicted == len(model.tokenizer.encode([to_text(text)]).ids) - 1
    assert [one.n_unknown for one in both] == [0, 0, 0, 1]


def test_only_bert_masks_within_words(awd_lstm):
    with pytest.raises(Mistake, match="within_word=True is for BERT; this is awd_lstm"):
        next(score(awd_lstm(), ["the"], within_word=True))


def test_an_elmos_scores_are_those_of_its_output_layer_both_ways(elmo):
    texts = ["the crack in the wall .", "", "a zebra"]
    for text, found in zip(texts, score(elmo, texts), strict=True):
        batch = elmo.tokenizer.encode([to_text(text)])  # begin, words, end
        numbers = elmo.tokenizer.numbers(elmo.tokenizer.pieces(batch))
        with torch.inference_mode():
            ahead, back = (elmo.lm(half).log_softmax(1) for half in elmo.encoder(batch).layers[-1].chunk(2, 1))
        last = len(numbers) - 1
        forward = -sum(float(ahead[place - 1, numbers[place]]) for place in range(1, last + 1))
        backward = -sum(float(back[place + 1, numbers[place]]) for place in range(last))
        assert found.nll == {"forward": pytest.approx(forward, abs=1e-4), "backward": pytest.approx(backward, abs=1e-4)}
        assert (found.n_predicted, found.n_unknown) == (last, text.count("zebra"))


def test_a_model_that_has_gone_astray_finds_a_text_infinitely_unlikely():
    assert Score(Text("a", ()), {"pseudo": 800.0}, 1, 0).perplexity() == math.inf
