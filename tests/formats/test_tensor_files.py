import json

import pytest
import safetensors.torch
import torch

from polyseme.errors import BadFile
from polyseme.formats.tensor_files import stored

TENSORS = {"a": torch.arange(6.0).view(2, 3), "b": torch.ones(4, dtype=torch.bfloat16)}


def shard(folder, save, ending, places=None):
    names = {"a": f"part-1{ending}", "b": f"part-2{ending}"}
    for name, part in names.items():
        save({name: TENSORS[name]}, folder / part)
    stem = "model" if ending == ".safetensors" else "pytorch_model"
    (folder / f"{stem}{ending}.index.json").write_text(json.dumps({"weight_map": places or names}))


def old_save(tensors, path):
    torch.save(tensors, path, _use_new_zipfile_serialization=False)


FORMS = {
    "safetensors": lambda folder: safetensors.torch.save_file(TENSORS, folder / "model.safetensors"),
    "torch": lambda folder: torch.save(TENSORS, folder / "pytorch_model.bin"),
    "old torch": lambda folder: old_save(TENSORS, folder / "pytorch_model.bin"),
    "safetensors in parts": lambda folder: shard(folder, safetensors.torch.save_file, ".safetensors"),
    "torch in parts": lambda folder: shard(folder, torch.save, ".bin"),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_tensors(tmp_path, form):
    FORMS[form](tmp_path)
    _, found = stored(tmp_path)
    assert {name: tensor.shape for name, tensor in found.items()} == {"a": (2, 3), "b": (4,)}
    assert all(torch.equal(tensor.read(), TENSORS[name]) for name, tensor in found.items())
    assert all(tensor.is_float for tensor in found.values())


def test_safetensors_are_preferred(tmp_path):
    FORMS["torch"](tmp_path)
    FORMS["safetensors"](tmp_path)
    assert stored(tmp_path)[0] == "model.safetensors"


def test_a_folder_without_weights_says_what_is_there(tmp_path):
    (tmp_path / "config.json").touch()
    with pytest.raises(BadFile, match=r"wanted model.safetensors, .*Found: config.json"):
        stored(tmp_path)


def test_parts_outside_the_folder_are_not_followed(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    safetensors.torch.save_file({"a": TENSORS["a"]}, tmp_path / "secret.safetensors")
    for place in ("../secret.safetensors", str(tmp_path / "secret.safetensors"), "absent.safetensors"):
        shard(folder, safetensors.torch.save_file, ".safetensors", {"a": place})
        with pytest.raises(BadFile, match="parts that are not beside it"):
            stored(folder)


def test_an_index_that_promises_too_much_is_noticed(tmp_path):
    shard(tmp_path, safetensors.torch.save_file, ".safetensors", {"a": "part-1.safetensors", "z": "part-1.safetensors"})
    with pytest.raises(BadFile, match="do not hold: z"):
        stored(tmp_path)


@pytest.mark.parametrize(
    "content", ["{", "{}", "[]", '{"weight_map": 1}', '{"weight_map": {"a": 1}}', '{"weight_map": {"a": {}}}']
)
def test_an_index_of_another_kind_is_refused(tmp_path, content):
    (tmp_path / "model.safetensors.index.json").write_text(content)
    with pytest.raises(BadFile, match="is no index of parts"):
        stored(tmp_path)


@pytest.mark.parametrize("form", ["safetensors", "torch", "old torch"])
def test_a_file_cut_off_is_refused(tmp_path, form):
    FORMS[form](tmp_path)
    [path] = tmp_path.iterdir()
    whole = path.read_bytes()
    for length in (0, 1, 5, len(whole) // 3, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(BadFile, match=r"Copy it again|Nothing was run"):
            stored(tmp_path)


class Bomb:
    def __reduce__(self):
        return exec, ("raise SystemExit('run')",)


def test_nothing_in_a_pickle_is_run(tmp_path):
    torch.save({"a": Bomb()}, tmp_path / "pytorch_model.bin")
    with pytest.raises(BadFile, match=r"asks for exec.*Nothing was run"):
        stored(tmp_path)


def test_something_else_than_tensors_is_refused(tmp_path):
    torch.save({"a": [torch.ones(1)]}, tmp_path / "pytorch_model.bin")
    with pytest.raises(BadFile, match="must hold named tensors"):
        stored(tmp_path)
