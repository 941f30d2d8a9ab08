import json
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file
from serving import tiny_bert

import polyseme
from polyseme.encoders import Pretrained
from polyseme.encoders.elmo import ElmoConfig, ElmoEncoder
from polyseme.encoders.static import StaticConfig, StaticEncoder
from polyseme.errors import BadFile, Mistake
from polyseme.formats.fewer_bits import smaller, whole
from polyseme.text.bags import BagTokenizer
from polyseme.text.characters import CharacterTokenizer

TEXTS = ["A crack in the wall", "He was high on crack"]


@pytest.fixture
def elmo():
    torch.manual_seed(0)
    config = ElmoConfig(width=32, cell_width=64, n_highway=1, filters=((1, 16), (2, 16), (3, 32)))
    return Pretrained(CharacterTokenizer(config.max_characters), ElmoEncoder(config).eval())


@pytest.mark.parametrize("weights, most", [("float16", 2e-3), ("int8", 2e-2)])
def test_a_model_in_fewer_bits_is_smaller_and_nearly_the_same(elmo, weights, most, tmp_path):
    polyseme.save(elmo, tmp_path / "whole")
    polyseme.save(elmo, tmp_path / "small", weights=weights)
    sizes = [(tmp_path / name / "model.safetensors").stat().st_size for name in ("whole", "small")]
    assert sizes[1] < sizes[0] / (1.9 if weights == "float16" else 3)
    small = polyseme.load(tmp_path / "small")
    assert all(parameter.dtype == torch.float32 for parameter in small.encoder.parameters())
    for one, other in zip(elmo.embed(TEXTS), small.embed(TEXTS), strict=True):
        assert abs(one - other).max() < most


def test_each_row_is_off_by_half_a_step_at_the_most():
    tensor = torch.randn(40, 5, 7) * torch.logspace(-4, 2, 40).view(-1, 1, 1)
    back = whole(smaller({"weight": tensor}, "int8"), "here")["weight"]
    steps = tensor.flatten(1).abs().amax(1) / 127
    assert ((back - tensor).flatten(1).abs().amax(1) <= steps * 0.5001).all()


def test_what_is_stored_in_full_is_the_same():
    tensors = {"weight": torch.randn(64, 64), "bias.scale": torch.randn(64)}
    assert all(torch.equal(one, tensors[name]) for name, one in whole(smaller(tensors, "float32"), "here").items())


def test_a_matrix_without_its_scales_is_refused(elmo, tmp_path):
    polyseme.save(elmo, tmp_path / "small", weights="int8")
    path = tmp_path / "small" / "model.safetensors"
    tensors = load_file(path)
    save_file({name: tensor for name, tensor in tensors.items() if not name.endswith(".scale")}, path)
    with pytest.raises(BadFile, match="8 bits and wants"):
        polyseme.load(tmp_path / "small")


def test_other_formats_and_words_are_refused(elmo, tmp_path):
    with pytest.raises(Mistake, match="for format='native'"):
        polyseme.save(elmo, tmp_path / "x", format="elmo_hdf5", weights="int8")
    with pytest.raises(Mistake, match="is not known"):
        polyseme.save(elmo, tmp_path / "x", weights="int4")
    with pytest.raises(Mistake, match="16 bits cannot hold"):
        smaller({"bias": torch.tensor([1e9])}, "float16")


@pytest.mark.parametrize("shape", [(), (3,)])
def test_8_bits_without_rows_are_refused(shape):
    with pytest.raises(BadFile, match="8 bits and wants rows"):
        whole({"x": torch.zeros(shape, dtype=torch.int8), "x.scale": torch.ones(shape)}, "here")


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_what_is_no_number_is_not_rounded(wrong):
    tensor = torch.ones(64, 64)
    tensor[3, 5] = wrong
    with pytest.raises(Mistake, match="weight holds NaN or infinity"):
        smaller({"weight": tensor}, "int8")


def changed(folder, **changes):
    config = json.loads((folder / "config.json").read_text())
    config["encoder"] |= changes.pop("encoder", {})
    (folder / "config.json").write_text(json.dumps(config | changes))
    return folder


def test_an_output_layer_without_its_size_is_refused(elmo, tmp_path):
    polyseme.save(elmo, tmp_path / "elmo")
    with pytest.raises(BadFile, match=r"config\.json is damaged: lm is true, yet n_words"):
        polyseme.load(changed(tmp_path / "elmo", lm=True))


@pytest.mark.parametrize("size", [10**17, 10**30])
def test_sizes_that_no_memory_has_are_refused(tmp_path, size):
    static = Pretrained(BagTokenizer(("a", "b"), None, True), StaticEncoder(StaticConfig(n_rows=2, width=3)))
    polyseme.save(static, tmp_path / "static")
    with pytest.raises(BadFile, match=r"config\.json is damaged: no weights have these sizes"):
        polyseme.load(changed(tmp_path / "static", encoder={"n_rows": size, "width": size}))


def test_a_bert_has_no_more_pieces_than_rows(tmp_path):
    bert = tiny_bert()
    longer = replace(bert, tokenizer=bert.tokenizer.with_words(["zebra"]))
    polyseme.save(longer, tmp_path / "longer", weights="int8")
    with pytest.raises(BadFile, match=f"vocabulary has {longer.tokenizer.n_pieces} words"):
        polyseme.load(tmp_path / "longer")
    polyseme.save(bert, tmp_path / "bert", weights="int8")
    assert polyseme.load(tmp_path / "bert").encoder.widths == bert.encoder.widths
