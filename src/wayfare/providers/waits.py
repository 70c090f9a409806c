"""How long a provider asks to wait: from headers, fields or words."""

from __future__ import annotations

import re
from datetime import datetime
from email.utils import parsedate_to_datetime

from wayfare.providers.answers import Answer, Reading
from wayfare.providers.numbers import plain

_DURATION = re.compile(
    r"(?:(\d+(?:\.\d+)?) ?d(?:ays?)?)?\s?(?:(\d+(?:\.\d+)?) ?h(?:ours?|rs?|r)?)?\s?"
    r"(?:(\d+(?:\.\d+)?) ?m(?:in(?:ute)?s?)?(?![a-z]))?\s?(?:(\d+(?:\.\d+)?) ?s(?:ec(?:ond)?s?)?)?",
    re.IGNORECASE,
)
_WAIT_PHRASE = re.compile(
    r"(?:try(?: again)?|retry(?:ing)?|wait|resets?|available|back)(?: \w+){0,2}? (?:in|after|for) "
    r"(?:about )?(?=\d)|请在? ?(?=\d)|等待 ?(?=\d)",
    re.IGNORECASE,
)
_SCALES = (86_400, 3_600, 60, 1)


def read_wait(answer: Answer, reading: Reading) -> float | None:
    """Seconds to wait before a retry, from headers, fields or words; None when nothing says."""
    headers = {name.lower(): value for name, value in answer.headers.items()}
    if (found := headers.get("retry-after-ms")) is not None and _is_plain(found):
        return float(found) / 1_000
    if (found := headers.get("retry-after")) is not None:
        if _is_plain(found):
            return float(found)
        if (seconds := _between(headers.get("date"), found)) is not None:
            return seconds
    for value in reading.wait_texts:
        if _is_plain(value):
            return float(value)
        if (seconds := _seconds(value)) is not None:
            return seconds
    text = plain(reading.text)
    for match in _WAIT_PHRASE.finditer(text):
        rest = text[match.end() : match.end() + 40]
        ms = re.match(r"(\d+(?:\.\d+)?) ?(?:ms|milliseconds?)\b", rest)
        if ms:
            return float(ms[1]) / 1_000
        chinese = re.match(r"(\d+(?:\.\d+)?) ?(秒|分钟|小时)", rest)
        if chinese:
            return float(chinese[1]) * {"秒": 1, "分钟": 60, "小时": 3_600}[chinese[2]]
        if (seconds := _seconds(rest)) is not None:
            return seconds
    for name in ("x-ratelimit-reset-tokens", "x-ratelimit-reset-requests"):
        if (found := headers.get(name)) and (seconds := _seconds(found)) is not None:
            return seconds
    return None


def _seconds(text: str) -> float | None:
    match = _DURATION.match(text.strip())
    if match is None or not any(match.groups()):
        return None
    return sum(
        float(value) * scale
        for value, scale in zip(match.groups(), _SCALES, strict=True)
        if value is not None
    )


def _is_plain(text: str) -> bool:
    return re.fullmatch(r"\d+(?:\.\d+)?", text.strip()) is not None


def _between(start: str | None, end: str) -> float | None:
    """Seconds between two HTTP dates; the server's own clock, so no clock of ours is read."""
    if start is None:
        return None
    try:
        first: datetime = parsedate_to_datetime(start)
        return max(0.0, (parsedate_to_datetime(end) - first).total_seconds())
    except (ValueError, TypeError):
        return None
