"""The files of a WordPiece tokenizer: vocab.txt, tokenizer.json, tokenizer_config.json, special_tokens_map.json."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from polyseme.errors import BadFile, listed
from polyseme.text import word_lists

SPECIAL = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}  # in BERT's order

_LIMIT = 100_000_000  # bytes; the largest vocabularies have ten
_LONGEST_WINDOW = 1_000_000  # transformers writes 1e30 for "not known"
_NORMALIZER = {  # tokenizer_config.json's names and tokenizer.json's
    "do_lower_case": "lowercase",
    "tokenize_chinese_chars": "handle_chinese_chars",
    "strip_accents": "strip_accents",
}


def read(folder: Path) -> tuple[Tokenizer, dict[str, Any]]:
    """The tokenizer of a folder, and what its tokenizer_config.json says of it."""
    settings = _settings(folder)
    try:
        backend = _backend(folder, settings)
    except (TypeError, KeyError) as error:
        raise BadFile(f"{folder}: tokenizer_config.json says what no BERT's does ({error}). Copy it again.") from None
    for special in ("unk", "cls", "sep"):
        piece = special_piece(settings, special)
        if backend.token_to_id(piece) is None:
            raise BadFile(f"The vocabulary in {folder} has no {piece}; BERT's have one. Is it of another model?")
    return backend, settings


def write(backend: Tokenizer, settings: Mapping[str, Any], window: int, folder: Path) -> None:
    """The four files; transformers' AutoTokenizer reads the folder and gives the same ids."""
    specials = {f"{special}_token": special_piece(settings, special) for special in SPECIAL}
    known = json.loads(backend.to_str())["normalizer"] or {}
    normal = {key: known[name] for key, name in _NORMALIZER.items() if name in known}
    config = {**settings, **specials, **normal, "tokenizer_class": "BertTokenizer", "model_max_length": window}
    by_number = sorted((number, piece) for piece, number in backend.get_vocab().items())
    if [number for number, _ in by_number] == list(range(len(by_number))):  # a line is a number: no gaps
        (folder / "vocab.txt").write_text("".join(f"{piece}\n" for _, piece in by_number), "utf-8", newline="\n")
    (folder / "tokenizer.json").write_text(backend.to_str(), "utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1, sort_keys=True), "utf-8")
    (folder / "special_tokens_map.json").write_text(json.dumps(specials, indent=1), "utf-8")


def from_vocab(vocab: dict[str, int], settings: Mapping[str, Any]) -> Tokenizer:
    """BERT's tokenizer over a vocabulary."""
    unknown, cls, sep = (special_piece(settings, special) for special in ("unk", "cls", "sep"))
    backend = Tokenizer(models.WordPiece(vocab, unk_token=unknown, max_input_chars_per_word=100))
    backend.normalizer = normalizer(settings)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece()
    if cls in vocab and sep in vocab:
        backend.post_processor = processors.TemplateProcessing(
            single=f"{cls} $A {sep}",
            pair=f"{cls} $A {sep} $B:1 {sep}:1",
            special_tokens=[(cls, vocab[cls]), (sep, vocab[sep])],
        )
    known = [special_piece(settings, special) for special in SPECIAL]
    backend.add_special_tokens([piece for piece in known if piece in vocab])
    return backend


def with_pieces(backend: Tokenizer, numbers: Mapping[str, int]) -> Tokenizer:
    """The same tokenizer with more pieces in its vocabulary."""
    content = json.loads(backend.to_str())
    content["model"]["vocab"] |= numbers
    return Tokenizer.from_str(json.dumps(content))


def from_lines(path: Path, settings: dict[str, Any]) -> tuple[Tokenizer, dict[str, Any]]:
    """BERT's tokenizer over a file of one piece a line; its case is guessed where the settings do not say it."""
    vocab = {piece: number for number, piece in enumerate(word_lists.read_distinct(path))}
    settings.setdefault("do_lower_case", not _has_capitals(vocab))
    return from_vocab(vocab, settings), settings


def normalizer(settings: Mapping[str, Any]) -> normalizers.BertNormalizer:
    return normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=settings.get("tokenize_chinese_chars", True),
        strip_accents=settings.get("strip_accents"),
        lowercase=settings.get("do_lower_case", True),
    )


def special_piece(settings: Mapping[str, Any], special: str) -> str:
    """How a special piece is written; a few models have their own."""
    written = settings.get(f"{special}_token") or SPECIAL[special]
    return str(written["content"] if isinstance(written, dict) else written)


def window_of(settings: Mapping[str, Any], default: int = 512) -> int:
    """How many positions a sequence may have, where the files say so."""
    length = settings.get("model_max_length")
    return int(length) if isinstance(length, int | float) and 5 <= length <= _LONGEST_WINDOW else default


def _backend(folder: Path, settings: dict[str, Any]) -> Tokenizer:
    if (folder / "tokenizer.json").is_file():
        return _from_json(folder / "tokenizer.json", settings)
    if (folder / "vocab.txt").is_file():
        return from_lines(folder / "vocab.txt", settings)[0]
    found = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    raise BadFile(f"No vocab.txt in {folder}. Found: {listed(found)}. Copy it beside them.")


def _settings(folder: Path) -> dict[str, Any]:
    """What tokenizer_config.json says, and special_tokens_map.json where it says nothing."""
    found: dict[str, Any] = {}
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        if (folder / name).is_file():
            found |= _json(folder / name)
    return found


def _from_json(path: Path, settings: Mapping[str, Any]) -> Tokenizer:
    content = _json(path)
    model = content.get("model")
    if isinstance(model, dict) and (kind := model.get("type", "WordPiece")) != "WordPiece":
        raise BadFile(f"{path} holds a tokenizer of kind {kind}; BERT's is WordPiece. Is it of another model?")
    # as in transformers, tokenizer_config.json has the last word on how text is normalised
    if (content.get("normalizer") or {}).get("type") == "BertNormalizer":
        said = {name: settings[key] for key, name in _NORMALIZER.items() if key in settings}
        content["normalizer"] |= said
    content["truncation"] = content["padding"] = None  # we cut and pack ourselves
    try:
        return Tokenizer.from_str(json.dumps(content))
    except Exception as error:  # tokenizers raises no narrower class
        raise BadFile(f"{path} is no tokenizer: {error}. Copy it again, or delete it and keep vocab.txt.") from None


def _has_capitals(vocab: dict[str, int]) -> bool:
    """Whether a vocabulary is cased, for folders that do not say it; [UNK] and [unused7] count for nothing."""
    return any(piece != piece.lower() for piece in vocab if not piece.startswith("["))


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(_text(path))
    except BadFile:
        raise
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path} is not JSON: {error}. Copy it again.") from None
    if not isinstance(content, dict):
        raise BadFile(f"{path} holds a {type(content).__name__}; wanted an object in braces. Copy it again.")
    return content


def _text(path: Path) -> str:
    if (size := path.stat().st_size) > _LIMIT:
        raise BadFile(f"{path} has {size:,} bytes; a tokenizer's file has less than {_LIMIT:,}. Is it another file?")
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise BadFile(f"{path} is not UTF-8: {error}. Copy it again.") from None
