"""AllenNLP's own ELMo, imported without the packages that it needs for everything else."""

import importlib.abc
import importlib.machinery
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

VERSION = "2.10.1"  # the last; its dependencies can no longer be installed together


def allennlp(folder: Path | None) -> ModuleType:
    """allennlp.modules.elmo, from a folder of packages or, with None, installed into a throwaway one."""
    folder = folder or _installed()
    sys.path.append(str(folder))
    sys.meta_path.insert(0, _Blank(_HEAVY))
    sys.meta_path.append(_Blank(None))
    import allennlp.modules.elmo as elmo

    return elmo


def _installed() -> Path:
    folder = Path.home() / ".cache" / "polyseme-bench" / f"allennlp-{VERSION}"
    if not (folder / "allennlp").is_dir():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
        subprocess.run([*command, f"allennlp=={VERSION}"], check=True)
    return folder


# Installed here in versions it does not know, or slow to import, and not used by its ELMo.
_HEAVY = {"transformers", "spacy", "nltk", "datasets", "tensorboard", "wandb", "torchvision", "sklearn"}


class _Blank(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds an empty module for any of these packages; for None, for every package that nobody else found."""

    def __init__(self, names: set[str] | None) -> None:
        self.names = names

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        package = name.partition(".")[0]
        if package in ("allennlp", "torch", "numpy", "polyseme") or (self.names and package not in self.names):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _BlankModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


class _BlankModule(ModuleType):
    """Whatever is asked of it is a class that does nothing; called on one thing, it gives that thing back."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (_Anything,), {})


class _Kind(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (_Anything,), {})

    def __or__(cls, other: Any) -> Any:
        return cls


class _Anything(metaclass=_Kind):
    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1:  # a decorator, or cached_path(file, …)
            return args[0]
        return super().__new__(cls)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return args[0] if args else self
