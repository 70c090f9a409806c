"""What an answer calls for: the reactions, and the value `classify` returns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from wayfare.providers.answers import Reading
from wayfare.providers.wording import Kind

MESSAGE_CHARS = 300


class Reaction(StrEnum):
    """What the runtime does next."""

    ACCEPT = "accept"
    """Nothing: the answer is a reply."""
    COMPACT = "compact"
    LOWER_OUTPUT = "lower_output"
    WAIT_AND_RETRY = "wait_and_retry"
    RETRY_SAME = "retry_same"
    REPAIR_REQUEST = "repair_request"
    FAIL_CLEARLY = "fail_clearly"
    CONTINUE_OUTPUT = "continue_output"


@dataclass(frozen=True, slots=True, kw_only=True)
class Classified:
    """A classified answer.

    Attributes:
        reaction: what to do.
        kind: what it is.
        limit_tokens: the window (or the cap one request must stay under) that the refusal names;
            None when it names none.
        sent_tokens: input tokens as the provider counted them.
        output_limit_tokens: the largest output that can be asked for, with LOWER_OUTPUT.
        retry_after_seconds: how long the provider asks to wait; hours for a daily allowance.
        rule: the row or rule that decided, for the log.
        message: one short line for people, secrets masked.
    """

    reaction: Reaction
    kind: Kind
    limit_tokens: int | None = None
    sent_tokens: int | None = None
    output_limit_tokens: int | None = None
    retry_after_seconds: float | None = None
    rule: str
    message: str = ""


_SECRET = re.compile(
    r"\b(?:sk|pk|gsk|xai|hf|AIza|ghp|gho|ghu|glpat)[-_A-Za-z0-9]{8,}|(?i:bearer)\s+[\w.\-]{8,}"
)


def classified(
    reaction: Reaction,
    kind: Kind,
    reading: Reading,
    rule: str,
    *,
    limit_tokens: int | None = None,
    sent_tokens: int | None = None,
    output_limit_tokens: int | None = None,
    retry_after_seconds: float | None = None,
) -> Classified:
    """A `Classified` whose message is the reading's, short and without secrets."""
    message = " ".join(_SECRET.sub("[secret]", reading.first).split())
    if len(message) > MESSAGE_CHARS:
        message = message[: MESSAGE_CHARS - 1] + "…"
    return Classified(
        reaction=reaction,
        kind=kind,
        limit_tokens=limit_tokens,
        sent_tokens=sent_tokens,
        output_limit_tokens=output_limit_tokens,
        retry_after_seconds=retry_after_seconds,
        rule=rule,
        message=message or kind.value.replace("_", " "),
    )
