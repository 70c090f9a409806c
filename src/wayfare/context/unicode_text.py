"""Text that is no valid Unicode: found before it reaches a provider, which wants UTF-8."""

from __future__ import annotations

import msgspec

from wayfare.messages import Message


def has_surrogates(message: Message) -> bool:
    """Whether any text of the message is no valid Unicode."""
    try:
        msgspec.json.encode(message.blocks)
    except UnicodeEncodeError:
        return True
    return False
