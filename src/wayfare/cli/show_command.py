"""`wayfare show ADDRESS`: the exact bytes an address leads to."""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from typing import Final

from wayfare.cli.addresses import Losses, opened, workspace_address
from wayfare.cli.printing import put, say
from wayfare.errors import NotFound
from wayfare.session import Places, run_sync
from wayfare.store import Ref
from wayfare.tokens import image_size

_PICTURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF8", "GIF"),
    (b"RIFF", "WebP"),
)
_SIZE_BYTES: Final = 48_000
"""So much of a picture says how large it is."""


def run(address: str, root: Path) -> int:
    """Write the bytes to stdout, and nothing else; to a terminal, text without what steers it, and no
    picture.

    Returns the exit status: 1 if part of a text is gone, which stderr says.

    Raises:
        NotFound: the address leads nowhere in this workspace.
    """
    places = Places(workspace=root.resolve())
    ref = workspace_address(address, places.workspace)
    losses = Losses()
    content = run_sync(_read, places, ref, losses)
    picture = _picture(content)
    if picture and sys.stdout.isatty():
        say(f"{picture}; to have it: wayfare show '{ref}' > FILE")
        return 0
    if sys.stdout.isatty():
        put(content.decode("utf-8", "replace"))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    if losses.paths:
        say(losses.told())
    return 1 if losses.paths else 0


async def _read(places: Places, ref: Ref, losses: Losses) -> bytes:
    session = places.session_of(ref.path)
    if not session:
        raise NotFound(
            f"{ref} is no address of the workspace {places.workspace}; addresses begin with "
            f"{places.transcripts}/ or {places.results}/",
            ref=str(ref),
        )
    transcript, found = await opened(places, session, losses)
    in_log = ref.path in (transcript.path, transcript.contents_path)
    if in_log and not found.entries:
        raise NotFound(f"no session at {transcript.path} in {places.workspace}", ref=str(ref))
    return await transcript.read(ref)


def _picture(content: bytes) -> str:
    """What kind of picture the bytes are and how large; empty for none."""
    kind = next((name for magic, name in _PICTURES if content.startswith(magic)), "")
    if not kind or (kind == "WebP" and content[8:12] != b"WEBP"):
        return ""
    size = image_size(base64.b64encode(content[:_SIZE_BYTES]).decode("ascii"))
    pixels = f", {size[0]} × {size[1]} pixels" if size else ""
    return f"a {kind} picture{pixels}, {len(content):,} bytes"
