import gzip

import pytest

from polyseme.errors import Mistake
from polyseme.text.mentions import Mention, mentions, mentions_in_corpus, sentences
from polyseme.text.words import to_text


def test_case_is_not_told_and_every_mention_counts():
    found = mentions(["Crack! The crack cracked.", "CRACK"], "crack")
    assert [(one.word, one.place) for one in found] == [("Crack", 0), ("crack", 3), ("CRACK", 0)]


def test_other_forms_are_found_where_they_are_named():
    found = mentions(["It cracks.", "It cracked"], "crack", forms=["cracks", "cracked"])
    assert [one.word for one in found] == ["cracks", "cracked"]


def test_a_word_within_a_word_is_no_mention():
    with pytest.raises(Mistake, match=r"There is no 'crack' in 'It cracks'; its words are It, cracks.*Did you mean"):
        mentions(["It cracks"], "crack")


def test_a_word_that_is_two_is_told():
    with pytest.raises(Mistake, match="'new york' is 2 words; one is wanted"):
        mentions(["In New York"], "New York")


def test_sentences_keep_the_spans_of_their_words():
    string = "  It  broke. Why?\n"
    found = list(sentences(string))
    assert [text.string for text in found] == ["It  broke.", "Why?"]
    assert [text.words for text in found] == [["It", "broke", "."], ["Why", "?"]]
    assert list(sentences("  ")) == []


def test_what_stands_around_a_word_is_cut_to_length():
    mention = mentions(["one two three four crack five six seven"], "crack")[0]
    assert mention.in_context(9) == ("…ee four ", "crack", " five si…")
    assert mention.in_context(100) == ("one two three four ", "crack", " five six seven")
    assert Mention(to_text("(crack)"), 1).in_context() == ("(", "crack", ")")


@pytest.fixture
def corpus(tmp_path):
    paragraphs = [f"The wall number {n} stood. A crack grew in wall {n}, says Crack {n}." for n in range(200)]
    (tmp_path / "one.txt").write_text("\n\n".join(paragraphs[:150]) + "\n")
    with gzip.open(tmp_path / "two.txt.gz", "wt") as file:
        file.write("\n\n".join(paragraphs[150:]) + "\n")
    return tmp_path


def test_all_mentions_of_a_corpus_are_found_in_order(corpus):
    done = []
    found = mentions_in_corpus([corpus], "crack", limit=1000, tell=lambda *how_far: done.append(how_far))
    assert found.n_all == len(found.mentions) == 400
    assert found.mentions[0].text.string == "A crack grew in wall 0, says Crack 0."
    assert [one.place for one in found.mentions[-2:]] == [1, 8]
    assert done[-1][0] == done[-1][1]


def test_of_many_mentions_the_seed_chooses_evenly(corpus):
    one, same, other = (mentions_in_corpus([corpus], "crack", limit=60, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one.mentions != other.mentions
    assert one.n_all == 400
    assert len(one.mentions) == 60
    numbers = [int(mention.text.words[5]) for mention in one.mentions]
    assert numbers == sorted(numbers)
    assert 60 < sum(numbers) / 60 < 140


def test_a_sentence_without_end_is_cut_around_the_word(tmp_path):
    (tmp_path / "long.txt").write_text(" ".join(["word"] * 3000 + ["crack"] + ["word"] * 3000))
    (found,) = mentions_in_corpus([tmp_path], "crack").mentions
    assert (found.word, found.place, len(found.text.spans)) == ("crack", 100, 201)
