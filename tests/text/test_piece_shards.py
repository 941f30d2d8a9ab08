import json
import os

import numpy as np
import pytest

from polyseme.errors import BadFile, Mistake
from polyseme.text import piece_shards, shards
from polyseme.text.piece_shards import BEGINS
from polyseme.text.wordpiece import WordPiece

TEXT = """The cats sat. They weren't sleeping! A well-read dog (Dr. Who's) barked…
A second paragraph, of the same document.

Another document. \u200f
\u200b

Naïve café-owners use 漢字 and 😀. The end
"""


@pytest.fixture(scope="module")
def tokenizer():
    return WordPiece.train([TEXT] * 3, n_pieces=90)


def written(folder, content=TEXT):
    path = folder / "text.txt"
    path.write_text(content)
    return path


def test_sentences_and_documents_are_those_of_the_word_shards(tmp_path, tokenizer):
    path = written(tmp_path)
    pieces = piece_shards.build(path, tmp_path / "pieces", tokenizer, processes=1)
    words = shards.build(path, tmp_path / "words", processes=1)
    assert np.array_equal(pieces.documents, words.documents)
    assert pieces.meta.n_sentences == words.meta.n_sentences
    assert pieces.meta.n_words == words.meta.n_words
    begins = (pieces.ids & BEGINS) > 0
    assert np.array_equal(np.append(0, begins.cumsum())[pieces.sentences], words.sentences)


def test_special_pieces_that_are_written_in_a_text_are_plain_text(tmp_path, tokenizer):
    path = written(tmp_path, "The cats [MASK] sat [SEP] [PAD] .")
    pieces = piece_shards.build(path, tmp_path / "pieces", tokenizer, processes=1)
    found = {tokenizer.piece(number) for number in (pieces.ids & ~BEGINS).tolist()}
    assert not found & {"[MASK]", "[SEP]", "[PAD]", "[CLS]"}
    assert pieces.meta.n_words == 13


def test_the_pieces_of_each_word_are_its_own(tmp_path, tokenizer):
    path = written(tmp_path, TEXT.replace("weren't", "were"))  # BERT's own words are weren ' t
    pieces = piece_shards.build(path, tmp_path / "pieces", tokenizer, processes=1)
    words = shards.build(path, tmp_path / "words", processes=1)
    spelled = [words.types[number] for number in words.ids.tolist()]
    starts = np.flatnonzero(pieces.ids & BEGINS)
    groups = np.split((pieces.ids & ~BEGINS).tolist(), starts[1:])
    for word, group in zip(spelled, groups, strict=True):
        alone = tokenizer.backend.encode(word, add_special_tokens=False).ids
        assert group.tolist() == alone, word


def test_processes_and_chunks_change_nothing(tmp_path, tokenizer):
    path = written(tmp_path, TEXT * 20)
    built = [
        piece_shards.build(path, tmp_path / str(number), tokenizer, processes=processes, chunk_characters=size)
        for number, (processes, size) in enumerate([(1, 10**6), (1, 50), (2, 300)])
    ]
    for other in built[1:]:
        for name in ("ids", "sentences", "documents"):
            assert np.array_equal(getattr(built[0], name), getattr(other, name)), name
        assert other.meta == built[0].meta


def test_workers_are_forked_in_peace(tmp_path, tokenizer, capfd, monkeypatch):
    monkeypatch.delenv("TOKENIZERS_PARALLELISM", raising=False)
    tokenizer.backend.encode_batch(["a b"] * 2000)  # with threads
    piece_shards.build(written(tmp_path, TEXT * 20), tmp_path / "pieces", tokenizer, processes=2, chunk_characters=200)
    assert "TOKENIZERS_PARALLELISM" not in os.environ
    assert "parallelism" not in capfd.readouterr().err


def test_text_that_is_split_already_keeps_its_words_and_lines(tmp_path, tokenizer):
    path = written(tmp_path, "do n't stop . Now\nthe <unk> end\n\nThe cats\n")
    found = piece_shards.build(path, tmp_path / "pieces", tokenizer, split="spaces", processes=1)
    begins = np.append(0, ((found.ids & BEGINS) > 0).cumsum())
    assert begins[found.sentences].tolist() == [0, 5, 8, 10]
    assert found.documents.tolist() == [0, 2, 3]


def test_the_tokenizer_is_kept_beside_the_pieces(tmp_path, tokenizer):
    found = piece_shards.build(written(tmp_path), tmp_path / "pieces", tokenizer, processes=1)
    assert found.tokenizer.backend.to_str() == tokenizer.backend.to_str()
    assert piece_shards.open(tmp_path / "pieces").tokenizer.window == tokenizer.window


def test_mistakes_and_damage_are_told(tmp_path, tokenizer):
    with pytest.raises(Mistake, match="split='words'"):
        piece_shards.build(written(tmp_path), tmp_path / "pieces", tokenizer, split="words")
    with pytest.raises(Mistake, match="No word in"):
        piece_shards.build(written(tmp_path, "\u200b"), tmp_path / "pieces", tokenizer, processes=1)
    assert not (tmp_path / "pieces").exists()
    piece_shards.build(written(tmp_path), tmp_path / "pieces", tokenizer, processes=1)
    meta = json.loads((tmp_path / "pieces" / "meta.json").read_text())
    (tmp_path / "pieces" / "meta.json").write_text(json.dumps(meta | {"n_pieces": 5}))
    with pytest.raises(BadFile, match="Build the shards again"):
        piece_shards.open(tmp_path / "pieces")
    (tmp_path / "pieces" / "meta.json").write_text("{")
    with pytest.raises(BadFile, match="damaged"):
        piece_shards.open(tmp_path / "pieces")
