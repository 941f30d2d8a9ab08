"""Foreign files to Pretrained and back, one format a file; what a file is, is found out by looking."""

from importlib import import_module
from pathlib import Path
from types import ModuleType

from polyseme.encoders import Pretrained
from polyseme.errors import BadFile, Mistake, did_you_mean, listed
from polyseme.files import new_file, new_folder
from polyseme.formats.places import model_path
from polyseme.layers.products import Precision

# In the order they are tried. Each has sniff(path), read(path) and write(pretrained, path).
FORMATS = ("native", "hf_bert", "tf_bert", "elmo_hdf5", "fastai", "fasttext", "word2vec", "glove")
_FOLDERS = {"native", "hf_bert", "elmo_hdf5", "fastai"}  # what is written is a folder; the others are single files


def load(name: str | Path, precision: Precision = "float32") -> Pretrained:
    """The Pretrained in a file or folder of any known format, or of a name: elmo-starter, hub:bert-base-uncased.

    precision="int8" lets BERT and ELMo compute in 8 bits where nothing learns: about twice as fast.
    """
    path = model_path(name)
    found: Pretrained = format_of(path).read(path)
    return found.compute_in(precision)


def format_of(path: Path) -> ModuleType:
    """The module that reads this file or folder."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise BadFile(f"{path} is neither a file nor a folder. Save what it holds to a file first.")
    for name in FORMATS:
        module = format_named(name)
        if module.sniff(path):
            return module
    found = listed(sorted(p.name for p in path.iterdir())) if path.is_dir() else f"{_beginning(path)!r}…"
    raise BadFile(f"{path} is of no known kind. It holds: {found}. Known are {listed(FORMATS)}.")


def format_named(name: str) -> ModuleType:
    if name not in FORMATS:
        raise Mistake(f"There is no format {name!r}; there are {listed(FORMATS)}.{did_you_mean(name, FORMATS)}")
    return import_module(f"polyseme.formats.{name}")


def save(
    pretrained: Pretrained, path: str | Path, format: str | None = None, force: bool = False, weights: str = "float32"
) -> None:
    """Write a Pretrained, all of it or nothing; by default as a folder of ours, which for BERT is Hugging Face's.

    weights="float16" or "int8", for format="native" alone, makes a folder of half or a quarter of the size.
    """
    format = format or ("hf_bert" if pretrained.encoder.family == "bert" and weights == "float32" else "native")
    if weights != "float32" and format != "native":
        raise Mistake(f"weights={weights!r} is for format='native'; {format!r} has a layout that others read.")
    module, path = format_named(format), Path(path)
    if path.suffix == ".gz" and format not in _FOLDERS:
        raise Mistake(f"{path.name}: files are written unpacked. Leave .gz off, and pack it afterwards.")
    with new_folder(path, force) if format in _FOLDERS else new_file(path, force) as temporary:
        module.write(pretrained, temporary, **({"weights": weights} if weights != "float32" else {}))


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(16)
