import re

import pytest

from polyseme.errors import BadData, Mistake
from polyseme.tasks.conll import has_columns, read_tagged
from polyseme.tasks.examples import TaggedWords

NER = "-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\nrejects VBZ I-VP O\n\n\nPeter NNP I-NP I-PER\n# # O O\n"
UD = (
    "# sent_id = 1\n# text = vámonos al mar\n"
    "1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tvamos\tir\tVERB\tVM\t_\t0\troot\t_\t_\n"
    "2\tnos\tnosotros\tPRON\tPP\t_\t1\tobj\t_\t_\n"
    "2.1\tel\tel\tDET\tDA\t_\t_\t_\t1:det\t_\n"
    "3\tmar\tmar\tNOUN\tNC\t_\t1\tobl\t_\t_\n\n"
    "1\t#\t#\tSYM\tZ\t_\t0\troot\t_\t_\n"
)


def write(folder, content, name="a.txt"):
    path = folder / name
    path.write_text(content, newline="")
    return path


def test_columns_of_conll_2003_give_the_last_one_as_it_stands(tmp_path):
    dataset = read_tagged(write(tmp_path, NER))
    assert dataset.examples == (
        TaggedWords(("EU", "rejects"), ("I-ORG", "O")),
        TaggedWords(("Peter", "#"), ("I-PER", "O")),
    )
    assert dataset.lines == (3, 7)
    assert dataset.said == (
        f"{dataset.path}: 4 CoNLL columns, tags in column 'ner' (guessed; choose with --label or tag_column=)",
        f"{dataset.path}: the tags mark spans in IOB1 (guessed; in Python choose with scheme=)",
    )


@pytest.mark.parametrize("column", ["pos", 1, -3, "1"])
def test_a_column_is_chosen_by_name_or_number(tmp_path, column):
    dataset = read_tagged(write(tmp_path, NER), tag_column=column)
    assert [sentence.tags for sentence in dataset.examples] == [("NNP", "VBZ"), ("NNP", "#")]
    assert dataset.said == ()
    assert dataset.label_column == "pos"


@pytest.mark.parametrize("name", ["a.conllu", "a.txt"])
def test_conll_u_is_noticed_and_its_ranges_and_empty_nodes_are_left_out(tmp_path, name):
    path = write(tmp_path, UD, name)
    assert read_tagged(path).examples == (
        TaggedWords(("vamos", "nos", "mar"), ("VERB", "PRON", "NOUN")),
        TaggedWords(("#",), ("SYM",)),
    )
    assert read_tagged(path, tag_column="xpos").examples[0].tags == ("VM", "PP", "NC")
    assert read_tagged(path, word_column="lemma").examples[0].words == ("ir", "nosotros", "mar")
    (said,) = read_tagged(path).said
    assert said == f"{path}: CoNLL-U, tags in column 'upos' (guessed; choose with --label or tag_column=)"


def test_words_may_hold_spaces_where_tabs_part_the_columns(tmp_path):
    assert read_tagged(write(tmp_path, "10 000\tNUM\r\nkm\tNOUN\r\n")).examples[0].words == ("10 000", "km")
    assert read_tagged(write(tmp_path, "10\u00a0000  NUM \nkm NOUN\n")).examples[0].words == ("10\u00a0000", "km")


def test_a_first_word_that_is_a_hash_is_no_comment(tmp_path):
    assert read_tagged(write(tmp_path, "# SYM\n1 NUM\n")).examples[0].words == ("#", "1")


def test_iob1_may_begin_a_span_with_b(tmp_path):
    path = write(tmp_path, "a I-X\nb O\n\nc I-X\nd B-X\n\ne O\nf B-X\n\ng I-X\n")
    assert read_tagged(path).examples[2].tags == ("O", "B-X")


@pytest.mark.parametrize(
    "content, line, column, problem",
    [
        ("EU NNP O\nrejects VBZ\n", 2, None, "the line has 2 columns, 'rejects VBZ'; wanted 3 as on the first"),
        ("EU NNP O\nrejects VBZ O O\n", 2, None, "the line has 4 columns"),
        ("a B-PER\nb O\n\nc X-FOO\nd O\n", 4, "tag", "'X-FOO' is no tag of a span"),
        ("a B-PER\nb I-PER\n\nc O\nd I-PER\n", 5, "tag", "'I-PER' after 'O' breaks IOB2"),
        ("a B-PER\nb I-PER\n\nc I-LOC\nd O\n\ne B-LOC\n", 4, "tag", "'I-LOC' at the start of the sentence breaks IOB2"),
        ("a B-PER\nb I-PER\n\nc B-PER\nd I-LOC\n", 5, "tag", "'I-LOC' after 'B-PER' breaks IOB2"),
        ("a S-PER\nb O\n\nc B-PER\nd E-PER\n\ne B-PER\n", 7, "tag", "breaks IOBES"),
        ("a\tO\n\tO\n", 2, "word", "it is empty"),
        ("word\nother\n", 1, None, "found 'word'; wanted a word and its tag"),
        ("", None, None, "it has no words"),
        ("\n-DOCSTART- O\n\n", None, None, "it has no words"),
    ],
)
def test_bad_columns_are_named_by_line(tmp_path, content, line, column, problem):
    with pytest.raises(BadData, match=re.escape(problem)) as caught:
        read_tagged(write(tmp_path, content))
    assert (caught.value.line, caught.value.column) == (line, column)


@pytest.mark.parametrize(
    "old, new, line, column, problem",
    [
        ("3\tmar", "4\tmar", 7, "id", "word '4' follows 2 words; wanted 3"),
        ("\n\n1\t#", "\n1\t#", 8, "id", "word '1' follows 3 words; wanted 4. Is a blank line missing"),
        ("3\tmar", "x\tmar", 7, "id", "found 'x'; wanted a word's number"),
        ("mar\tNOUN", "mar\t_", 7, "upos", "the word 'mar' has none ('_')"),
        ("mar\tNOUN\t", "mar\tNOUN ", 7, None, "the line has 9 columns"),
    ],
)
def test_bad_conll_u_is_named_by_line(tmp_path, old, new, line, column, problem):
    with pytest.raises(BadData, match=re.escape(problem)) as caught:
        read_tagged(write(tmp_path, UD.replace(old, new), "a.conllu"))
    assert (caught.value.line, caught.value.column) == (line, column)


def test_a_file_named_conllu_that_is_something_else_is_refused(tmp_path):
    with pytest.raises(BadData, match="line 1: found 'EU NNP O'; wanted the ten columns of CoNLL-U"):
        read_tagged(write(tmp_path, "EU NNP O\n", "a.conllu"))
    with pytest.raises(BadData, match="it has no words"):
        read_tagged(write(tmp_path, "# text = a\n\n", "a.conllu"))


def test_a_column_that_is_not_there_names_its_neighbour(tmp_path):
    path = write(tmp_path, UD)
    with pytest.raises(BadData, match=r"no column 'xpso'.* Did you mean 'xpos'"):
        read_tagged(path, tag_column="xpso")
    with pytest.raises(BadData, match=r"no column 10; there are 10, by number 0 to 9"):
        read_tagged(path, tag_column=10)


def test_a_broken_sequence_reads_as_it_is_where_that_is_asked_for(tmp_path):
    path = write(tmp_path, "a B-X\nb I-X\n\nc O\nd I-X\ne Y\n")
    assert read_tagged(path, scheme="plain").examples[1].tags == ("O", "I-X", "Y")
    with pytest.raises(Mistake, match="scheme='BIO' is not known"):
        read_tagged(path, scheme="BIO")


def test_a_sentence_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("polyseme.tasks.conll._LONGEST", 3)
    with pytest.raises(BadData, match="line 4: 3 words without a blank line"):
        read_tagged(write(tmp_path, "a X\n" * 5))


@pytest.mark.parametrize(
    "text, columns",
    [
        ("EU B-ORG\nrejects O\n\nPeter B-PER\n", True),
        ("-DOCSTART- -X- O O\n\nEU NNP B-NP B-ORG\nrejects VBZ B-VP O\n", True),
        ("EU\nrejects\n", True),
        ("EU\tB-ORG\nrejects\tO\n", True),
        ("a b\n" * 8, True),
        ("The film was good.\n", False),
        ("The film was good.\nIt was a bad film.\n", False),
        ("It was good.\nIt was bad.\n", False),
        ("It was good.\n\nIt was very bad.\n", False),
    ],
)
def test_columns_are_told_from_text(tmp_path, text, columns):
    (tmp_path / "some.txt").write_text(text)
    assert has_columns(tmp_path / "some.txt") == columns
