"""Codecs between wire formats and messages, lossless.

`codec("anthropic")`, `codec("openai-chat")` and `codec("openai-responses")` give the three.
"""

from wayfare.formats.codec import Codec, codec, format_names, split_system
from wayfare.json_text import dumps, loads

__all__ = ["Codec", "codec", "dumps", "format_names", "loads", "split_system"]
