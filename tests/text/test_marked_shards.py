"""A corpus of pieces: the same pieces that the tokenizer gives each document."""

import numpy as np
import pytest

from polyseme.errors import BadFile
from polyseme.text import marked_shards, shards
from polyseme.text.marked import MarkedWords
from polyseme.text.marks import SPECIAL, vocabulary
from polyseme.text.words import to_text

DOCUMENTS = [
    "The well-known CAT sat soooo long. It did.\nA second paragraph and/or more!",
    "One.",
    "the cat cannot, and the dog <unk> can't.",
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    (folder / "text.txt").write_text("\n\n".join(DOCUMENTS) + "\n")
    return shards.build(folder / "text.txt", folder / "out", processes=1)


def written(corpus, tokenizer, folder):
    documents = corpus.sentences[corpus.documents]
    marked_shards.write(folder, "all", corpus.ids, documents, marked_shards.mark(corpus.types), tokenizer)
    return marked_shards.open(folder, "all")


def test_each_document_has_the_pieces_that_the_tokenizer_gives_it(corpus, tmp_path):
    tokenizer = MarkedWords(vocabulary(map(to_text, DOCUMENTS), min_count=1)[:-4])  # some are unknown
    pieces = written(corpus, tokenizer, tmp_path)
    batch = tokenizer.encode([to_text(document) for document in DOCUMENTS])
    assert pieces.ids.tolist() == batch.ids.tolist()
    assert pieces.documents.tolist() == batch.offsets.tolist()
    assert tokenizer.ids["xxunk"] in pieces.ids


def test_blocks_of_any_size_give_the_same_files(corpus, tmp_path, monkeypatch):
    tokenizer = MarkedWords(vocabulary(map(to_text, DOCUMENTS), min_count=1))
    whole = written(corpus, tokenizer, tmp_path)
    monkeypatch.setattr(marked_shards, "_WORDS", 3)
    monkeypatch.setattr(marked_shards, "_TYPES", 4)
    small = tmp_path / "small"
    small.mkdir()
    parts = written(corpus, tokenizer, small)
    assert np.array_equal(parts.ids, whole.ids)
    assert np.array_equal(parts.documents, whole.documents)


def test_the_number_of_processes_changes_nothing(corpus, monkeypatch):
    monkeypatch.setattr(marked_shards, "_TYPES", 4)
    one, two = (marked_shards.mark(corpus.types, processes) for processes in (1, 2))
    assert one.pieces == two.pieces
    assert np.array_equal(one.numbers, two.numbers)
    assert np.array_equal(one.offsets, two.offsets)


@pytest.mark.parametrize(("max_words", "min_count"), [(60_000, 1), (60_000, 2), (12, 1), (11, 2)])
def test_the_vocabulary_is_that_of_the_texts(corpus, max_words, min_count):
    found = marked_shards.mark(corpus.types).vocabulary(corpus.counts, max_words, min_count)
    assert found == vocabulary(map(to_text, DOCUMENTS), max_words, min_count)
    assert found[: len(SPECIAL)] == list(SPECIAL)


def test_files_that_do_not_belong_together_are_refused(corpus, tmp_path):
    written(corpus, MarkedWords(SPECIAL), tmp_path)
    np.save(tmp_path / "all_documents.npy", np.array([0, 2]))
    with pytest.raises(BadFile, match="wanted uint32"):
        marked_shards.open(tmp_path, "all")
