"""fastai's AWD-LSTM language models: a .pth file of weights with its list of words beside it."""

import re
from pathlib import Path

import torch
from torch import Tensor, nn

from polyseme.encoders.awd_lstm import (
    AwdLstmConfig,
    AwdLstmEncoder,
    BidirectionalAwdLstm,
    TiedDecoder,
)
from polyseme.encoders.awd_pair import apart, pair
from polyseme.encoders.pretrained import Pretrained
from polyseme.errors import BadFile, Mistake, listed
from polyseme.formats.itos import read_itos, write_itos
from polyseme.formats.pth import names_in, read_tensors
from polyseme.formats.tensors import fill
from polyseme.text.marked import MarkedWords

NAME = "fastai"

_TABLE = ("encoder.weight", "embedding.weight")
# fastai's name to ours; its recurrent weight is "raw" because the one inside the module has been dropped from
_LAYER = {
    "rnns.{}.weight_hh_l0_raw": "lstms.{}.weight_hh",
    "rnns.{}.module.weight_ih_l0": "lstms.{}.weight_ih",
    "rnns.{}.module.bias_ih_l0": "lstms.{}.bias_ih",
    "rnns.{}.module.bias_hh_l0": "lstms.{}.bias_hh",
}
_TIED = ("encoder_dp.emb.weight", "1.decoder.weight")  # the embedding again, under other names
_DROPPED = re.compile(r"rnns\.\d+\.module\.weight_hh_l0")  # what was left of the raw weight at the last step
_BIAS = "1.decoder.bias"


def sniff(path: Path) -> bool:
    """Whether this is such a .pth file, or a folder with one."""
    if path.is_dir():
        return any(sniff(file) for file in path.glob("*.pth"))
    return path.suffix == ".pth" and path.is_file() and b"rnns.0.module.weight_ih_l0" in names_in(path)


def read(path: Path, vocabulary: Path | None = None, backward: bool | None = None) -> Pretrained:
    """A language model, or an encoder alone; a folder with a forward and a backward model gives the pair.

    The words are looked for beside it (*itos*, *vocab* as .pkl, .json or .txt). Weights do not say which way they
    read: with "bwd" or "backward" in its name it is a backward model, unless you say otherwise.
    """
    if path.is_dir():
        return _read_folder(path, vocabulary, backward)
    backward = _is_backward(path) if backward is None else backward
    tensors = read_tensors(path)
    has_decoder = any(name.startswith("1.decoder.") for name in tensors)
    encoder, lm = _model(_without_copies(tensors, path), has_decoder, path)
    tokenizer = _tokenizer(vocabulary or _words_beside(path), encoder.config.n_words, path, backward)
    return Pretrained(tokenizer, encoder, {"source": {"format": NAME, "file": path.name}}, lm)


def write(pretrained: Pretrained, path: Path) -> None:
    """lstm_fwd.pth, lstm_bwd.pth or both, and itos.pkl, as fastai loads them, into a folder that is there."""
    models = apart(pretrained) if isinstance(pretrained.encoder, BidirectionalAwdLstm) else (pretrained,)
    for model in models:
        if not isinstance(model.encoder, AwdLstmEncoder) or not isinstance(model.tokenizer, MarkedWords):
            raise Mistake(f"fastai's format is for AWD-LSTMs; this is {type(model.encoder).__name__}.")
        name = "lstm_bwd.pth" if model.tokenizer.reverse else "lstm_fwd.pth"
        torch.save(_foreign_names(model.encoder, model.lm), path / name)
        write_itos(model.tokenizer.words, path / "itos.pkl")


def _read_folder(folder: Path, vocabulary: Path | None, backward: bool | None) -> Pretrained:
    files = sorted(file for file in folder.glob("*.pth") if sniff(file))
    if len(files) == 1:
        return read(files[0], vocabulary, backward)
    directions = {_is_backward(file): file for file in files}
    if len(files) != 2 or len(directions) != 2 or backward is not None:
        raise BadFile(
            f"{folder} has {listed(file.name for file in files)}; one AWD-LSTM is wanted, or a forward and a backward "
            "one (with bwd in its name). Name the file."
        )
    return pair(read(directions[False], vocabulary), read(directions[True], vocabulary))


def _is_backward(path: Path) -> bool:
    return "bwd" in path.stem.lower() or "backward" in path.stem.lower()


def _words_beside(path: Path) -> Path:
    found = [
        file
        for file in sorted(path.parent.iterdir())
        if file.suffix in (".pkl", ".json", ".txt") and ("itos" in file.stem or "vocab" in file.stem)
    ]
    if len(found) != 1:
        raise BadFile(
            f"{path} needs the list of its words beside it, as itos.pkl or vocab.json or vocab.txt. "
            f"Found: {listed(file.name for file in found)}. Copy it there, or say which with vocabulary=."
        )
    return found[0]


def _tokenizer(words: Path, n_words: int, path: Path, backward: bool) -> MarkedWords:
    found = read_itos(words)
    if len(found) != n_words:
        raise BadFile(
            f"{words} has {len(found)} words, but {path.name} has {n_words}. Use the one it was trained with."
        )
    try:
        return MarkedWords(found, reverse=backward)
    except Mistake as problem:
        raise BadFile(f"{words}: {problem}") from None


def _without_copies(tensors: dict[str, Tensor], path: Path) -> dict[str, Tensor]:
    """The encoder's names without their "0." (an encoder saved alone has none), and no tensor that is a copy."""
    named = {name.removeprefix("0."): tensor for name, tensor in tensors.items()}
    if len(named) < len(tensors):
        raise BadFile(f"{path} has tensors both with and without 0. before their names. Save one model a file.")
    kept = {name: value for name, value in named.items() if name not in _TIED and not _DROPPED.fullmatch(name)}
    table = named.get("encoder.weight")
    for name in _TIED:
        if name in named and table is not None and not torch.equal(named[name], table):
            raise BadFile(f"{path}: {name} differs from encoder.weight. Only tied weights can be read: they are one.")
    return kept


def _model(tensors: dict[str, Tensor], has_decoder: bool, path: Path) -> tuple[AwdLstmEncoder, TiedDecoder | None]:
    config = _config(tensors, path)
    with torch.device("meta"):  # shapes only, until every one is known to fit
        encoder, lm = AwdLstmEncoder(config), TiedDecoder(config) if has_decoder else None
    names, shapes = _names(config), {name: value.shape for name, value in encoder.state_dict().items()}
    wanted = {theirs: shapes[ours] for theirs, ours in names.items()}
    _account(tensors, wanted | ({} if lm is None else {_BIAS: lm.bias.shape}), path)
    fill(encoder, _copied(names, tensors), str(path))
    if lm is not None:
        fill(lm, _copied({_BIAS: "bias"}, tensors), str(path))
    return encoder.eval(), None if lm is None else lm.eval()


def _config(tensors: dict[str, Tensor], path: Path) -> AwdLstmConfig:
    """The sizes, from the shapes of two tensors and the number of layers."""
    table, recurrent = tensors.get("encoder.weight"), tensors.get("rnns.0.weight_hh_l0_raw")
    if table is None or recurrent is None or table.ndim != 2 or recurrent.ndim != 2 or 0 in table.shape:
        raise BadFile(
            f"{path} is no AWD-LSTM of fastai, which has matrices 0.encoder.weight and 0.rnns.0.weight_hh_l0_raw. "
            f"It has: {listed(tensors)}."
        )
    n_layers = sum(re.fullmatch(r"rnns\.\d+\.module\.weight_ih_l0", name) is not None for name in tensors)
    return AwdLstmConfig(
        n_words=table.shape[0],
        embedding_width=table.shape[1],
        hidden_width=max(1, recurrent.shape[1]),
        n_layers=max(1, n_layers),
    )


def _copied(names: dict[str, str], tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Under our names, as copies: those in the file are only mapped."""
    return {ours: tensors[theirs].to(torch.float32, copy=True).contiguous() for theirs, ours in names.items()}


def _names(config: AwdLstmConfig) -> dict[str, str]:
    """fastai's name of each tensor of an encoder, without its 0., to ours; in fastai's order."""
    layers = [
        (theirs.format(number), ours.format(number))
        for number in range(config.n_layers)
        for theirs, ours in _LAYER.items()
    ]
    return dict([_TABLE, *layers])


def _account(tensors: dict[str, Tensor], wanted: dict[str, torch.Size], path: Path) -> None:
    """Every tensor must be there, known, and of the shape that the sizes ask for."""
    problems = {
        "it lacks": [name for name in wanted if name not in tensors],
        "it also has": [name for name in tensors if name not in wanted],
        "of another shape are": [
            f"{name} {tuple(tensors[name].shape)} instead of {tuple(shape)}"
            for name, shape in wanted.items()
            if name in tensors and tensors[name].shape != shape
        ],
    }
    if said := [f"{what} {listed(names)}" for what, names in problems.items() if names]:
        raise BadFile(f"{path} is not a whole AWD-LSTM language model or encoder of fastai: {'; '.join(said)}.")


def _foreign_names(encoder: AwdLstmEncoder, lm: nn.Module | None) -> dict[str, Tensor]:
    """A state dict for fastai: of a language model, or without an output layer of the encoder alone.

    Its load_pretrained() goes by the order of the tensors, not by their names.
    """
    ours, table, prefix = encoder.state_dict(), encoder.embedding.weight.detach(), "0." if lm is not None else ""
    (first, _), *others = _names(encoder.config).items()
    state = {prefix + first: table, prefix + _TIED[0]: table}
    state |= {prefix + theirs: ours[name] for theirs, name in others}
    if isinstance(lm, TiedDecoder):
        state |= {_TIED[1]: table, _BIAS: lm.bias.detach()}
    return state
