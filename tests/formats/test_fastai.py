import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from polyseme.encoders import Pretrained
from polyseme.encoders.awd_lstm import BidirectionalAwdLstm
from polyseme.encoders.encoder import Encoder
from polyseme.errors import BadFile, Mistake
from polyseme.formats import fastai
from polyseme.text.batches import offsets_of
from polyseme.types import Batch

TINY = Path(__file__).parent / "data" / "fastai_tiny"
OUTPUTS = np.load(TINY / "outputs.npz")


@pytest.fixture
def folder(tmp_path):
    for name in ("lstm_fwd.pth", "itos.pkl"):
        shutil.copy(TINY / name, tmp_path / name)
    return tmp_path


def batch_of(ids):
    n_sequences, length = ids.shape
    return Batch(
        ids=torch.from_numpy(ids).flatten(),
        offsets=offsets_of(torch.full((n_sequences,), length)),
        words=torch.arange(length).repeat(n_sequences),
        n_words=torch.full((n_sequences,), length),
        texts=torch.arange(n_sequences),
    )


def change(path, edit):
    """Read a model's state, let `edit` change it, and save it again."""
    state = torch.load(path, weights_only=True)
    edit(state)
    torch.save(state, path)


def test_layers_logits_and_state_are_those_fastai_computes():
    model = fastai.read(TINY / "lstm_fwd.pth")
    with torch.no_grad():
        found = model.encoder(batch_of(OUTPUTS["ids"]))
        logits = model.lm(found.layers[-1], model.encoder)
    for number, layer in enumerate(found.layers):
        wanted = OUTPUTS[f"layer_{number}"].reshape(layer.shape)
        assert abs(layer.numpy() - wanted).max() < 1e-5
        assert abs(wanted).max() > 0.1
    assert abs(logits.numpy() - OUTPUTS["logits"].reshape(logits.shape)).max() < 1e-5
    for place, tensor in enumerate(found.state):
        name = f"{'cell' if place % 2 else 'hidden'}_{place // 2}"
        assert abs(tensor.numpy() - OUTPUTS[name]).max() < 1e-5


def test_sequences_of_unequal_length_are_what_fastai_computes_for_each():
    model, whole = fastai.read(TINY / "lstm_fwd.pth"), batch_of(OUTPUTS["ids"])
    lengths = torch.tensor([4, 9, 6])
    rows = torch.cat([torch.arange(length) + 9 * number for number, length in enumerate(lengths)])
    batch = Batch(whole.ids[rows], offsets_of(lengths), whole.words[rows], lengths, whole.texts)
    with torch.no_grad():
        for number, layer in enumerate(model.encoder(batch).layers):
            wanted = OUTPUTS[f"layer_{number}"].reshape(27, -1)[rows]
            assert abs(layer.numpy() - wanted).max() < 1e-5


def test_the_vocabulary_and_sizes_are_those_of_the_file():
    model = fastai.read(TINY / "lstm_fwd.pth")
    assert model.tokenizer.words[:11] == (
        *("xxunk", "xxpad", "xxbos", "xxeos", "xxfld", "xxrep", "xxwrep", "xxup", "xxmaj", "the", ","),
    )
    assert len(model.tokenizer.words) == model.encoder.config.n_words == 32
    assert model.encoder.widths == (8, 12, 12, 8)
    assert model.provenance == {"source": {"format": "fastai", "file": "lstm_fwd.pth"}}
    assert model.embed(["The cat sat."])[0].shape == (4, 8)


def test_an_encoder_saved_alone_has_no_output_layer():
    whole, alone = fastai.read(TINY / "lstm_fwd.pth"), fastai.read(TINY / "encoder.pth")
    assert alone.lm is None
    assert all(
        torch.equal(tensor, alone.encoder.state_dict()[name]) for name, tensor in whole.encoder.state_dict().items()
    )


def test_a_model_saved_with_its_optimizer_is_read_without_it():
    model = fastai.read(TINY / "with_optimizer.pth")
    assert model.encoder.widths == (8, 12, 12, 8)
    assert model.lm is not None


def test_old_files_have_the_dropped_weights_beside_the_raw_ones(folder):
    """fastai 1 wrote the recurrent weight twice, and torch before 1.6 wrote no archives."""
    state = torch.load(folder / "lstm_fwd.pth", weights_only=True)
    for number in range(3):
        state[f"0.rnns.{number}.module.weight_hh_l0"] = state[f"0.rnns.{number}.weight_hh_l0_raw"] * 0
    torch.save({"model": state}, folder / "lstm_fwd.pth", _use_new_zipfile_serialization=False)
    assert fastai.sniff(folder / "lstm_fwd.pth")
    found, wanted = fastai.read(folder / "lstm_fwd.pth"), fastai.read(TINY / "lstm_fwd.pth")
    assert all(torch.equal(t, found.encoder.state_dict()[name]) for name, t in wanted.encoder.state_dict().items())


def test_what_is_read_can_be_trained_and_owns_its_memory(folder):
    model = fastai.read(folder / "lstm_fwd.pth")
    before = (folder / "lstm_fwd.pth").read_bytes()
    parameters = [*model.encoder.parameters(), *model.lm.parameters()]
    assert all(parameter.requires_grad and parameter.dtype == torch.float32 for parameter in parameters)
    with torch.no_grad():
        for parameter in parameters:
            parameter.add_(1)
    assert (folder / "lstm_fwd.pth").read_bytes() == before
    assert not model.encoder.training


def test_a_folder_with_one_model_is_read(folder):
    assert fastai.sniff(folder)
    assert fastai.read(folder).lm is not None


def test_a_folder_with_both_directions_is_a_pair(folder):
    shutil.copy(folder / "lstm_fwd.pth", folder / "lstm_bwd.pth")
    both = fastai.read(folder)
    assert isinstance(both.encoder, BidirectionalAwdLstm)
    assert both.encoder.widths == (16, 24, 24, 16)


def test_a_folder_with_several_models_asks_which(folder):
    shutil.copy(folder / "lstm_fwd.pth", folder / "other.pth")
    with pytest.raises(BadFile, match=r"has lstm_fwd\.pth, other\.pth; .*Name the file"):
        fastai.read(folder)


def test_the_name_says_the_direction_unless_you_do(folder):
    (folder / "lstm_fwd.pth").rename(folder / "lstm_bwd.pth")
    assert fastai.read(folder).tokenizer.reverse
    assert not fastai.read(folder / "lstm_bwd.pth", backward=False).tokenizer.reverse


@pytest.mark.parametrize("name", ["lstm_fwd.pth", "encoder.pth"])
def test_what_is_written_is_read_again(tmp_path, name):
    model = fastai.read(TINY / name)
    fastai.write(model, tmp_path)
    again = fastai.read(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["itos.pkl", "lstm_fwd.pth"]
    assert again.tokenizer.words == model.tokenizer.words
    for part in ("encoder", "lm"):
        one, other = getattr(model, part), getattr(again, part)
        assert (one is None) == (other is None)
        if one is not None:
            assert all(torch.equal(tensor, other.state_dict()[key]) for key, tensor in one.state_dict().items())


def test_what_is_written_has_fastais_own_names_in_its_order(tmp_path):
    fastai.write(fastai.read(TINY / "lstm_fwd.pth"), tmp_path)
    ours, theirs = (torch.load(path / "lstm_fwd.pth", weights_only=True) for path in (tmp_path, TINY))
    assert list(ours) == list(theirs)
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)


def test_a_pair_is_written_as_two_models(tmp_path, folder):
    shutil.copy(folder / "lstm_fwd.pth", folder / "lstm_bwd.pth")
    (tmp_path / "out").mkdir()
    fastai.write(fastai.read(folder), tmp_path / "out")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["itos.pkl", "lstm_bwd.pth", "lstm_fwd.pth"]
    assert isinstance(fastai.read(tmp_path / "out").encoder, BidirectionalAwdLstm)


def test_another_encoder_is_not_written(tmp_path):
    model = fastai.read(TINY / "lstm_fwd.pth")
    with pytest.raises(Mistake, match="for AWD-LSTMs; this is Encoder"):
        fastai.write(Pretrained(model.tokenizer, Encoder()), tmp_path)


def test_other_files_are_not_taken_for_it(tmp_path):
    torch.save({"weight": torch.ones(2)}, tmp_path / "resnet.pth")
    (tmp_path / "text.pth").write_text("rnn")
    (tmp_path / "empty.pth").touch()
    (tmp_path / "vocab.txt").write_text("rnns.0.module.weight_ih_l0")
    assert not any(fastai.sniff(path) for path in (tmp_path, *tmp_path.iterdir(), tmp_path / "absent.pth"))


@pytest.mark.parametrize(
    "name",
    ["0.rnns.1.module.bias_ih_l0", "0.rnns.2.weight_hh_l0_raw", "0.rnns.1.module.weight_ih_l0", "1.decoder.bias"],
)
def test_an_absent_tensor_is_named(folder, name):
    change(folder / "lstm_fwd.pth", lambda state: state.pop(name))
    with pytest.raises(BadFile, match=f"it lacks .*{name.removeprefix('0.')}"):
        fastai.read(folder)


def test_a_tensor_left_over_is_named(folder):
    change(folder / "lstm_fwd.pth", lambda state: state.update({"1.layers.0.weight": torch.ones(2)}))
    with pytest.raises(BadFile, match=r"it also has 1\.layers\.0\.weight"):
        fastai.read(folder)


def test_a_tensor_of_another_shape_is_named(folder):
    change(folder / "lstm_fwd.pth", lambda state: state.update({"0.rnns.1.module.weight_ih_l0": torch.ones(48, 8)}))
    with pytest.raises(BadFile, match=r"rnns\.1\.module\.weight_ih_l0 \(48, 8\) instead of \(48, 12\)"):
        fastai.read(folder)


@pytest.mark.parametrize("name", ["0.encoder.weight", "0.rnns.0.weight_hh_l0_raw"])
@pytest.mark.parametrize("wrong", [None, torch.ones(0, 8), torch.ones(48, 0), torch.ones(4)])
def test_what_tells_the_sizes_must_be_there_and_make_sense(folder, name, wrong):
    change(folder / "lstm_fwd.pth", lambda state: state.pop(name) if wrong is None else state.update({name: wrong}))
    with pytest.raises(BadFile, match=r"AWD-LSTM|tied"):
        fastai.read(folder)


def test_a_model_whose_weights_are_not_tied_is_refused(folder):
    change(folder / "lstm_fwd.pth", lambda state: state.update({"1.decoder.weight": torch.ones(32, 8)}))
    with pytest.raises(BadFile, match=r"1\.decoder\.weight differs from encoder\.weight"):
        fastai.read(folder)


def test_a_vocabulary_of_another_size_is_refused(folder):
    (folder / "itos.pkl").unlink()
    (folder / "vocab.txt").write_text("xxunk\nthe\n")
    with pytest.raises(BadFile, match=r"vocab\.txt has 2 words, but lstm_fwd\.pth has 32"):
        fastai.read(folder)


def test_a_vocabulary_without_the_special_words_is_refused(folder):
    (folder / "itos.pkl").unlink()
    (folder / "vocab.txt").write_text("".join(f"word{number}\n" for number in range(32)))
    with pytest.raises(BadFile, match=r"vocab\.txt: The vocabulary of 32 words lacks xxunk"):
        fastai.read(folder)


def test_a_missing_vocabulary_is_asked_for(folder):
    (folder / "itos.pkl").unlink()
    with pytest.raises(BadFile, match=r"needs the list of its words beside it.*Found: nothing"):
        fastai.read(folder)
    assert fastai.read(folder / "lstm_fwd.pth", vocabulary=TINY / "itos.pkl").lm is not None


def test_a_half_precision_file_is_read_as_float32(folder):
    def halve(state):
        for name in state:
            state[name] = state[name].half()

    change(folder / "lstm_fwd.pth", halve)
    assert fastai.read(folder).encoder.embedding.weight.dtype == torch.float32


def test_weights_that_are_no_numbers_are_refused(folder):
    change(folder / "lstm_fwd.pth", lambda state: state["0.rnns.0.weight_hh_l0_raw"].fill_(float("nan")))
    with pytest.raises(BadFile, match="holds NaN or infinity"):
        fastai.read(folder)
