"""Caps a refusal names: over a minute or a day, and on the output of one reply."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from wayfare.providers.numbers import Form, first_number, plain, read_number


@dataclass(frozen=True, slots=True, kw_only=True)
class MinuteCap:
    """A cap over a time window: its size, what was used of it, what this request asked for."""

    cap_tokens: int | None = None
    used_tokens: int | None = None
    requested_tokens: int | None = None


_CAP_FORMS = tuple(
    Form(pattern)
    for pattern in (
        r"\blimit:? N=cap",
        r"(?:limit|quota|cap|allowance)(?: for [\w' -]+?)?(?: \([^)]*\))? of N=cap",
        r"N=cap (?:input |output |total |prompt )?tokens? (?:per|a|/) ?(?:min|minute|day|hour)",
        r"max(?:imum)?(?: \w+){0,3} N=cap",
    )
)
_USED = Form(r"\b(?:used|current(?: usage)?):? N=used")
_REQUESTED = Form(r"\brequest(?:ed|ing|s)?:? N=requested")


_OF_TOKENS = re.compile(r"token|\bt[dp][dmhs]\b", re.IGNORECASE)
_OF_REQUESTS = re.compile(r"requests? (?:per|\()|\br[dp][dmhs]\b", re.IGNORECASE)
_CAP_HEADERS = (
    "anthropic-ratelimit-input-tokens-limit",
    "anthropic-ratelimit-tokens-limit",
    "x-ratelimit-limit-tokens",
)


def read_minute_cap(text: str, headers: Mapping[str, str]) -> MinuteCap | None:
    """Read cap, used and requested tokens of a rate refusal, None where it is not about tokens.

    A refusal may name a cap of requests beside one of tokens: only sentences that speak of tokens
    are read. A cap the text does not name may stand in the headers.
    """
    text = plain(text)
    parts = [part for part in re.split(r"\n|\* ", text) if _OF_TOKENS.search(part)]
    cap = next((cap for part in parts if (cap := first_number(part, _CAP_FORMS, "cap"))), None)
    if cap is None and _OF_TOKENS.search(text) and not _OF_REQUESTS.search(text):
        cap = first_number(text, _CAP_FORMS, "cap")
    if cap is None:
        named = {name.lower(): value for name, value in headers.items()}
        values = [named[name] for name in _CAP_HEADERS if named.get(name, "").isdecimal()]
        cap = int(values[0]) if values else None
    if cap is None and not parts:
        return None
    return MinuteCap(
        cap_tokens=cap,
        used_tokens=first_number(text, (_USED,), "used"),
        requested_tokens=first_number(text, (_REQUESTED,), "requested"),
    )


_OUTPUT_CAP_FORMS = tuple(
    Form(pattern)
    for pattern in (
        r"\[ ?\d+ ?, ?N=cap ?\]",
        r"can only afford N=cap",
        r"at most N=cap",
        r"to N=exclusive \(exclusive\)",
        r"(?:<=|≤|less(?: than)? or equal to|no (?:more|greater) than|up to|max(?:imum)?(?: \w+){0,3}?) "
        r"`?N=cap",
        r"max_(?:\w+_)?tokens`?:? N ?> ?N=cap",
        r"N ?> ?N=cap, which is the maximum",
        r"(?:limit|maximum|lower than|less than|below|tokens?)(?: value| allowed| output)?(?: of| is|:)? "
        r"N=cap",
        r"N ?> ?N=cap",
    )
)


def read_output_cap(text: str) -> int | None:
    """Read the largest output a refusal allows."""
    text = plain(text)
    for form in _OUTPUT_CAP_FORMS:
        if match := form.search(text):
            names = match.groupdict()
            exclusive = names.get("exclusive")
            return read_number(exclusive) - 1 if exclusive else read_number(names["cap"])
    return None
