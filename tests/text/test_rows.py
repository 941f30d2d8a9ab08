import numpy as np

from polyseme.text.chunks import Chunk
from polyseme.text.rows import RowWriter, rows_of


def lengths(string):
    """A word's id is its length; a sentence ends with a full stop."""
    words = string.split()
    ends = [place for place, word in enumerate(words, start=1) if word.endswith(".") or place == len(words)]
    return [len(word) for word in words], ends


def written(folder, *chunks):
    folder.mkdir()
    with RowWriter(folder) as writer:
        for chunk in chunks:
            writer.append(rows_of(chunk, lengths))
    arrays = [np.load(folder / f"{name}.npy").tolist() for name in ("ids", "sentences", "documents")]
    assert (writer.n_ids, writer.n_sentences, writer.n_documents) == tuple(
        len(array) - more for array, more in zip(arrays, (0, 1, 1), strict=True)
    )
    return arrays


def test_sentences_and_documents_begin_where_their_offsets_say(tmp_path):
    chunk = Chunk(["a bb. ccc", "d", "ee."], [2, 3], 0)
    assert written(tmp_path / "a", chunk) == [[1, 3, 3, 1, 3], [0, 2, 3, 4, 5], [0, 3, 4]]


def test_a_document_may_go_on_in_the_next_chunk(tmp_path):
    whole = written(tmp_path / "a", Chunk(["a bb.", "ccc", "d"], [2, 3], 0))
    parted = written(tmp_path / "b", Chunk(["a bb."], [], 0), Chunk([], [], 0), Chunk(["ccc", "d"], [1, 2], 0))
    assert parted == whole


def test_a_document_without_words_is_none(tmp_path):
    empty = Chunk(["", "a", "", "", "b", ""], [1, 3, 4, 5, 6], 0)
    assert written(tmp_path / "a", Chunk([""], [1], 0), empty) == [[1, 1], [0, 1, 2], [0, 1, 2]]


def test_bytes_of_text_are_counted():
    assert rows_of(Chunk(["ab", "é漢"], [2], 7), lengths).n_bytes == 7
