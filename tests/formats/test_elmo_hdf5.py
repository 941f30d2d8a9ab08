"""Released ELMo files: the authors' own vectors, round trips, and files that are not what they should be."""

import json
import shutil

import h5py
import numpy as np
import pytest
import torch
from torch import nn

import polyseme
from polyseme.encoders import Pretrained
from polyseme.encoders.elmo import ElmoConfig, ElmoEncoder
from polyseme.errors import BadFile, Mistake
from polyseme.formats import elmo_hdf5
from polyseme.formats.elmo_layout import tensors
from polyseme.layers.pool import to_words
from polyseme.text.characters import CharacterTokenizer
from polyseme.text.words import to_text

TINY = ElmoConfig(
    character_width=4,
    filters=((1, 4), (3, 8)),
    activation="tanh",
    n_highway=1,
    max_characters=20,
    width=6,
    cell_width=10,
    n_layers=3,
    cell_clip=None,
    projection_clip=0.5,
    dropout=0.2,
)


@pytest.fixture
def fixture(shared):
    return shared / "data" / "elmo-fixture"


@pytest.fixture
def folder(tmp_path):
    """A folder we wrote."""
    polyseme.save(tiny(), tmp_path / "elmo", format="elmo_hdf5")
    return tmp_path / "elmo"


def tiny(config=TINY, vocabulary=None):
    torch.manual_seed(0)
    encoder = ElmoEncoder(config).eval()
    for parameter in encoder.parameters():
        nn.init.normal_(parameter)
    return Pretrained(CharacterTokenizer(config.max_characters, vocabulary), encoder)


def datasets(path):
    found = {}
    with h5py.File(path, "r") as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return found


def sentences(fixture):
    """Ten batches of three sentences, each with what the authors' code gave for it: (words, 2 * width)."""
    texts = json.loads((fixture / "lm_embeddings_sentences.json").read_text())
    for i in range(10):
        vectors = []
        for k in range(3):
            with h5py.File(fixture / f"lm_embeddings_{k}.hdf5", "r") as file:
                vectors.append(torch.from_numpy(np.concatenate(list(file[str(i)][()]), 1)))
        yield [to_text(texts[k][i].split()) for k in range(3)], vectors


def test_vectors_are_those_of_the_authors_with_the_state_carried_on(fixture):
    elmo, state = elmo_hdf5.read(fixture), None
    for texts, wanted in sentences(fixture):
        batch = elmo.tokenizer.encode(texts)
        with torch.inference_mode():
            encoding = elmo.encoder(batch, state)
        state = encoding.state
        words = to_words(encoding, batch)
        assert words.offsets.diff().tolist() == [len(vectors) for vectors in wanted]
        assert (words.layers[-1] - torch.cat(wanted)).abs().max() < 1e-5


def test_vectors_without_a_state_are_those_of_the_authors_first_batch(fixture):
    elmo = elmo_hdf5.read(fixture)
    (texts, wanted), (other, _) = list(sentences(fixture))[:2]
    elmo.embed([text.words for text in other])  # leaves no trace
    found = elmo.embed([text.words for text in texts])
    for one, vectors in zip(found, wanted, strict=True):
        assert abs(one - vectors.numpy()).max() < 1e-5


def test_a_released_file_is_written_as_it_was(fixture, tmp_path):
    polyseme.save(elmo_hdf5.read(fixture), tmp_path / "copy", format="elmo_hdf5")
    before, after = datasets(fixture / "lm_weights.hdf5"), datasets(tmp_path / "copy" / "lm_weights.hdf5")
    assert sorted(before) == sorted(after)
    for name, array in before.items():
        assert array.dtype == after[name].dtype
        assert array.shape == after[name].shape
        assert array.tobytes() == after[name].tobytes(), name
    wanted = json.loads((fixture / "options.json").read_text())
    found = json.loads((tmp_path / "copy" / "options.json").read_text())
    assert found == {**wanted, "dropout": 0.1}


@pytest.mark.parametrize(
    "config",
    [
        TINY,
        TINY.model_copy(update={"skip": False, "n_highway": 0, "activation": "relu"}),
        TINY.model_copy(update={"filters": ((2, 6),), "token_projection": False}),
        TINY.model_copy(update={"filters": ((2, 6),)}),
    ],
)
@pytest.mark.parametrize("vocabulary", [None, ("the", "of")])
def test_what_is_written_is_read_again(tmp_path, config, vocabulary):
    before = tiny(config, vocabulary)
    polyseme.save(before, tmp_path / "elmo", format="elmo_hdf5")
    after = elmo_hdf5.read(tmp_path / "elmo")
    assert after.encoder.config == config
    assert after.tokenizer == before.tokenizer
    state = after.encoder.state_dict()
    assert all(torch.equal(tensor, state[name]) for name, tensor in before.encoder.state_dict().items())
    assert all(parameter.requires_grad for parameter in after.encoder.parameters())
    assert not after.encoder.training


def test_a_model_read_in_inference_mode_can_learn(folder):
    with torch.inference_mode():
        encoder = elmo_hdf5.read(folder).encoder
    assert not any(parameter.is_inference() for parameter in encoder.parameters())


def test_the_forget_gates_bias_is_stored_without_its_1(tmp_path):
    pretrained = tiny()
    lstm = pretrained.encoder.layers[0].ahead
    with torch.no_grad():
        lstm.input.bias.copy_(torch.arange(40.0))
    polyseme.save(pretrained, tmp_path / "elmo", format="elmo_hdf5")
    bias = datasets(tmp_path / "elmo" / "lm_weights.hdf5")["RNN_0/RNN/MultiRNNCell/Cell0/LSTMCell/B"]
    i, f, o, j = np.arange(40.0).reshape(4, 10)
    assert bias.tolist() == [*i, *j, *f, *o]


@pytest.mark.parametrize("n_characters", [261, 262])
def test_options_of_training_and_of_inference_are_read(folder, n_characters):
    change_options(folder, lambda options: options["char_cnn"].update(n_characters=n_characters))
    assert elmo_hdf5.read(folder).encoder.words.characters.shape[0] == 261


def test_what_options_may_leave_out_is_off(folder):
    def change(options):
        for name in ("use_skip_connections", "proj_clip", "cell_clip"):
            del options["lstm"][name]

    change_options(folder, change)
    config = elmo_hdf5.read(folder).encoder.config
    assert (config.skip, config.cell_clip, config.projection_clip) == (False, None, None)


def test_a_folder_or_either_file_is_known_for_what_it_is(folder, tmp_path):
    weights = folder / "lm_weights.hdf5"
    assert elmo_hdf5.sniff(folder)
    assert elmo_hdf5.sniff(weights)
    assert elmo_hdf5.sniff(folder / "options.json")
    assert elmo_hdf5.read(weights).encoder.config == elmo_hdf5.read(folder / "options.json").encoder.config
    assert not elmo_hdf5.sniff(tmp_path)
    assert not elmo_hdf5.sniff(folder / "nothing.hdf5")
    assert not elmo_hdf5.sniff(folder / "manifest.json")
    weights.unlink()
    assert not elmo_hdf5.sniff(folder)
    with pytest.raises(BadFile, match=r"options\.json with …weights\.hdf5 beside it"):
        elmo_hdf5.read(folder)


def test_of_several_models_in_a_folder_one_must_be_named(folder):
    for name, config in [("small", TINY), ("large", TINY.model_copy(update={"cell_width": 12}))]:
        polyseme.save(tiny(config), folder / "new", format="elmo_hdf5")
        (folder / "new" / "options.json").rename(folder / f"elmo_{name}_options.json")
        (folder / "new" / "lm_weights.hdf5").rename(folder / f"elmo_{name}_weights.hdf5")
        shutil.rmtree(folder / "new")
    (folder / "options.json").unlink()
    with pytest.raises(BadFile, match="several models: elmo_large_options"):
        elmo_hdf5.read(folder)
    assert elmo_hdf5.read(folder / "elmo_large_options.json").encoder.config.cell_width == 12
    assert elmo_hdf5.read(folder / "elmo_small_weights.hdf5").encoder.config.cell_width == 10


def change_options(folder, change):
    options = json.loads((folder / "options.json").read_text())
    change(options)
    (folder / "options.json").write_text(json.dumps(options))


@pytest.mark.parametrize(
    "change, problem",
    [
        (lambda options: options.pop("char_cnn"), r"char_cnn: Field required"),
        (lambda options: options["char_cnn"].update(n_characters=60), "char_cnn.n_characters"),
        (lambda options: options["char_cnn"].update(activation="gelu"), "char_cnn.activation"),
        (lambda options: options["lstm"].update(n_layers=10**9), "n_layers"),
        (lambda options: options["lstm"].update(dim=10**12), "cell_width"),
        (lambda options: options["lstm"].update(dim=-1), "cell_width"),
        (lambda options: options["lstm"].update(n_layers=4), r"lacks RNN_0/RNN/MultiRNNCell/Cell3/LSTMCell/B"),
        (lambda options: options["lstm"].update(n_layers=2), r"has RNN_0/RNN/MultiRNNCell/Cell2/LSTMCell/B"),
        (lambda options: options["lstm"].update(dim=11), r"W_0 has the shape \(12, 40\); its options want \(12, 44\)"),
        (lambda options: options["char_cnn"].update(filters=[[1, 4], [40, 8]]), "40 characters wide"),
        (lambda options: options["char_cnn"].update(n_highway=0), "has CNN_high_0/W_carry"),
    ],
)
def test_options_that_do_not_fit_are_named(folder, change, problem):
    change_options(folder, change)
    with pytest.raises(BadFile, match=problem):
        elmo_hdf5.read(folder)


def in_part(name, shape):
    """Of many chunks one is written: HDF5 takes the others for zeros, however many are claimed."""

    def change(file):
        del file[name]
        made = file.create_dataset(name, shape=shape, dtype="f4", compression="gzip", chunks=(32, 4))
        made[:32] = np.random.default_rng(0).normal(size=(32, 4))

    return change


def replace(name, **dataset):
    def change(file):
        del file[name]
        if dataset:
            file.create_dataset(name, **dataset)

    return change


@pytest.mark.parametrize(
    "change, problem",
    [
        (replace("char_embed"), "lacks char_embed"),
        (replace("CNN_proj/b_proj"), "lacks CNN_proj/b_proj"),
        (lambda file: file.create_dataset("softmax/W", data=[1.0]), "has softmax/W"),
        (replace("char_embed", data=np.zeros((262, 4), "f4")), r"char_embed has the shape \(262, 4\)"),
        (replace("char_embed", data=np.zeros((261, 4), "f8")), "char_embed is of type float64"),
        (replace("char_embed", data=np.zeros((261, 4), "i4")), "char_embed is of type int32"),
        (replace("char_embed", shape=(261, 4), dtype="f4", chunks=True), "char_embed has 0 bytes of values"),
        (
            replace("char_embed", shape=(261, 4), dtype="f4", external=[("elsewhere", 0, 5000)]),
            "char_embed keeps its values in another file",
        ),
        (replace("char_embed", data=np.zeros((261, 4), "f4"), compression="gzip"), None),
        (in_part("char_embed", (261, 4)), "char_embed lacks a part of its values"),
        (replace("char_embed", data=np.full((261, 4), np.nan, "f4")), "holds NaN or infinity"),
    ],
)
def test_weights_that_do_not_fit_are_named(folder, change, problem):
    with h5py.File(folder / "lm_weights.hdf5", "r+") as file:
        change(file)
    if problem is None:
        assert elmo_hdf5.read(folder).encoder.words.characters.abs().max() == 0
    else:
        with pytest.raises(BadFile, match=problem):
            elmo_hdf5.read(folder)


@pytest.mark.parametrize("content", [b"", b"not HDF5 at all", b"\x89HDF\r\n\x1a\n"])
def test_a_file_that_is_not_hdf5_is_named(folder, content):
    (folder / "lm_weights.hdf5").write_bytes(content)
    with pytest.raises(BadFile, match=r"lm_weights\.hdf5 is no HDF5 file or a damaged one"):
        elmo_hdf5.read(folder)


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9, 0.999])
def test_a_file_that_was_cut_off_is_named(folder, kept):
    weights = folder / "lm_weights.hdf5"
    content = weights.read_bytes()
    weights.write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(BadFile, match=r"lm_weights\.hdf5 is no HDF5 file or a damaged one"):
        elmo_hdf5.read(folder)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe"])
def test_options_that_are_no_options_are_named(folder, content):
    (folder / "options.json").write_bytes(content)
    with pytest.raises(BadFile, match=r"options\.json"):
        elmo_hdf5.read(folder)


def test_another_encoder_has_no_place_here(tmp_path):
    with pytest.raises(Mistake, match="holds ELMo only"):
        polyseme.save(Pretrained(CharacterTokenizer(), nn.Identity()), tmp_path / "elmo", format="elmo_hdf5")


def test_a_softmax_is_left_out_and_that_is_said(tmp_path, caplog):
    pretrained = tiny()
    polyseme.save(
        Pretrained(pretrained.tokenizer, pretrained.encoder, lm=nn.Linear(6, 9)), tmp_path / "elmo", format="elmo_hdf5"
    )
    assert "no place for the softmax" in caplog.text
    assert elmo_hdf5.read(tmp_path / "elmo").lm is None


def test_a_small_file_that_claims_terabytes_takes_none(folder):
    def large(fields):
        fields["lstm"].update(dim=1 << 20, projection_dim=1 << 20)

    change_options(folder, large)
    sizes = json.loads((folder / "options.json").read_text())
    with h5py.File(folder / "lm_weights.hdf5", "w") as file:
        for stored in tensors(elmo_hdf5._read_options(folder / "options.json").config(token_projection=True)):
            chunks = tuple(min(size, 64) for size in stored.shape)
            file.create_dataset(stored.name, shape=stored.shape, dtype="f4", compression="gzip", chunks=chunks)
    assert sizes["lstm"]["dim"] == 1 << 20
    with pytest.raises(BadFile, match=r"bytes of values; wanted|lacks a part"):
        elmo_hdf5.read(folder)
