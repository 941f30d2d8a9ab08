import pytest

from polyseme.errors import Mistake
from polyseme.text import shards
from polyseme.text.vocab import Vocabulary


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "a.txt").write_text("a a a a b b b c c xxpad d xxpad xxpad e f g")
    return shards.build(tmp_path / "a.txt", tmp_path / "shards", processes=1, max_types=6)


def test_unknown_words_get_the_id_of_the_unknown_word():
    vocabulary = Vocabulary(("<s>", "<unk>", "the", "cat"), n_special=2, unknown="<unk>")
    assert vocabulary.ids(["cat", "dog", "<s>"]).tolist() == [3, 1, 0]
    assert vocabulary.ids([]).tolist() == []
    assert len(vocabulary) == 4
    assert "cat" in vocabulary
    assert "dog" not in vocabulary


def test_without_an_unknown_word_a_stranger_is_named():
    with pytest.raises(Mistake, match=r"Not in the vocabulary, which has no unknown word: 'dog'\."):
        Vocabulary(("the", "cat")).ids(["the", "dog", "dog"])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"words": ()}, "at least one word"),
        ({"words": ("a", "b", "a")}, "'a' is in the vocabulary twice, as 0 and as 2"),
        (
            {"words": ("a", "b"), "n_special": 1, "unknown": "b"},
            "unknown='b' is none of the special words, which are: a",
        ),
        ({"words": ("a", "b"), "counts": (1,)}, "found 1 for 2 words"),
    ],
)
def test_a_vocabulary_that_cannot_be_is_refused(fields, message):
    with pytest.raises(Mistake, match=message):
        Vocabulary(**fields)


def test_words_come_from_shards_by_frequency(corpus):
    vocabulary = Vocabulary.from_shards(corpus)
    assert vocabulary.words == ("<unk>", "a", "b", "xxpad", "c", "d", "e")  # f and g came too late to be types
    assert vocabulary.counts == (0, 4, 3, 3, 2, 1, 1)


def test_the_size_counts_special_words(corpus):
    assert Vocabulary.from_shards(corpus, size=3).words == ("<unk>", "a", "b")
    assert Vocabulary.from_shards(corpus, size=99) == Vocabulary.from_shards(corpus)
    assert Vocabulary.from_shards(corpus, size=2, special=(), unknown=None).words == ("a", "b")
    with pytest.raises(Mistake, match="size=1 leaves no word"):
        Vocabulary.from_shards(corpus, size=1)


def test_rare_words_can_be_left_out(corpus):
    assert Vocabulary.from_shards(corpus, min_count=3).words == ("<unk>", "a", "b", "xxpad")
    assert Vocabulary.from_shards(corpus, min_count=99).words == ("<unk>",)


def test_a_special_word_that_a_text_spells_is_there_once(corpus):
    vocabulary = Vocabulary.from_shards(corpus, size=5, special=("xxunk", "xxpad"), unknown="xxunk")
    assert vocabulary.words == ("xxunk", "xxpad", "a", "b", "c")
    assert vocabulary.counts == (0, 3, 4, 3, 2)


def test_ids_of_a_corpus_are_looked_up_by_type(corpus):
    vocabulary = Vocabulary.from_shards(corpus, size=4)
    ids = vocabulary.ids_of_types(corpus)
    words = corpus.words(0)
    assert ids[corpus.sentence(0)].tolist() == vocabulary.ids(words).tolist()
    known = Vocabulary(("b", "f")).ids_of_types(corpus)[corpus.sentence(0)]
    assert known.tolist() == [0 if word == "b" else -1 for word in words]


def test_what_was_written_is_read(tmp_path):
    words = ("[PAD]", "[UNK]", "the", "\u2028", "\x85", "a\rb", "\ufeff", " ", "漢")
    Vocabulary(words, n_special=2).write(tmp_path / "vocab.txt")
    assert (tmp_path / "vocab.txt").read_bytes().count(b"\n") == len(words)
    assert Vocabulary.read(tmp_path / "vocab.txt", n_special=2, unknown="[UNK]") == Vocabulary(
        words, n_special=2, unknown="[UNK]"
    )
