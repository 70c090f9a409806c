"""One row of the refusal table: a wording, what it means, who says it and where it was read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

GITHUB = "https://github.com/"
GENERAL = "general"


class Kind(StrEnum):
    """What an answer is; finer than the reaction it calls for."""

    OK = "ok"
    OUTPUT_ENDED = "output_ended"
    """A good reply cut by the output limit."""
    SILENT_OVERFLOW = "silent_overflow"
    """A reply that shows, by stop reason or usage, that the input filled the window."""
    OVERFLOW = "overflow"
    OUTPUT_RESERVE = "output_reserve"
    """The input fits, input and reserved output together do not."""
    OUTPUT_CAP = "output_cap"
    """The output asked for is above what the model (or the credit) allows at all."""
    MINUTE_CAP = "minute_cap"
    """One request above a cap over time: waiting never helps."""
    RATE_LIMIT = "rate_limit"
    QUOTA = "quota"
    """A daily, weekly or monthly allowance is used up."""
    BILLING = "billing"
    AUTH = "auth"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    UNREACHABLE = "unreachable"
    SERVER = "server"
    MALFORMED = "malformed"
    """An answer that cannot be read: garbage, a page, a stream that stops in the middle."""
    BAD_REQUEST = "bad_request"
    """A request that breaks a rule we can mend it by."""
    UNSUPPORTED = "unsupported"
    """A request that is wrong in a way only people can mend: model, option, policy, setting."""
    AMBIGUOUS = "ambiguous"
    """A refusal without a reason; sizes decide."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when first used: a session without a refusal pays nothing for the table."""
    return re.compile(pattern, re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One wording.

    Attributes:
        name: of the row, for logs; unique in the table.
        unless: words beside which the pattern means something else.
        not_statuses: HTTP statuses beside which it means something else.
        source: address of the report the wording was read in, or `GENERAL`.
    """

    name: str
    kind: Kind
    pattern: str
    provider: str
    source: str
    unless: str | None = None
    not_statuses: frozenset[int] = frozenset()

    def fits(self, text: str, statuses: tuple[int, ...]) -> bool:
        """Whether the row decides a text that came with these statuses."""
        if self.not_statuses.intersection(statuses):
            return False
        if _compiled(self.pattern).search(text) is None:
            return False
        return self.unless is None or _compiled(self.unless).search(text) is None


def row(
    name: str,
    kind: Kind,
    pattern: str,
    provider: str,
    source: str,
    *,
    unless: str | None = None,
    not_statuses: tuple[int, ...] = (),
) -> Refusal:
    """A row; `source` without a scheme is a path on GitHub."""
    return Refusal(
        name=name,
        kind=kind,
        pattern=pattern,
        provider=provider,
        source=source if source == GENERAL or "://" in source else GITHUB + source,
        unless=unless,
        not_statuses=frozenset(not_statuses),
    )
