import os
import zipfile

import pytest
import torch

from polyseme.errors import BadFile
from polyseme.formats.pth import names_in, read_tensors

TENSORS = {"a.weight": torch.arange(6.0).view(2, 3), "b": torch.ones(4)}


class Payload:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("wrapped", [True, False])
def test_named_tensors_are_read_old_and_new_bare_and_wrapped(tmp_path, zipped, wrapped):
    state = {"model": TENSORS, "opt": {"state": [1, 2.0, "x"]}} if wrapped else TENSORS
    torch.save(state, tmp_path / "m.pth", _use_new_zipfile_serialization=zipped)
    found = read_tensors(tmp_path / "m.pth")
    assert found.keys() == TENSORS.keys()
    assert all(torch.equal(found[name], TENSORS[name]) for name in TENSORS)


@pytest.mark.parametrize("zipped", [True, False])
def test_a_file_that_runs_a_command_is_refused_and_runs_nothing(tmp_path, zipped):
    state = {**TENSORS, "extra": Payload(tmp_path / "harm")}
    torch.save(state, tmp_path / "m.pth", _use_new_zipfile_serialization=zipped)
    with pytest.raises(BadFile, match=r"asks for .*system.*Nothing was run"):
        read_tensors(tmp_path / "m.pth")
    assert not (tmp_path / "harm").exists()


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("kept", [0, 10, 500, -1])
def test_a_truncated_file_is_refused(tmp_path, zipped, kept):
    torch.save(TENSORS, tmp_path / "m.pth", _use_new_zipfile_serialization=zipped)
    content = (tmp_path / "m.pth").read_bytes()
    (tmp_path / "m.pth").write_bytes(content[: kept if kept < len(content) else -1])
    with pytest.raises(BadFile, match=r"m\.pth"):
        read_tensors(tmp_path / "m.pth")


def test_a_tensor_that_claims_more_numbers_than_it_has_is_refused(tmp_path):
    torch.save({"a": torch.zeros(1).expand(10**6, 10**6)}, tmp_path / "m.pth")
    with pytest.raises(BadFile, match="these are none: a"):
        read_tensors(tmp_path / "m.pth")


@pytest.mark.parametrize("zipped", [True, False])
def test_a_storage_that_claims_more_bytes_than_the_file_has_is_refused(tmp_path, zipped):
    torch.save({"a": torch.zeros(1000)}, tmp_path / "m.pth", _use_new_zipfile_serialization=zipped)
    content = (tmp_path / "m.pth").read_bytes()
    small, large = b"M" + (1000).to_bytes(2, "little"), b"M" + (60000).to_bytes(2, "little")
    assert content.count(small) >= 2  # the storage's size and the tensor's
    (tmp_path / "m.pth").write_bytes(content.replace(small, large))
    with pytest.raises(BadFile):
        read_tensors(tmp_path / "m.pth")


def test_a_compressed_archive_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "m.pth", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("m/data.pkl", b"\0" * 10**7)
    with pytest.raises(BadFile, match="compressed or damaged"):
        read_tensors(tmp_path / "m.pth")


@pytest.mark.parametrize("thing", [[1, 2], {}, torch.ones(2), {"a": 1}, {1: torch.ones(2)}])
def test_what_is_no_set_of_named_tensors_is_refused(tmp_path, thing):
    torch.save(thing, tmp_path / "m.pth")
    with pytest.raises(BadFile, match="named tensors"):
        read_tensors(tmp_path / "m.pth")


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(BadFile, match="There is no file"):
        read_tensors(tmp_path / "m.pth")


@pytest.mark.parametrize("place, value", [(6, 255), (8, 1), (46, 0xFF)])
def test_an_archive_whose_directory_is_damaged_is_refused_and_looked_at_without_harm(tmp_path, place, value):
    """A version that nobody knows, the mark of an encrypted entry, a name that is no text."""
    path = tmp_path / "m.pth"
    torch.save(TENSORS, path)
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + place] = value
    path.write_bytes(content)
    assert isinstance(names_in(path), bytes)
    with pytest.raises(BadFile, match=r"m\.pth"):
        read_tensors(path)
