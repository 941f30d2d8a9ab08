import json
import random
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polyseme.errors import BadFile
from polyseme.formats.tf_checkpoint import candidates, find, names, read_tensor

DATA = Path(__file__).parent / "data"
BERT, ODD, FIRST = DATA / "tf_bert_tiny/bert_model.ckpt", DATA / "tf_odd/model.ckpt-7", DATA / "tf_v1/bert_model.ckpt"


def expected() -> dict[str, np.ndarray]:
    """What TensorFlow itself reads from the checkpoint."""
    stored = np.load(DATA / "tf_bert_tiny/expected.npz")
    found, start = {"global_step": stored["global_step"]}, 0
    for name, shape in json.loads(str(stored["names"])).items():
        size = int(np.prod(shape))
        found[name] = stored["values"][start : start + size].reshape(shape)
        start += size
    return found


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.fixture
def bert(tmp_path):
    """A copy to damage."""
    shutil.copytree(BERT.parent, tmp_path / "bert")
    return tmp_path / "bert" / BERT.name


def test_every_tensor_equals_what_tensorflow_reads_byte_for_byte():
    wanted, found = expected(), names(BERT)
    assert set(found) == set(wanted)
    assert len(found) == 139
    assert all(same(read_tensor(BERT, found[name]), value) for name, value in wanted.items())


def test_several_data_files_partitioned_variables_and_other_types_equal_tensorflow():
    wanted, found = np.load(DATA / "tf_odd/expected.npz"), names(ODD)
    assert set(found) == {*wanted, "text"}
    assert {part.file[:10] for entry in found.values() for part in entry.parts} == {f"data-0000{n}" for n in range(4)}
    assert {name: len(entry.parts) for name, entry in found.items() if len(entry.parts) > 1} == {
        "columns": 2,
        "scope/split": 3,
    }
    assert found["brain"].dtype == "bfloat16"
    for name, value in wanted.items():
        assert same(read_tensor(ODD, found[name]), value), name


def test_a_tensor_is_a_view_of_the_file_that_cannot_be_written():
    tensor = read_tensor(BERT, names(BERT)["bert/embeddings/word_embeddings"])
    assert not tensor.flags.owndata
    assert not tensor.flags.writeable


def test_strings_are_no_numbers():
    with pytest.raises(BadFile, match=r"text in .* is of type string; numbers are wanted"):
        read_tensor(ODD, names(ODD)["text"])


@pytest.mark.parametrize("ending", ["", ".index", ".data-00000-of-00001", ".meta"])
def test_a_checkpoint_is_found_from_any_of_its_files(ending):
    assert find(BERT.with_name(BERT.name + ending)) == BERT


def test_a_checkpoint_is_found_in_its_folder_and_by_a_prefix_with_a_number():
    assert find(BERT.parent) == BERT
    assert find(ODD) == ODD
    assert find(DATA / "tf_odd/model.ckpt-7.data-00002-of-00004") == ODD


def test_several_checkpoints_in_a_folder_are_named(bert):
    for file in ODD.parent.glob("model.ckpt-7.*"):
        shutil.copy(file, bert.parent)
    with pytest.raises(
        BadFile, match=r"has 2 checkpoints: bert_model.ckpt, model.ckpt-7. Name one, for example .*ckpt"
    ):
        find(bert.parent)
    assert find(bert) == bert


def test_hidden_files_are_no_checkpoints(bert):
    (bert.parent / "._bert_model.ckpt.index").write_bytes(b"of another system")
    assert candidates(bert.parent) == [bert]


@pytest.mark.parametrize("path", [FIRST, FIRST.parent])
def test_a_checkpoint_of_the_first_format_is_recognised(path):
    with pytest.raises(
        BadFile, match=r"bert_model.ckpt is a TensorFlow checkpoint of the old format V1.*not supported"
    ):
        find(path)


def test_a_checkpoint_of_the_first_format_is_recognised_under_another_name(tmp_path):
    shutil.copy(FIRST, tmp_path / "model.index")
    with pytest.raises(BadFile, match="Found: the old format V1; V2 is wanted"):
        names(tmp_path / "model")


def test_where_nothing_is_what_there_is_is_said(tmp_path):
    (tmp_path / "bert_model.ckpt.data-00000-of-00001").write_bytes(b"")
    with pytest.raises(BadFile, match=r"ends in .index.*Found in .*: bert_model.ckpt.data-00000-of-00001"):
        find(tmp_path / "bert_model.ckpt")
    with pytest.raises(BadFile, match=r"Found in .*: nothing"):
        find(tmp_path / "no" / "where")


def test_a_misspelt_prefix_is_put_right():
    with pytest.raises(BadFile, match=r"Did you mean 'bert_model\.ckpt'\?"):
        find(BERT.with_name("bert_model.cktp"))


def test_an_index_that_is_absent_too_large_or_no_table_is_refused(tmp_path, monkeypatch):
    with pytest.raises(BadFile, match=r"x.index cannot be read: No such file"):
        names(tmp_path / "x")
    (tmp_path / "x.index").write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n")
    with pytest.raises(BadFile, match=r"the last 8 bytes .* instead of a table's .* download the checkpoint again"):
        names(tmp_path / "x")
    monkeypatch.setattr("polyseme.formats.tf_checkpoint._LARGEST_INDEX", 10)
    with pytest.raises(BadFile, match="more than the 10 an index may have"):
        names(tmp_path / "x")


def test_an_index_that_is_cut_off_is_refused(bert):
    index = bert.with_name("bert_model.ckpt.index")
    whole = index.read_bytes()
    for size in range(0, len(whole), 37):
        index.write_bytes(whole[:size])
        with pytest.raises(BadFile, match="no whole file"):
            names(bert)


def test_a_changed_byte_of_the_index_is_noticed_or_harmless(bert):
    index = bert.with_name("bert_model.ckpt.index")
    whole, wanted, chance = index.read_bytes(), names(bert), random.Random(0)
    n_noticed = 0
    for _ in range(300):
        damaged = bytearray(whole)
        damaged[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        index.write_bytes(damaged)
        try:
            assert names(bert) == wanted
        except BadFile:
            n_noticed += 1
    assert n_noticed > 280


def test_a_changed_byte_of_the_numbers_is_noticed(bert):
    data = bert.with_name("bert_model.ckpt.data-00000-of-00001")
    whole, found, chance = data.read_bytes(), names(bert), random.Random(0)
    for entry in chance.sample(list(found.values()), 30):
        damaged = bytearray(whole)
        damaged[entry.parts[0].offset + chance.randrange(entry.parts[0].size)] ^= 1 << chance.randrange(8)
        data.write_bytes(damaged)
        with pytest.raises(BadFile, match=f"wrong checksum of {entry.name}"):
            read_tensor(bert, entry)


def test_a_data_file_that_is_cut_off_or_absent_is_refused(bert):
    data = bert.with_name("bert_model.ckpt.data-00000-of-00001")
    last = max(names(bert).values(), key=lambda entry: entry.parts[0].offset)
    data.write_bytes(data.read_bytes()[:-1])
    with pytest.raises(BadFile, match=f"Found: {data.stat().st_size} bytes, and {last.name} lies at bytes"):
        read_tensor(bert, last)
    data.unlink()
    with pytest.raises(BadFile, match=r"No bert_model.ckpt.data-00000-of-00001 in .*Copy it beside the .index file"):
        read_tensor(bert, last)


def test_a_tensor_that_lies_beyond_the_file_takes_no_memory():
    entry = names(BERT)["bert/pooler/dense/kernel"]
    part = replace(entry.parts[0], size=1 << 50, shape=(1 << 24, 1 << 24))
    with pytest.raises(BadFile, match="lies at bytes"):
        read_tensor(BERT, replace(entry, shape=part.shape, parts=(part,)))


def test_slices_that_leave_a_part_out_are_refused():
    entry = names(ODD)["columns"]
    with pytest.raises(BadFile, match="its 2 slices leave a part of it out"):
        read_tensor(ODD, replace(entry, parts=(entry.parts[0], replace(entry.parts[1], start=(0, 44)))))
