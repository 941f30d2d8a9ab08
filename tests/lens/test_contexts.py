import numpy as np
import pytest

from polyseme.errors import Mistake
from polyseme.lens import contexts
from polyseme.lens.contexts import nearest_words, sampled
from polyseme.text.mentions import mentions
from polyseme.text.words import to_text

TEXTS = ["the crack in the wall .", "a bank , the river", "spring came early at night", "", "he was high , crack ."]


def test_the_nearest_words_are_those_of_brute_force(any_encoder, monkeypatch):
    asked = mentions(["the crack in the wall ."], "crack")[0]
    own = any_encoder.embed([asked.text.string])[0][asked.place]
    best = {}
    for text in TEXTS[1:3] + TEXTS[4:]:
        rows = any_encoder.embed([text])[0]
        cosines = rows @ own / np.maximum(np.linalg.norm(rows, axis=1), 1e-12) / np.linalg.norm(own)
        best[text] = (cosines.max(), to_text(text).words[int(cosines.argmax())])
    wanted = sorted(best.values(), reverse=True)[:2]
    monkeypatch.setattr(contexts, "_WINDOW", 2)
    told = []
    found = nearest_words(any_encoder, asked, list(map(to_text, TEXTS)), n=2, tell=lambda *how: told.append(how))
    assert told == [(2, 5), (4, 5), (5, 5)]
    assert nearest_words(any_encoder, asked, map(to_text, TEXTS), n=2) == found
    assert [near.mention.word for near in found] == [word for _, word in wanted]
    assert [near.cosine for near in found] == pytest.approx([cosine for cosine, _ in wanted], abs=1e-5)


def test_a_layer_that_is_not_there_is_told(tiny_bert):
    with pytest.raises(Mistake, match="layer=5 was asked for; this encoder has the layers 0"):
        nearest_words(tiny_bert, mentions(["a crack"], "crack")[0], [], layer=5)


def test_paragraphs_of_a_corpus_are_chosen_by_the_seed(tmp_path):
    (tmp_path / "text.txt").write_text("\n\n".join(f"Wall {n} stood. It fell." for n in range(100)))
    found = sampled([tmp_path], 20)
    assert len(found) == 40
    assert found[1].words == ["It", "fell", "."]
    numbers = [int(text.words[1]) for text in found[::2]]
    assert numbers == sorted(set(numbers))
    assert found == sampled([tmp_path], 20) != sampled([tmp_path], 20, seed=1)
    assert len(sampled([tmp_path], 10_000)) == 200


def test_a_text_that_comes_again_is_one_answer(tiny_bert, monkeypatch):
    monkeypatch.setattr(contexts, "_WINDOW", 2)
    texts = [to_text(string) for string in ("the wall", "a crack", "the wall", "the wall", "a film")]
    found = nearest_words(tiny_bert, mentions(["a crack here"], "crack")[0], texts, n=5)
    assert sorted(near.mention.text.string for near in found) == ["a crack", "a film", "the wall"]
