import json

import pytest

from polyseme.formats.sentence import sentence_settings


def module(kind, path=""):
    return {"type": f"sentence_transformers.models.{kind}", "path": path}


def write(folder, modules, pooling=None):
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling or {}))
    return folder


def test_pooling_and_normalising_are_read(tmp_path):
    modules = [module("Transformer"), module("Pooling", "1_Pooling"), module("Normalize", "2_Normalize")]
    write(tmp_path, modules, {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True})
    (tmp_path / "sentence_bert_config.json").write_text('{"max_seq_length": 256}')
    assert sentence_settings(tmp_path) == {"pooling": "mean", "normalise": True, "max_pieces": 256}


@pytest.mark.parametrize(
    "pooling, name",
    [
        ({"pooling_mode": "cls"}, "cls"),
        ({"pooling_mode_cls_token": True}, "cls"),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True}, "mean+max"),
        ({"pooling_mode_mean_sqrt_len_tokens": True}, "mean_sqrt_len"),
    ],
)
def test_every_pooling_has_its_name(tmp_path, pooling, name):
    write(tmp_path, [module("Transformer"), module("Pooling", "1_Pooling")], pooling)
    assert sentence_settings(tmp_path) == {"pooling": name, "normalise": False}


def test_modules_we_do_not_have_are_named(tmp_path):
    write(tmp_path, [module("Pooling", "1_Pooling"), module("Dense", "2_Dense")], {"pooling_mode": "mean"})
    assert sentence_settings(tmp_path)["other_modules"] == ["Dense"]


def test_a_path_out_of_the_folder_is_not_followed(tmp_path):
    write(tmp_path, [module("Pooling", "../1_Pooling")], {"pooling_mode": "mean"})
    assert sentence_settings(tmp_path)["pooling"] == "unknown"


@pytest.mark.parametrize("modules", [{}, [], [1], [module("Transformer")]])
def test_other_folders_say_nothing(tmp_path, modules):
    assert sentence_settings(write(tmp_path, modules)) == {}
    (tmp_path / "modules.json").write_text("{")
    assert sentence_settings(tmp_path) == {}
