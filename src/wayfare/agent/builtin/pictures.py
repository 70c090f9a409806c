"""Pictures by their first bytes."""

from __future__ import annotations

import struct
from dataclasses import dataclass

MOST_BYTES = 3_750_000
"""A larger picture is not shown: Anthropic takes 5 MB of base64 an image, which is so many bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A format models can see, and the size in pixels where the beginning tells it."""

    media_type: str
    width: int = 0
    height: int = 0

    def __str__(self) -> str:
        size = f", {self.width}×{self.height} pixels" if self.width else ""
        return f"{self.media_type.removeprefix('image/').upper()} picture{size}"


def picture(beginning: bytes) -> Picture | None:
    """What picture a file that begins so is; None for anything else."""
    if beginning.startswith(b"\x89PNG\r\n\x1a\n"):
        width, height = _pair(">II", beginning, 16)
        return Picture(media_type="image/png", width=width, height=height)
    if beginning.startswith((b"GIF87a", b"GIF89a")):
        width, height = _pair("<HH", beginning, 6)
        return Picture(media_type="image/gif", width=width, height=height)
    if beginning.startswith(b"\xff\xd8\xff"):
        return Picture(media_type="image/jpeg")
    if beginning[:4] == b"RIFF" and beginning[8:12] == b"WEBP":
        return Picture(media_type="image/webp")
    return None


def _pair(layout: str, beginning: bytes, at: int) -> tuple[int, int]:
    try:
        width, height = struct.unpack_from(layout, beginning, at)
    except struct.error:
        return 0, 0
    return int(width), int(height)
