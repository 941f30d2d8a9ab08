"""Files that are either wholly there or not there at all."""

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from polyseme.errors import BadFile, Busy, listed

MANIFEST = "manifest.json"
_SHA256 = re.compile(r"[0-9a-f]{64}")


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file in one step: whoever looks sees the old content or the new, never a part."""
    with new_file(path, force=True) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def new_file(path: Path, force: bool = False) -> Iterator[Path]:
    """Give the path of a temporary file to write; when the block ends well, move it to `path`."""
    path = path.absolute()
    _refuse_existing(path, force)
    if path.is_dir():
        raise BadFile(f"{path} is a folder; a file is to be written there. Choose another place.")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        temporary.chmod(_mode(path, 0o666))  # mkstemp makes files that only their owner may read
        yield temporary
        _sync(temporary)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


@contextmanager
def new_folder(path: Path, force: bool = False) -> Iterator[Path]:
    """Give a temporary folder to fill; when the block ends well, hash what is in it and move it to `path`."""
    path = path.absolute()
    _refuse_existing(path, force)
    _refuse_strangers(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        temporary.chmod(_mode(path, 0o777))
        yield temporary
        for file in _files(temporary):
            file.chmod(_mode(path / file.relative_to(temporary), 0o666))  # some writers let only the owner read
            _sync(file)
        write_file(temporary / MANIFEST, json.dumps(_hashes(temporary), indent=1))
        _move(temporary, path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def damage(folder: Path) -> str | None:
    """What is wrong with a folder written by `new_folder`, or None."""
    try:
        wanted = json_object(folder / MANIFEST)
    except FileNotFoundError:
        return f"it has no {MANIFEST}"
    if wanted is None:
        return f"its {MANIFEST} is not JSON"
    if not wanted:
        return f"its {MANIFEST} names no files"
    for name, digest in wanted.items():
        if not (folder / name).is_file():
            return f"{name} is missing"
        if sha256(folder / name) != digest:
            return f"{name} has changed since it was written"
    return None


def clear_leftovers(folder: Path, names: Iterable[str]) -> None:
    """Remove what a kill left of new files and folders of these names; one that was being replaced stands again.

    Only whoever holds the folder's lock may do that.
    """
    for name in names:
        for leftover in folder.glob(f".{name}.*"):
            if leftover.name.startswith(f".{name}.old."):
                _put_back(leftover, folder / name)
            elif leftover.is_dir():
                shutil.rmtree(leftover)
            else:
                leftover.unlink()


def json_object(path: Path) -> dict[str, Any] | None:
    """The object in a JSON file; None where it holds anything else."""
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder for one run; a second run is refused. The lock ends with the process, however it ends."""
    import fcntl  # not on Windows

    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            owner = file.read().strip() or "unknown"
            raise Busy(
                f"{folder} is in use by another run (process {owner}). Wait for it, or choose another folder."
            ) from None
        except OSError as error:
            raise BadFile(
                f"{folder} cannot be held for one run: {error.strerror}. Choose a folder on another file system."
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def _mode(path: Path, usual: int) -> int:
    """Who may read and write it: as before, or as the user's umask has it."""
    if path.exists():
        return path.stat().st_mode & 0o777
    return usual & ~_umask()


def _umask() -> int:
    """On Linux it can be read; elsewhere only set, for all threads."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("Umask:")).split()[1], 8)
    except (OSError, StopIteration):
        found = os.umask(0o077)
        os.umask(found)
        return found


def _refuse_existing(path: Path, force: bool) -> None:
    if path.exists() and not force:
        raise BadFile(f"{path} is there already. Choose another place, or overwrite it with --force (force=True).")


def _refuse_strangers(path: Path) -> None:
    """Only what a folder of ours may be replaced: a slip of the pen must not cost anybody's files."""
    if path.is_dir() and (strange := _strange(path)):
        raise BadFile(
            f"{path} holds files that polyseme did not write ({listed(strange)}), so it is not replaced. Choose "
            "another place, or move them."
        )
    if path.exists() and not path.is_dir():
        raise BadFile(f"{path} is a file; a folder is to be written there. Choose another place.")
    if path in (Path.cwd(), *Path.cwd().parents):
        raise BadFile(f"{path} is the folder you are in, or one above it. Choose another place.")


def _strange(folder: Path) -> list[str]:
    """The files in a folder that its manifest does not name. Other programs have a manifest.json too."""
    files = [path.relative_to(folder).as_posix() for path in _files(folder)]
    hashes = json_object(folder / MANIFEST) if MANIFEST in files else None
    if not hashes or not all(isinstance(digest, str) and _SHA256.fullmatch(digest) for digest in hashes.values()):
        return files
    return [name for name in files if name != MANIFEST and name not in hashes]


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _hashes(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): sha256(path) for path in _files(folder)}


def _move(temporary: Path, path: Path) -> None:
    if path.exists():  # keep the old one until the new one stands in its place
        old = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}.old."))
        try:
            path.replace(old / path.name)
            temporary.replace(path)
        except BaseException:
            _put_back(old, path)
            raise
        shutil.rmtree(old)
    else:
        temporary.replace(path)
    _sync_folder(path.parent)


def _put_back(old: Path, path: Path) -> None:
    """What stood at a path before, if nothing stands there now."""
    if (old / path.name).exists() and not path.exists():
        (old / path.name).replace(path)
    shutil.rmtree(old, ignore_errors=True)


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
