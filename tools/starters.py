"""Make the encoders that come in the box: pretrain each with the recipe of its name, keep it in 8 bits, write its card.

    python tools/starters.py CORPUS --valid FILE --about WORDS --runs FOLDER [--only NAME …]

CORPUS and FILE are text as `polyseme pretrain` reads it; WORDS say on the card what it is. Killed at any moment, the
same command goes on where it was. Two to four hours of one core each, less for the static vectors.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

import polyseme
from polyseme.cli.progress import Stages
from polyseme.encoders import Pretrained
from polyseme.encoders.static import StaticConfig, StaticEncoder
from polyseme.files import new_folder, write_file
from polyseme.formats import native
from polyseme.pretrain import pretrain, recipe
from polyseme.pretrain.recipes import Recipe
from polyseme.text.bags import BagTokenizer
from polyseme.train.report import Report

NAMES = ("static-starter", "elmo-starter", "ulmfit-starter", "bert-starter")
KEPT = 26_000  # of static-starter's words, the most frequent: all four are to have 30 MB at the most
BOX = Path(__file__).resolve().parent.parent / "src" / "polyseme" / "starters"
MORE = {  # the one in the box, in 8 bits as it is there, goes on with these changes to its recipe
    "bert-starter": [
        "steps=9600", "length=128", "long_length=null", "shifted=false", "company=false", "rate=1e-3", "warm_up=0.05",
    ],
}  # fmt: skip

CARD = """# {name}

{what}. It came with polyseme: `polyseme.load("{name}")`.

- Made {made}, from {about}.
- {parameters:,} parameters, layers of {widths}; stored in 8 bits with a scale a row.
- Text: {files}

{scores}
## What it is for

To see transfer learning work without a network or a GPU, and as a baseline. It is small and has read little: for
serious work, pretrain on your own text, go on from a released model, or fit one of those. It knows English alone, and
thinks of people and things as its texts do.
"""

KINDS = {
    "static": f"One vector a word, by skip-gram; of its words the {KEPT:,} most frequent are kept",
    "elmo": "A biLM as in ELMo: a forward and a backward LSTM over a character CNN",
    "awd_lstm": "ULMFiT's AWD-LSTM, a forward and a backward one side by side",
    "bert": "A BERT, pretrained on masked words and sentence adjacency",
}


def main() -> None:
    options = parse()
    for name in options.only or NAMES:
        make(name, recipe(name), options)
        if name in MORE:
            make(name, recipe(name, MORE[name]), options, init=BOX / name)


def make(name: str, chosen: Recipe, options: argparse.Namespace, init: Path | None = None) -> None:
    """Into the box; `init` goes on with what is there."""
    out = options.runs / (f"{name}-more" if init else name)
    valid = () if name == "static-starter" else options.valid  # static vectors are not measured
    with Stages() as stages:

        def tell(report: Report) -> None:
            stages.show(f"{out.name}: {report.stage}", report.done, report.total, report.note)

        pretrain(chosen, options.corpus, out, valid=valid, init=init, tell=tell)
    size = store(name, polyseme.load(out), options.about)
    print(f"{name}: {size / 1e6:.1f} MB in {BOX / name}")


def store(name: str, made: Pretrained, about: str) -> int:
    """Into the package; how many bytes it has there."""
    made = replace(frequent(made), provenance=public(made.provenance))
    with new_folder(BOX / name, force=True) as folder:
        native.write(made, folder, weights="int8")
        write_file(folder / "README.md", card(name, made, about))
    return sum(path.stat().st_size for path in (BOX / name).iterdir())


def frequent(made: Pretrained) -> Pretrained:
    """Static vectors of the most frequent words, which come first; any other model as it is."""
    if not isinstance(made.encoder, StaticEncoder):
        return made
    assert isinstance(made.tokenizer, BagTokenizer)
    tokenizer = replace(made.tokenizer, words=made.tokenizer.words[:KEPT])
    encoder = StaticEncoder(StaticConfig(n_rows=tokenizer.n_rows, width=made.encoder.config.width))
    encoder.table.load_state_dict({"weight": made.encoder.table.weight[: tokenizer.n_rows]})
    return replace(made, tokenizer=tokenizer, encoder=encoder)


def public(provenance: dict[str, Any]) -> dict[str, Any]:
    """Without the folders of the machine it was made on."""
    parts = {key: provenance[key] for key in ("corpus", "valid") if key in provenance}
    named = {
        key: {**part, "files": [{**file, "path": Path(file["path"]).name} for file in part["files"]]}
        for key, part in parts.items()
    }
    return {**provenance, **named}


def card(name: str, made: Pretrained, about: str) -> str:
    facts, encoder = made.provenance, made.encoder
    files = [file for key in ("corpus", "valid") for file in facts.get(key, {}).get("files", [])]
    return CARD.format(
        name=name,
        what=KINDS[encoder.family],
        made=how(name, facts),
        about=about,
        parameters=sum(parameter.numel() for parameter in encoder.parameters()),
        widths=", ".join(map(str, encoder.widths)),
        files="; ".join(f"{file['path']}, sha256 {file['sha256'][:16]}…" for file in files),
        scores="".join(map(scores, [facts.get("init", {}).get("curve", []), facts.get("curve", [])])),
    )


def how(name: str, facts: dict[str, Any]) -> str:
    """By which commands, each with its seed and what it took."""
    cost, more = facts.get("cost"), f" --init {name} --set {' '.join(MORE[name])}" if "init" in facts else ""
    took = f" in {cost['seconds'] / 60:.0f} minutes on {cores(cost['threads'])}" if cost else ""
    said = f"by `polyseme pretrain {name}{more}` (seed {facts['recipe']['seed']}){took}"
    return f"{how(name, facts['init'])}, and then {said}" if "init" in facts else said


def cores(n: int) -> str:
    return "1 core" if n == 1 else f"{n} cores"


def scores(curve: list[dict[str, float]]) -> str:
    """What was measured on the text held out, while it learned."""
    if not curve:
        return ""
    names = [name for name in curve[-1] if name not in ("step", "loss", "norm", "rate")]
    lines = [["step", *(name.replace("_", " ") for name in names)], ["---"] * (len(names) + 1)]
    lines += [[f"{point['step']:,.0f}", *(f"{point[name]:.4g}" for name in names)] for point in curve]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"Measured on the text held out while it learned:\n\n{table}\n\n"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", nargs="+")
    parser.add_argument("--valid", nargs="+", required=True)
    parser.add_argument("--about", required=True)
    parser.add_argument("--runs", type=Path, required=True)
    parser.add_argument("--only", nargs="*", choices=NAMES)
    return parser.parse_args()


if __name__ == "__main__":
    main()
