"""Text that is no valid Unicode: found before it reaches a provider, which wants UTF-8."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from wayfare.messages import Message

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def has_surrogates(message: Message) -> bool:
    """Whether any text of the message is no valid Unicode."""
    try:
        msgspec.json.encode(message.blocks)
    except UnicodeEncodeError:
        return True
    return False


def valid(text: str) -> str:
    """The text with every character that is no valid Unicode shown as U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def is_valid(text: str) -> bool:
    """Whether the text holds no such character."""
    return _SURROGATE.search(text) is None
