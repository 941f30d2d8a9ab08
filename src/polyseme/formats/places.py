"""Where the model of a name is: on a path, in the box, or among those of the Hugging Face hub."""

from pathlib import Path

from polyseme.errors import BadFile, did_you_mean
from polyseme.formats import hub
from polyseme.starters import starters

_FILES = (".txt", ".bin", ".vec", ".gz", ".pth", ".hdf5", ".json", ".zip")  # what no model of the hub is called


def model_path(name: str | Path) -> Path:
    """A path stands for itself, a run's folder or a fitted model for the encoder in it; then names are looked up."""
    path, text = Path(name), str(name)
    if path.exists() or is_prefix(path):
        return _of_run(path)
    if text.startswith(hub.PREFIX):
        return hub.fetched(text.removeprefix(hub.PREFIX))
    found = starters().get(text) or hub.kept(text)
    if found is None:
        raise BadFile(f"There is no file or folder {text!r}.{_hint(path, text)}")
    return found


def is_prefix(path: Path) -> bool:
    """Whether a path is how the files of a TensorFlow checkpoint begin."""
    return path.parent.is_dir() and any(path.parent.glob(f"{path.name}.index"))


def _of_run(path: Path) -> Path:
    for fitted in (path / "fitted", path):
        if (fitted / "task.json").is_file():
            return fitted / "model"
    if not (path / "run.json").is_file():
        return path
    if not (path / "model").is_dir():
        raise BadFile(f"{path} is a run that has no model yet. Give the same command again to finish it.")
    return path / "model"


def _hint(path: Path, name: str) -> str:
    near = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
    if meant := did_you_mean(path.name, [*starters(), *near]):
        return meant
    if boxed := [one for one in starters() if one.startswith(f"{name.lower()}-")]:
        return f" Did you mean {boxed[0]!r}?"
    return f" For the model of that name on the Hugging Face hub: {hub.PREFIX}{name}" if _is_hub_name(path) else ""


def _is_hub_name(path: Path) -> bool:
    """Such as bert-base-uncased or google-bert/bert-base-uncased; the folder of a path that exists is no account."""
    if path.suffix.lower() in _FILES:
        return False
    return len(path.parts) == 1 or (len(path.parts) == 2 and not path.is_absolute() and not path.parent.exists())
