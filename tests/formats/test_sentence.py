import json
import logging

import pytest
import torch

from polyseme.formats.sentence import sentence_settings, write_sentence


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
        ({"pooling_mode": ["mean", "max"]}, "mean+max"),
        ({"pooling_mode": 5}, "5"),
        ({"pooling_mode": "mean_sqrt_len_tokens"}, "mean_sqrt_len"),
        ({"pooling_mode_cls_token": True}, "cls"),
        ({"pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True}, "max+mean"),
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


SETTINGS = [
    {"pooling": "mean", "normalise": True, "max_pieces": 256},
    {"pooling": "cls", "normalise": False},
    {"pooling": "cls+mean_sqrt_len", "normalise": False, "similarity": "dot"},
    {"pooling": "mean+max", "normalise": True},
    {
        "pooling": "mean",
        "normalise": False,
        "prompts": {"query": "query: ", "document": ""},
        "default_prompt": "query",
        "include_prompt": False,
    },
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_what_is_written_is_read_again(tmp_path, settings):
    write_sentence(settings, 8, tmp_path)
    assert sentence_settings(tmp_path) == settings


@pytest.mark.parametrize(
    "settings", [{"pooling": "mean", "other_modules": ["Dense"]}, {"pooling": "unknown"}, {"pooling": ""}]
)
def test_what_is_not_known_is_told_and_not_written(tmp_path, settings, caplog):
    with caplog.at_level(logging.WARNING):
        write_sentence(settings, 8, tmp_path)
    assert "is not written" in caplog.text
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("settings", SETTINGS)
def test_what_is_written_means_the_same_to_sentence_transformers(tmp_path, settings):
    pytest.importorskip("sentence_transformers")
    from sentence_transformers.models import Pooling

    write_sentence(settings, 8, tmp_path)
    pooling, rows = Pooling.load(str(tmp_path / "1_Pooling")), torch.randn(1, 5, 8)
    found = pooling({"token_embeddings": rows, "attention_mask": torch.ones(1, 5)})["sentence_embedding"][0]
    poolings = {
        "cls": rows[0, 0],
        "mean": rows[0].mean(0),
        "max": rows[0].max(0).values,
        "mean_sqrt_len": rows[0].sum(0) / 5**0.5,
    }
    wanted = torch.cat([poolings[name] for name in settings["pooling"].split("+")])
    assert torch.allclose(found, wanted, atol=1e-6)
    assert pooling.include_prompt == settings.get("include_prompt", True)
