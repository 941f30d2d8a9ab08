import json
import logging
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from polyseme.errors import BadFile
from polyseme.formats import tf_bert
from polyseme.formats.tf_bert import config, hf_tensors, left_out, lower_case, sniff
from polyseme.formats.tf_checkpoint import names, read_tensor

DATA = Path(__file__).parent / "data"
FOLDER = DATA / "tf_bert_tiny"
PREFIX = FOLDER / "bert_model.ckpt"
KERNEL = "bert/encoder/layer_1/intermediate/dense/kernel"


@pytest.fixture
def bert(tmp_path):
    """A copy to change."""
    return Path(shutil.copytree(FOLDER, tmp_path / "bert"))


@pytest.fixture
def index(monkeypatch):
    """The index, to be changed before it is read."""
    found = names(PREFIX)
    monkeypatch.setattr(tf_bert, "names", lambda prefix: found)
    return found


def change(folder: Path, **settings: object) -> None:
    path = folder / "bert_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))


def in_transformers(settings: dict[str, object]):
    """Transformers' model with our tensors in it."""
    transformers = pytest.importorskip("transformers")
    model = transformers.BertForPreTraining(transformers.BertConfig(**settings)).eval()
    state = {name: torch.tensor(np.ascontiguousarray(value)) for name, value in hf_tensors(FOLDER).items()}
    absent, unknown = model.load_state_dict(state, strict=False)
    assert set(absent) <= {"cls.predictions.decoder.weight", "cls.predictions.decoder.bias"}  # tied
    assert not unknown
    return model


def compute(model) -> dict[str, np.ndarray]:
    stored = np.load(FOLDER / "expected.npz")
    ids, segments = torch.tensor(stored["ids"]), torch.tensor(stored["segments"])
    with torch.inference_mode():
        out = model(ids, (ids > 0).long(), segments, output_hidden_states=True)
        pooled = model.bert(ids, (ids > 0).long(), segments).pooler_output
    return {
        "layers": torch.stack(out.hidden_states).numpy(),
        "pooled": pooled.numpy(),
        "masked_word_logits": out.prediction_logits.numpy(),
        "next_sentence_logits": out.seq_relationship_logits.numpy(),
    }


def test_the_model_computes_in_transformers_what_it_computes_in_tensorflow():
    stored = np.load(FOLDER / "expected.npz")
    real = stored["ids"] > 0  # (rows, length)
    computed = compute(in_transformers(config(FOLDER)))
    assert np.abs(computed["layers"] - stored["layers"])[:, real].max() < 1e-5
    assert np.abs(computed["pooled"] - stored["pooled"]).max() < 1e-5
    assert np.abs(computed["masked_word_logits"] - stored["masked_word_logits"])[real].max() < 2e-5
    assert np.abs(computed["next_sentence_logits"] - stored["next_sentence_logits"]).max() < 1e-5


def test_the_activation_is_the_tanh_form_and_the_other_would_show():
    assert config(FOLDER)["hidden_act"] == "gelu_new"
    stored = np.load(FOLDER / "expected.npz")
    computed = compute(in_transformers({**config(FOLDER), "hidden_act": "gelu"}))
    assert np.abs(computed["pooled"] - stored["pooled"]).max() > 1e-4


def test_kernels_are_transposed_and_nothing_else_is():
    tensors, found = hf_tensors(FOLDER), names(PREFIX)
    kernel = read_tensor(PREFIX, found[KERNEL])
    assert kernel.shape == (8, 12)
    assert (tensors["bert.encoder.layer.1.intermediate.dense.weight"] == kernel.T).all()
    weights = read_tensor(PREFIX, found["cls/seq_relationship/output_weights"])
    assert (tensors["cls.seq_relationship.weight"] == weights).all()


def test_every_tensor_but_the_optimisers_is_taken():
    assert len(hf_tensors(FOLDER)) == len([name for name in names(PREFIX) if "adam" not in name]) - 1  # global_step
    assert left_out(FOLDER) == []


def test_tensors_are_views_of_the_file():
    assert all(not tensor.flags.owndata and not tensor.flags.writeable for tensor in hf_tensors(FOLDER).values())


def test_the_settings_are_those_of_the_file_in_hugging_faces_form(bert):
    change(bert, directionality="bidi", hidden_act="ReLU")
    settings = config(bert)
    assert settings["model_type"] == "bert"
    assert settings["layer_norm_eps"] == 1e-12
    assert (settings["vocab_size"], settings["hidden_size"], settings["type_vocab_size"]) == (30, 8, 2)
    assert (settings["directionality"], settings["hidden_act"]) == ("bidi", "relu")


def test_a_head_may_be_absent_as_a_whole(index):
    for name in [name for name in index if name.startswith(("cls/", "bert/pooler/"))]:
        del index[name]
    tensors = hf_tensors(FOLDER)
    assert len(tensors) == 5 + 2 * 16
    assert all(name.startswith(("bert.embeddings.", "bert.encoder.")) for name in tensors)


@pytest.mark.parametrize("name", ["cls/predictions/output_bias", KERNEL, "bert/pooler/dense/bias"])
def test_a_tensor_that_is_absent_is_named(index, name):
    del index[name]
    with pytest.raises(BadFile, match=f"it lacks {name}. Put the bert_config.json that came with"):
        hf_tensors(FOLDER)


def test_the_head_of_another_task_is_left_out_and_named(index, caplog):
    index["output_weights"] = index["cls/squad/output_bias"] = index["cls/predictions/output_bias"]
    index["output_weights/adam_m"] = index["output_weights"]
    with caplog.at_level(logging.WARNING):
        assert len(hf_tensors(FOLDER)) == 46
    assert "left out, not part of a pretrained BERT: output_weights, cls/squad/output_bias" in caplog.text
    assert left_out(FOLDER) == ["output_weights", "cls/squad/output_bias"]


def test_a_layer_more_than_the_settings_say_is_refused(bert):
    change(bert, num_hidden_layers=1)
    with pytest.raises(BadFile, match=r"it also has bert/encoder/layer_1/attention/output/LayerNorm/beta.* and 8 more"):
        hf_tensors(bert)


def test_a_layer_less_than_the_settings_say_is_refused(bert):
    change(bert, num_hidden_layers=3)
    with pytest.raises(BadFile, match="it lacks bert/encoder/layer_2/attention/self/query/kernel"):
        hf_tensors(bert)


def test_shapes_are_compared_before_any_number_is_read(bert):
    change(bert, vocab_size=31)
    (bert / "bert_model.ckpt.data-00000-of-00001").unlink()
    shapes = r"word_embeddings \(\(30, 8\); \(31, 8\) is wanted\), cls/predictions/output_bias \(\(30,\)"
    with pytest.raises(BadFile, match=f"has another shape for bert/embeddings/{shapes}"):
        hf_tensors(bert)


def test_whole_numbers_are_no_weights(index):
    index[KERNEL] = replace(index[KERNEL], dtype="int32")
    with pytest.raises(BadFile, match=f"no floating-point numbers in {KERNEL}"):
        hf_tensors(FOLDER)


def test_half_precision_becomes_float32(monkeypatch):
    wanted = hf_tensors(FOLDER)
    monkeypatch.setattr(tf_bert, "read_tensor", lambda prefix, entry: read_tensor(prefix, entry).astype(np.float16))
    for name, tensor in hf_tensors(FOLDER).items():
        assert tensor.dtype == np.float32
        assert (tensor == wanted[name].astype(np.float16)).all()


def test_other_models_and_other_ways_of_saving_are_told_apart(index):
    for name in [name for name in index if name.startswith("bert/")]:
        del index[name]
    with pytest.raises(
        BadFile, match=r"is no checkpoint of BERT: it has no bert/embeddings/word_embeddings. Found: cls/"
    ):
        hf_tensors(FOLDER)
    index["_CHECKPOINTABLE_OBJECT_GRAPH"] = index["global_step"]
    with pytest.raises(BadFile, match="was saved by TensorFlow 2"):
        hf_tensors(FOLDER)


def test_settings_that_are_absent_or_wrong_are_said(bert):
    path = bert / "bert_config.json"
    change(bert, hidden_size=-8, vocab_size=None)
    with pytest.raises(BadFile, match=r"bert_config.json: vocab_size .*, hidden_size Input should be greater than 0"):
        config(bert)
    change(bert, hidden_size=9, vocab_size=30)
    with pytest.raises(BadFile, match="hidden_size 9 cannot be shared by 2 heads"):
        config(bert)
    for text in ("{", "[" * 100_000, "\udcff"):
        path.write_bytes(text.encode(errors="surrogateescape"))
        with pytest.raises(BadFile, match="is not JSON"):
            config(bert)
    path.unlink()
    with pytest.raises(BadFile, match=r"No bert_config.json in .* Found: bert_model.ckpt.data-.* Copy it beside them"):
        config(bert)


@pytest.mark.parametrize(
    "name, lower",
    [
        ("uncased_L-12_H-768_A-12", True),
        ("cased_L-12_H-768_A-12", False),
        ("multi_cased_L-12_H-768_A-12", False),
        ("multilingual_L-12_H-768_A-12", True),
        ("chinese_L-12_H-768_A-12", True),
        ("BERT-Base-Uncased", True),
        ("wwm_cased_L-24_H-1024_A-16", False),
    ],
)
def test_the_folders_name_says_whether_words_are_lower_cased(bert, name, lower):
    assert lower_case(bert.rename(bert.with_name(name))) is lower


def test_the_vocabulary_says_it_where_the_name_does_not(bert):
    bert = bert.rename(bert.with_name("lowercased"))
    assert lower_case(bert) is True
    with (bert / "vocab.txt").open("a") as vocab:
        vocab.write("Paris\n")
    assert lower_case(bert) is False
    (bert / "vocab.txt").unlink()
    with pytest.raises(BadFile, match=r"No vocab.txt in"):
        lower_case(bert)


@pytest.mark.parametrize("path", [FOLDER, PREFIX, FOLDER / "bert_model.ckpt.index"])
def test_a_checkpoint_is_recognised_from_any_of_its_paths(path):
    assert sniff(path)


def test_a_checkpoint_without_its_settings_is_recognised_by_its_names(bert):
    (bert / "bert_config.json").unlink()
    assert sniff(bert)
    assert not sniff(DATA / "tf_odd")


def test_what_must_be_refused_with_a_reason_is_recognised(bert):
    shutil.copy(bert / "bert_model.ckpt.index", bert / "model.ckpt-1.index")
    assert sniff(bert)
    first = shutil.copy(DATA / "tf_v1/bert_model.ckpt", bert.parent / "bert_model.ckpt")
    shutil.copy(bert / "bert_config.json", bert.parent)
    assert sniff(Path(first))


def test_other_paths_are_not_recognised(tmp_path, bert):
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    assert not any(sniff(path) for path in (tmp_path, tmp_path / "config.json", tmp_path / "nowhere", Path(__file__)))
    for file in bert.glob("*.index"):
        file.write_bytes(b"damaged")
    assert sniff(bert)  # so that reading says what is wrong with it
    (bert / "bert_config.json").unlink()
    assert not sniff(bert)
