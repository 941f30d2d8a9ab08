"""The verbs that ask a language model: fill, score, next."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
import torch

import polyseme
from polyseme.cli import main
from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_config import BertConfig
from polyseme.encoders.bert_heads import BertHeads
from polyseme.text.wordpiece import WordPiece

TEXT = "The crack in the wall had grown. He was high on crack."


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder with a small random BERT, and one without heads."""
    torch.manual_seed(0)
    tokenizer = WordPiece.train([TEXT], n_pieces=80, min_count=1, window=32)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    config = BertConfig(vocab_size=tokenizer.n_pieces, max_position_embeddings=32, initializer_range=1, **sizes)
    encoder = BertEncoder(config)
    folder = tmp_path_factory.mktemp("models")
    polyseme.save(polyseme.Pretrained(tokenizer, encoder, {}, BertHeads(config)), folder / "bert")
    polyseme.save(polyseme.Pretrained(tokenizer, encoder), folder / "bare")
    return folder


@pytest.fixture
def run(models, monkeypatch, capsys):
    """A function that runs the command in this process: exit code, stdout, stderr."""
    monkeypatch.chdir(models)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["polyseme", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        return end.value.code, *capsys.readouterr()

    return run


def test_one_pair_prints_one_chance(run):
    code, out, err = run("next", "bert", "The crack.", "The wall.")
    assert (code, err) == (0, "")
    assert 0 <= float(out.strip().removesuffix("%")) <= 100
    facts = json.loads(run("next", "bert", "The crack.", "The wall.", "--json")[1])
    assert facts["first"] == "The crack."
    assert out == f"{facts['probability']:6.1%}\n"


def test_pairs_of_a_file_come_a_line_each_in_order(run, models):
    (models / "pairs.tsv").write_text("The crack.\tThe wall.\n\nHe was high.\t\n")
    code, out, _ = run("next", "bert", "--file", "pairs.tsv")
    assert code == 0
    assert [line.split("\t")[1:] for line in out.splitlines()] == [["The crack.", "The wall."], ["He was high.", ""]]
    lines = [json.loads(line) for line in run("next", "bert", "-f", "pairs.tsv", "--json")[1].splitlines()]
    alone = json.loads(run("next", "bert", "The crack.", "The wall.", "--json")[1])
    assert lines[0]["probability"] == pytest.approx(alone["probability"], abs=1e-6)


@pytest.mark.parametrize(
    "content, said", [("one\ttwo\nthree\n", "bad.tsv, line 2: wanted two texts"), ("", "it is empty")]
)
def test_a_file_that_holds_no_pairs_names_its_place(run, models, content, said):
    (models / "bad.tsv").write_text(content)
    code, out, err = run("next", "bert", "--file", "bad.tsv")
    assert (code, out) == (1, "")
    assert said in err


@pytest.mark.parametrize("arguments", [["bert"], ["bert", "one"], ["bert", "one", "two", "--file", "pairs.tsv"]])
def test_neither_pair_nor_file_is_misuse(run, arguments):
    assert run("next", *arguments)[0] == 2


def test_a_bert_without_heads_says_which_it_wants(run):
    code, _, err = run("next", "bare", "one", "two")
    assert code == 1
    assert "left out the next-sentence head" in err
    assert "BertForMaskedLM" in run("fill", "bare", "The [MASK].")[2]


def test_bert_fills_each_mask(run):
    _, out, _ = run("fill", "bert", "The [MASK] in the [MASK].", "-n", "3")
    assert [line for line in out.splitlines() if line.startswith("[MASK]")] == ["[MASK] 1", "[MASK] 2"]
    code, out, _ = run("fill", "bert", "The [MASK] in the [MASK].", "-n", "3", "--json")
    assert code == 0
    assert [[len(words) for words in ways.values()] for ways in json.loads(out)] == [[3], [3]]
    assert run("fill", "bert", "The [MASK].")[1].startswith("both")


def test_bert_scores_lines_with_and_without_the_rest_of_a_word(run, models):
    (models / "lines.txt").write_text("The crackwall.\nHe was high.\n")
    _, out, _ = run("score", "bert", "lines.txt")
    assert "pseudo" in out
    one, other = (
        [json.loads(line) for line in run("score", "bert", "lines.txt", "--json", *option)[1].splitlines()]
        for option in ([], ["--within-word"])
    )
    assert one[0]["pseudo"] != pytest.approx(other[0]["pseudo"])
    assert [line["predicted"] for line in one] == [line["predicted"] for line in other]


def test_the_commands_and_the_code_of_their_page_run(run, models, capsys):
    page = (Path(__file__).parent.parent.parent / "docs" / "language-models.md").read_text()
    (models / "lines.txt").write_text("The crackwall.\nHe was high.\n")
    (models / "pairs.tsv").write_text("The crack.\tThe wall.\n")
    (commands,) = re.findall(r"^```sh\n(.*?)^```", page, re.S | re.M)
    for line in commands.splitlines():
        code, out, err = run(*shlex.split(line)[1:])
        assert code == 0, f"{line}\n{err}"
        assert out
    (code,) = re.findall(r"^```python\n(.*?)^```", page, re.S | re.M)
    exec(compile(code, "language-models.md", "exec"), {})
    assert len(capsys.readouterr().out.splitlines()) == 3
