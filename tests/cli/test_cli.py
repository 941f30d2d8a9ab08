"""The command: what it prints where, its exit codes, the files it writes."""

import json
import signal
import subprocess
import sys

import h5py
import numpy as np
import pytest
from pyarrow import parquet

import polyseme
from polyseme.cli import VERBS, spread, vector_files
from polyseme.encoders.pretrained import Embedded
from polyseme.errors import Mistake
from polyseme.pretrain import recipe
from polyseme.text.words import to_text

VECTORS = "crack 1 0 0\nwall 0.9 0.1 0\nthe 0 1 0\nhigh 0 0 1\n"
LINES = "The crack.\n\nA high wall\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "glove.txt").write_text(VECTORS)
    (tmp_path / "lines.txt").write_text(LINES)
    return tmp_path


def run(folder, *arguments, **options):
    command = [sys.executable, "-m", "polyseme", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, **options)


def test_help_lists_every_verb_and_imports_no_torch():
    code = "import sys; sys.argv = ['polyseme', '--help']\nfrom polyseme.cli import main\n"
    code += "try: main()\nexcept SystemExit: pass\nprint('torch' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.endswith("False False\n")
    assert all(verb in done.stdout for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(folder, verb):
    done = run(folder, verb, "--help")
    assert done.returncode == 0, done.stderr
    assert "Usage: polyseme" in done.stdout


def test_neighbors_as_json(folder):
    done = run(folder, "neighbors", "glove.txt", "crack", "-n", "2", "--json")
    assert [near["word"] for near in json.loads(done.stdout)] == ["wall", "the"]
    assert done.stderr == ""


def test_a_mistake_is_one_line_on_stderr_and_exit_code_1(folder):
    done = run(folder, "neighbors", "glove.txt", "crakc")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "polyseme: 'crakc' has no vector here. Did you mean 'crack'?\n"


@pytest.mark.parametrize(
    "arguments", [["neighbors"], ["nonsense"], ["embed", "a", "b", "--bad"], ["pretrain", "static"]]
)
def test_misuse_is_exit_code_2(folder, arguments):
    assert run(folder, *arguments).returncode == 2


def test_vectors_go_to_npz(folder):
    assert run(folder, "embed", "glove.txt", "lines.txt", "--out", "v.npz").stdout == "v.npz\n"
    found = np.load(folder / "v.npz")
    assert found["offsets"].tolist() == [0, 3, 3, 6]
    assert json.loads(found["rows"].tobytes()) == ["The", "crack", ".", "A", "high", "wall"]
    assert found["vectors"][1].tolist() == [1, 0, 0]
    assert json.loads(found["texts"].tobytes()) == ["The crack.", "", "A high wall"]


def test_an_npz_keeps_every_character_of_a_text(folder):
    (folder / "odd.txt").write_text("wall \0\n\0\n❄\n")
    assert run(folder, "embed", "glove.txt", "odd.txt", "--out", "v.npz").returncode == 0
    assert json.loads(np.load(folder / "v.npz")["texts"].tobytes()) == ["wall \0", "\0", "❄"]


def test_vectors_in_8_bits_are_nearly_those_in_32_and_static_ones_have_none(folder):
    for precision in ("float32", "int8"):
        command = ("embed", "bert-starter", "lines.txt", "--precision", precision, "--out", f"{precision}.npz")
        assert run(folder, *command).returncode == 0
    one, other = (np.load(folder / f"{precision}.npz")["vectors"] for precision in ("float32", "int8"))
    assert 0 < np.abs(one - other).max() < 0.1 * np.abs(one).max()
    done = run(folder, "embed", "glove.txt", "lines.txt", "--precision", "int8")
    assert (done.returncode, done.stdout) == (1, "")
    assert "precision='int8' is for BERT and ELMo; this is static" in done.stderr
    assert "'float32' or 'int8'" in run(folder, "embed", "bert-starter", "lines.txt", "--precision", "int4").stderr


def test_vectors_go_to_npy_hdf5_and_parquet(folder):
    for name in ("v.h5", "v.parquet"):
        assert run(folder, "embed", "glove.txt", "lines.txt", "--out", name).returncode == 0
    assert run(folder, "embed", "glove.txt", "lines.txt", "--out", "v.npy", "--level", "text").returncode == 0
    assert np.load(folder / "v.npy").shape == (3, 3)
    with h5py.File(folder / "v.h5") as file:
        assert file["2"].shape == (3, 3)
        assert json.loads(file["2"].attrs["rows"]) == ["A", "high", "wall"]
    table = parquet.read_table(folder / "v.parquet").to_pylist()
    assert table[0]["rows"] == ["The", "crack", "."]
    assert [len(row["vectors"]) for row in table] == [3, 0, 3]
    assert table[0]["vectors"][1] == [1, 0, 0]


def test_all_layers_go_to_parquet_in_blocks_as_they_are(tmp_path, monkeypatch):
    draw = np.random.default_rng(0)
    arrays = [draw.standard_normal((2, n, 3)).astype(np.float32) for n in (2, 0, 4, 1)]
    texts = [to_text(" ".join("abcd"[: array.shape[1]])) for array in arrays]
    embedded = [Embedded(text, text.words, array) for text, array in zip(texts, arrays, strict=True)]
    monkeypatch.setattr(vector_files, "_NUMBERS", 13)
    vector_files.writer(tmp_path / "v.parquet", "word")(tmp_path / "v.parquet", iter(embedded))
    assert parquet.ParquetFile(tmp_path / "v.parquet").num_row_groups == 2
    table = parquet.read_table(tmp_path / "v.parquet").to_pylist()
    assert [row["vectors"] for row in table] == [array.tolist() for array in arrays]
    assert [row["rows"] for row in table] == [text.words for text in texts]


def test_a_document_of_many_words_goes_to_hdf5(folder):
    (folder / "long.txt").write_text("wall " * 9000)
    assert run(folder, "embed", "glove.txt", "long.txt", "--out", "long.h5").returncode == 0
    with h5py.File(folder / "long.h5") as file:
        assert json.loads(file["0"].attrs["rows"]) == ["wall"] * 9000


def test_vectors_to_a_file_of_another_kind_are_refused_before_anything_is_read(folder):
    assert "ends in .npz" in run(folder, "embed", "absent", "lines.txt", "--out", "v.csv").stderr
    assert "Use .npz or .h5" in run(folder, "embed", "absent", "lines.txt", "--out", "v.npy").stderr


def test_standard_input_and_json_lines(folder):
    done = run(folder, "embed", "glove.txt", "-", "--json", input="the wall\n")
    line = json.loads(done.stdout)
    assert line["rows"] == ["the", "wall"]
    assert line["vectors"][0] == [0, 1, 0]


def test_text_that_is_not_utf8_names_its_line(folder):
    (folder / "bad.txt").write_bytes(b"fine\ncaf\xe9\n")
    assert "bad.txt, line 2" in run(folder, "embed", "glove.txt", "bad.txt").stderr


def test_convert_and_inspect(folder):
    assert run(folder, "convert", "glove.txt", "native").returncode == 0
    facts = json.loads(run(folder, "inspect", "native", "--json").stdout)
    assert (facts["family"], facts["parameters"], facts["files"], facts["words"]) == ("static", 12, "whole", 4)
    assert "--force" in run(folder, "convert", "glove.txt", "native").stderr
    assert run(folder, "convert", "native", "again.bin", "--to", "word2vec").returncode == 0
    assert polyseme.load(folder / "again.bin").tokenizer.words == ("crack", "wall", "the", "high")
    (folder / "native" / "vocab.txt").write_text("crack\nwall\nthe\nlow\n")
    assert "has changed" in json.loads(run(folder, "inspect", "native", "--json").stdout)["files"]


def test_pretraining_static_vectors_with_and_without_subwords(folder):
    (folder / "text.txt").write_text("the crack in the wall\nthe wall is high\n\n" * 50)
    for name in ("static", "static-subwords"):
        done = run(folder, "pretrain", name, "--corpus", "text.txt", "--out", name, "--set", "width=8", "n_buckets=100")
        assert (done.returncode, done.stdout) == (0, f"{name}\n"), done.stderr
        made = polyseme.load(folder / name)
        assert set(made.tokenizer.words) == {"the", "crack", "in", "wall", "is", "high"}
        assert made.embed([["walls"]])[0].any() == (name == "static-subwords")
        assert made.provenance["corpus"]["words"] == 450


def test_a_folder_belongs_to_one_recipe(folder):
    (folder / "text.txt").write_text("the crack in the wall\n\n" * 50)
    assert run(folder, "pretrain", "static", "--corpus", "text.txt", "--out", "run").returncode == 0
    done = run(folder, "pretrain", "static", "--corpus", "text.txt", "--out", "run", "--set", "width=9")
    assert "recipe.width was 100, is 9" in done.stderr


def test_a_wrong_recipe_or_setting_names_its_neighbour(folder):
    assert "Did you mean 'elmo-tiny'?" in run(folder, "pretrain", "elmo-tyni", "--corpus", "x", "--out", "r").stderr
    done = run(folder, "pretrain", "static", "--corpus", "x", "--out", "r", "--set", "widht=3")
    assert "Did you mean 'width'?" in done.stderr
    assert "width" in run(folder, "pretrain", "static", "--corpus", "x", "--out", "r", "--set", "width=wide").stderr


def test_a_first_mistake_does_not_spoil_the_folder(folder):
    (folder / "text.txt").write_text("the crack in the wall\n\n" * 50)
    assert run(folder, "pretrain", "static", "--corpus", "txet.txt", "--out", "run").returncode == 1
    done = run(folder, "pretrain", "static", "--corpus", "text.txt", "--out", "run")
    assert done.returncode == 0, done.stderr
    assert json.loads(run(folder, "inspect", "run", "--json").stdout)["family"] == "static"


def test_a_run_does_not_work_in_a_folder_with_files_of_its_own(folder):
    (folder / "mine" / "corpus").mkdir(parents=True)
    (folder / "mine" / "words.txt").write_text("precious")
    done = run(folder, "pretrain", "static", "--corpus", "lines.txt", "--out", "mine")
    assert "holds files of its own" in done.stderr
    assert (folder / "mine" / "words.txt").read_text() == "precious"


def test_a_blank_line_is_shown_as_it_is(folder):
    done = run(folder, "embed", "glove.txt", "lines.txt")
    assert done.returncode == 0, done.stderr
    assert "crack" in done.stdout


def test_what_cannot_be_written_is_told_without_a_traceback(folder):
    for out in ("lines.txt/x.npz", "."):
        done = run(folder, "embed", "glove.txt", "lines.txt", "--out", out, "--force")
        assert done.returncode == 1
        assert "Traceback" not in done.stderr


def test_the_folder_one_is_in_is_never_replaced(folder):
    done = run(folder, "convert", "glove.txt", ".", "--force")
    assert "did not write" in done.stderr
    assert (folder / "lines.txt").exists()


def test_a_negative_number_is_a_value_of_a_list():
    asked = spread("lens cka c.txt --layers 0 -1 -m a b -n 3".split(), ["--layers", "-m"])
    assert asked == "lens cka c.txt --layers 0 --layers -1 -m a -m b -n 3".split()


def test_a_wrong_number_of_bits_is_told_before_anything_is_read(folder):
    done = run(folder, "convert", "absent", "out", "--weights", "int4")
    assert done.returncode == 1
    assert "weights='int4' is not known" in done.stderr


def test_a_value_behind_an_equals_sign_begins_a_list_too():
    assert spread(["pretrain", "--set=a=1", "b=2"], ["--set"]) == ["pretrain", "--set=a=1", "--set", "b=2"]


@pytest.mark.parametrize("setting", ["seed=-1", "rate=nan", "rate=-1", "sample=-1", "width.x=1", "epochs=0"])
def test_a_setting_out_of_bounds_is_refused(folder, setting):
    with pytest.raises(Mistake):
        recipe("static", [setting])


@pytest.mark.parametrize(
    "setting", ["most_norm=0", "weight_decay=-1", "betas=[2,2]", "warm_up=-1", "encoder.cell_clip=-3"]
)
def test_a_networks_setting_out_of_bounds_is_refused(setting):
    with pytest.raises(Mistake):
        recipe("elmo-tiny", [setting])


def test_a_table_is_read_by_its_column(folder):
    (folder / "table.csv").write_text("text,label\nThe crack.,one\nA high wall,two\n")
    done = run(folder, "embed", "glove.txt", "table.csv", "--out", "v.npz")
    assert done.returncode == 0, done.stderr
    assert "text column 'text'" in done.stderr
    assert json.loads(np.load(folder / "v.npz")["texts"].tobytes()) == ["The crack.", "A high wall"]
    assert run(folder, "embed", "glove.txt", "table.csv", "--text", "label", "--out", "w.npz").returncode == 0
    assert json.loads(np.load(folder / "w.npz")["texts"].tobytes()) == ["one", "two"]
    assert "is no table" in run(folder, "embed", "glove.txt", "lines.txt", "--text", "label").stderr


def test_recipes_that_go_on_from_a_model_want_one(folder):
    done = run(folder, "pretrain", "bert-domain", "--corpus", "lines.txt", "--out", "made")
    assert done.returncode == 2
    assert "--init" in done.stderr
    assert not (folder / "made").exists()


def test_recipes_are_listed_with_what_they_are_for(folder):
    from polyseme.pretrain import ABOUT, RECIPES

    assert list(ABOUT) == list(RECIPES)
    listed = run(folder, "pretrain", "--recipes").stdout
    assert all(f"{name} " in listed for name in RECIPES)
    assert "n_pieces         8000" in run(folder, "pretrain", "bert-tiny", "--recipes").stdout


def test_inspect_says_in_a_line_where_a_model_comes_from(folder):
    shown = run(folder, "inspect", "elmo-starter").stdout.splitlines()
    made = next(line for line in shown if line.startswith("provenance"))
    assert "polyseme pretrain (elmo, seed 1)" in made
    assert "perplexity" in made
    assert max(map(len, shown)) < 1000
    assert "curve" in json.loads(run(folder, "inspect", "elmo-starter", "--json").stdout)["provenance"]


def test_a_file_that_is_not_there_is_not_looked_for_on_the_hub(folder):
    assert "hub" not in run(folder, "inspect", "glove.6B.50d.txt").stderr
    assert "Did you mean 'elmo-starter'?" in run(folder, "inspect", "elmo").stderr
    assert "hub:bert-base-uncased" in run(folder, "inspect", "bert-base-uncased").stderr


def test_without_standard_input_that_is_said(folder):
    command = f"{sys.executable} -m polyseme embed glove.txt - <&-"
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert "There is no standard input" in done.stderr


def test_ended_by_sigterm_nothing_half_written_stays(folder):
    """As by `timeout`, by a container that stops, or by a scheduler."""
    command = [sys.executable, "-m", "polyseme", "embed", "glove.txt", "-", "--out", "made.npz"]
    code = "import sys, time; from polyseme.files import new_file; from pathlib import Path\n"
    code += "import polyseme.cli.embed as embed; from polyseme.cli import main\n"
    code += "load = __import__('polyseme.formats').formats.load\n"
    code += "def slow(*given):\n    print('reading', flush=True); time.sleep(60)\n"
    code += "import polyseme.cli.vector_files as files\nfiles.writer = lambda out, level: slow\n"
    code += f"sys.argv = {['polyseme', *command[3:]]!r}\nmain()"
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdin.write(b"the crack\n")
    process.stdin.close()
    assert process.stdout.readline() == b"reading\n"
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 143
    assert sorted(path.name for path in folder.iterdir()) == ["glove.txt", "lines.txt"]


@pytest.mark.parametrize("name", ["config.json", "manifest.json", "polyseme.json"])
def test_json_nested_without_end_is_a_damaged_file(folder, name):
    assert run(folder, "convert", "bert-starter", "bert", "--to", "hf_bert").returncode == 0
    (folder / "bert" / name).write_text('{"a":[' * 50_000)
    done = run(folder, "inspect", "bert")
    assert "Traceback" not in done.stderr
    assert done.returncode == (0 if name == "manifest.json" else 1)
