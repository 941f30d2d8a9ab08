"""A BERT from tensors in Hugging Face's names and back, every tensor accounted for."""

from collections.abc import Mapping

import torch
from torch import Tensor

from polyseme.encoders.bert import BertEncoder
from polyseme.encoders.bert_config import BertConfig
from polyseme.encoders.bert_heads import BertHeads
from polyseme.errors import BadFile, listed
from polyseme.formats.hf_bert_names import ADJACENT, MASKED, POOLER, TIED, Names, canonical, encoder_names
from polyseme.formats.tensor_files import Stored

_PARTS = ("bert.", "cls.predictions.", "cls.seq_relationship.")


def build(
    config: BertConfig, tensors: Mapping[str, Stored], source: str
) -> tuple[BertEncoder, BertHeads | None, list[str]]:
    """An encoder, its heads where there are any, and the names of the tensors that are neither.

    Names and shapes are checked before the encoder takes memory; `source` is how errors call the tensors' file.
    """
    theirs = _by_canonical_name(tensors, source)
    for tied, name in TIED.items():
        if tied in theirs:
            theirs.setdefault(name, theirs[tied])
    untied = _untied(theirs)
    left_out = sorted(name for name in theirs if not name.startswith(_PARTS) or (untied and "cls.predictions" in name))
    theirs = {name: found for name, found in theirs.items() if name not in left_out and name not in TIED}
    config = config.model_copy(update={flag: any(map(theirs.__contains__, _flat(names))) for flag, names in _FLAGS})
    with torch.device("meta"):  # shapes without memory
        encoder, heads = BertEncoder(config), BertHeads(config)
    names = names_of(encoder, heads)
    _check(names, encoder.state_dict() | heads.state_dict(), theirs, source)
    found = {ours: _stacked([theirs[name] for name in parts]) for ours, parts in names.items()}
    if wrong := [names[ours][0] for ours, tensor in found.items() if not tensor.isfinite().all()]:
        raise BadFile(f"{source} holds NaN or infinity in {listed(wrong)}, not numbers. Take an earlier checkpoint.")
    for module in (encoder, heads):
        module.load_state_dict({name: found[name] for name in module.state_dict()}, assign=True)
        module.eval()
    has_heads = config.masked_head or config.adjacent_head
    return encoder, heads if has_heads else None, left_out


def to_theirs(encoder: BertEncoder, heads: BertHeads | None) -> dict[str, Tensor]:
    """All tensors in Hugging Face's names, in memory of their own."""
    ours = encoder.state_dict() | ({} if heads is None else heads.state_dict())
    found: dict[str, Tensor] = {}
    for name, parts in names_of(encoder, heads).items():
        for part, tensor in zip(parts, ours[name].chunk(len(parts)), strict=True):
            found[part] = tensor.detach().to("cpu", torch.float32, copy=True).contiguous()
    return found


def names_of(encoder: BertEncoder, heads: BertHeads | None) -> Names:
    """The part of the table that is for these."""
    names = encoder_names(len(encoder.stack))
    names |= POOLER if encoder.pooler is not None else {}
    if heads is not None:
        names |= MASKED if heads.masked is not None else {}
        names |= ADJACENT if heads.adjacent is not None else {}
    return names


def _flat(names: Names) -> list[str]:
    return [name for parts in names.values() for name in parts]


_FLAGS = [("pooler", POOLER), ("masked_head", MASKED), ("adjacent_head", ADJACENT)]


def _by_canonical_name(tensors: Mapping[str, Stored], source: str) -> dict[str, Stored]:
    found: dict[str, Stored] = {}
    for name, today in canonical(tensors).items():
        if today in found:
            raise BadFile(f"{source} holds {today} twice, once as {name}; which is right cannot be known.")
        found[today] = tensors[name]
    return found


def _untied(theirs: Mapping[str, Stored]) -> bool:
    """Whether the masked-word head has an output layer of its own, which ours has not."""
    for tied, name in TIED.items():
        one, other = theirs.get(tied), theirs.get(name)
        if one is None or other is None or one is other:
            continue
        if one.shape != other.shape or not torch.equal(one.read(), other.read()):
            return True
    return False


def _check(names: Names, ours: Mapping[str, Tensor], theirs: Mapping[str, Stored], source: str) -> None:
    """Refuse a file with a tensor missing, left over, of another shape or of a kind that is no float."""
    wanted = {
        part: (ours[name].shape[0] // len(parts), *ours[name].shape[1:])
        for name, parts in names.items()
        for part in parts
    }
    problems = []
    if missing := [name for name in wanted if name not in theirs]:
        problems.append(f"missing: {listed(missing)}")
    if extra := [name for name in theirs if name not in wanted]:
        problems.append(f"left over: {listed(extra)}")
    both = [(name, wanted[name], theirs[name]) for name in wanted if name in theirs]
    if wrong := [f"{name} {found.shape}, wanted {shape}" for name, shape, found in both if found.shape != shape]:
        problems.append(f"of another shape: {listed(wrong)}")
    if whole := [f"{name} {found.dtype}" for name, _, found in both if not found.is_float]:
        problems.append(f"not of floating point: {listed(whole)}")
    if problems:
        raise BadFile(f"{source} does not fit its config.json. Tensors {'; '.join(problems)}. Are both of one model?")


def _stacked(parts: list[Stored]) -> Tensor:
    """Theirs to ours, in float32 and in memory of its own."""
    return torch.cat([part.read().to(torch.float32) for part in parts])
