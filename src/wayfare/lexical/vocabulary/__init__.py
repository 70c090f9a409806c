"""Word lists as files, one list a file; lines that begin with `#` say what the list is."""

from __future__ import annotations

from importlib.resources import files


def lines(name: str) -> list[list[str]]:
    """The words of each line of a list.

    Args:
        name: File name without `.txt`.
    """
    text = files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return [line.split() for line in text.splitlines() if line and not line.startswith("#")]
