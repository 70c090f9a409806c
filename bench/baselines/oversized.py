"""What does not fit even alone: its long texts become a preview with an address.

Without it a cutting policy is refused wherever one message is larger than the window, and a
refused step costs nothing, which would flatter it.
"""

from __future__ import annotations

from typing import Any

from bench.wire import RESPONSES_RESULTS, Wire, is_array, is_object

PREVIEW_CHARS = 1_000


def previewed(message: Wire, address: str) -> Wire:
    """A copy whose user and result texts over `PREVIEW_CHARS` are cut to a preview."""

    def short(value: Any) -> Any:
        if isinstance(value, str):
            if len(value) <= PREVIEW_CHARS:
                return value
            return f"{value[:PREVIEW_CHARS]}\n[{len(value)} characters, all at {address}]"
        if is_array(value):
            return [short(part) for part in value]
        if is_object(value):
            keys = ("text", "content", "output")
            return {k: short(v) if k in keys else v for k, v in value.items()}
        return value

    if message.get("role") in ("user", "tool"):
        return {**message, "content": short(message.get("content"))}
    if message.get("type") in RESPONSES_RESULTS:
        return {**message, "output": short(message.get("output"))}
    return message
