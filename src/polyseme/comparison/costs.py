"""What a piece of work costs in memory."""

from __future__ import annotations

from pathlib import Path

from polyseme.layers.memory import give_back

_CLEAR, _STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


def forget_peak() -> bool:
    """Begin to measure the peak anew, without what was kept of earlier work; False where the system does not let us."""
    give_back()
    try:
        _CLEAR.write_text("5")
    except OSError:
        return False
    return True


def peak_bytes() -> int | None:
    """The most memory this process has had in use since `forget_peak`, what is loaded and mapped included."""
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
    return int(found[0]) * 1024 if found else None
