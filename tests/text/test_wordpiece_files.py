import json

import pytest
import torch

from polyseme.errors import BadFile
from polyseme.text.wordpiece import WordPiece
from polyseme.text.words import to_text

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "The", "crack", "##s", "cafe", "café"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "vocab.txt").write_text("\n".join(PIECES) + "\n")
    return tmp_path


def configure(folder, **settings):
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return WordPiece.read(folder)


def pieces(tokenizer, string):
    return tokenizer.pieces(tokenizer.encode([to_text(string)]))[1:-1]


def test_settings_decide_about_case_and_accents(folder):
    assert pieces(configure(folder, do_lower_case=True), "The café cracks") == ["the", "cafe", "crack", "##s"]
    assert pieces(configure(folder, do_lower_case=False), "The café cracks") == ["The", "café", "crack", "##s"]
    assert pieces(configure(folder, do_lower_case=True, strip_accents=False), "The café") == ["the", "café"]


def test_a_vocabulary_with_capitals_is_cased_where_nothing_says_so(folder):
    assert pieces(WordPiece.read(folder), "The") == ["The"]
    (folder / "vocab.txt").write_text("\n".join(PIECES[:6]))
    assert pieces(WordPiece.read(folder), "The") == ["the"]


def test_settings_overrule_the_normaliser_in_tokenizer_json(folder, tmp_path):
    configure(folder, do_lower_case=True).write(tmp_path)
    assert pieces(configure(tmp_path, do_lower_case=False), "The") == ["The"]


def test_truncation_and_padding_in_tokenizer_json_are_ours_to_do(folder, tmp_path):
    tokenizer = WordPiece.read(folder)
    tokenizer.backend.enable_truncation(4)
    tokenizer.backend.enable_padding(length=4)
    tokenizer.write(tmp_path)
    assert len(pieces(WordPiece.read(tmp_path), "the " * 9)) == 9


def test_special_pieces_may_have_other_names(folder):
    (folder / "vocab.txt").write_text("\n".join(["<unk>", "<s>", "</s>", "the"]))
    tokenizer = configure(folder, unk_token="<unk>", cls_token={"content": "<s>"}, sep_token="</s>")
    assert tokenizer.encode([to_text("the")]).ids.tolist() == [1, 3, 2]


@pytest.mark.parametrize("said, window", [(128, 128), (int(1e30), 512), ("long", 512), (None, 512)])
def test_the_window_is_what_the_files_say_if_it_makes_sense(folder, said, window):
    assert configure(folder, model_max_length=said).window == window


def test_the_window_is_written(folder, tmp_path):
    WordPiece.read(folder).with_window(77).write(tmp_path)
    assert WordPiece.read(tmp_path).window == 77


def test_windows_line_ends_are_read(folder):
    before = WordPiece.read(folder).encode([to_text("The cracks")]).ids
    (folder / "vocab.txt").write_bytes("\r\n".join(PIECES).encode())
    assert torch.equal(WordPiece.read(folder).encode([to_text("The cracks")]).ids, before)


def test_a_folder_without_vocabulary_says_what_is_there(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(BadFile, match=r"No vocab.txt in .*\. Found: config.json\. Copy it beside them\."):
        WordPiece.read(tmp_path)


@pytest.mark.parametrize(
    "name, content, said",
    [
        ("tokenizer.json", "{", "not JSON"),
        ("tokenizer.json", "[]", "holds a list"),
        ("tokenizer.json", '{"model": {"type": "BPE"}}', "kind BPE"),
        ("tokenizer.json", '{"model": {"type": "WordPiece"}}', "is no tokenizer"),
        ("tokenizer.json", '{"model": 3}', "is no tokenizer"),
        ("tokenizer_config.json", "\xff", "not UTF-8"),
        ("tokenizer_config.json", '{"do_lower_case": "no"}', "says what no BERT's does"),
        ("tokenizer_config.json", '{"cls_token": {}, "unk_token": {"a": 1}}', "says what no BERT's does"),
        ("vocab.txt", "just\nwords", r"no \[UNK\]"),
    ],
)
def test_a_bad_file_is_named(folder, name, content, said):
    (folder / name).write_bytes(content.encode("latin-1"))
    with pytest.raises(BadFile, match=said):
        WordPiece.read(folder)
