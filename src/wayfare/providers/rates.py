"""Refusals about time: a moment's wait, a used-up allowance, or a request no wait will let through."""

from __future__ import annotations

import re

from wayfare.providers.answers import Answer, Reading
from wayfare.providers.caps import read_minute_cap
from wayfare.providers.reaction import Classified, Reaction, classified
from wayfare.providers.waits import read_wait
from wayfare.providers.wording import Kind

FITTING_SHARE = 0.8
"""Share of a cap that input alone may take when lowering the output is worth trying."""

LEAST_OUTPUT_TOKENS = 512
"""Output below this is no answer."""

LONG_CONTEXT_TIER_TOKENS = 200_000
"""Window of a plan without long context (https://github.com/NousResearch/hermes-agent/pull/4747)."""

_ASKS_TO_SHRINK = re.compile(
    r"request too large|must be reduced|reduce your message", re.IGNORECASE
)
_ASKS_TO_WAIT = re.compile(
    r"wait|try again|retry|later|resets?\b|slow down|稍后|请等待|重试", re.IGNORECASE
)
_LONG_PERIOD = re.compile(
    r"per[- _]?(?:day|week|month)|\b[tr]pd\b|daily|weekly|monthly|perday|usage limit"
    r"|每天|每日|当日|今日",
    re.IGNORECASE,
)


def classify_rate(answer: Answer, reading: Reading, rule: str) -> Classified:
    """Tell the three apart.

    A single request above the cap (its own count, or our estimate where the refusal gives none) is
    compacted. Used plus requested above the cap waits. An allowance of a day or longer waits only
    when the provider says to; otherwise it fails clearly.
    """
    text = reading.text
    cap = read_minute_cap(text, answer.headers)
    if cap is not None:
        asked = cap.requested_tokens or answer.request_tokens
        if cap.cap_tokens and asked is not None and asked > cap.cap_tokens:
            return _above_cap(answer, reading, rule, cap.cap_tokens, asked, cap.requested_tokens)
        if _ASKS_TO_SHRINK.search(text) and cap.used_tokens is None and asked is None:
            return classified(
                Reaction.COMPACT, Kind.MINUTE_CAP, reading, rule, limit_tokens=cap.cap_tokens
            )
    wait = read_wait(answer, reading)
    says_wait = wait is not None or _ASKS_TO_WAIT.search(text) is not None
    is_allowance = _LONG_PERIOD.search(text) is not None
    if re.search(r"limit: 0\b", text) and not re.search(r"limit: [1-9]", text):
        is_allowance, says_wait = True, False  # Gemini: this plan has none of it at all
    if is_allowance and not says_wait:
        return classified(Reaction.FAIL_CLEARLY, Kind.QUOTA, reading, rule)
    return classified(
        Reaction.WAIT_AND_RETRY,
        Kind.QUOTA if is_allowance else Kind.RATE_LIMIT,
        reading,
        rule,
        retry_after_seconds=wait,
    )


def _above_cap(
    answer: Answer, reading: Reading, rule: str, cap: int, asked: int, stated: int | None
) -> Classified:
    """Shrink the request, or only its output where the input alone is well below the cap.

    Providers that state a number count the reserved output into it.
    """
    reserve = answer.reserve_tokens
    if stated is not None and reserve is not None and 0 < stated - reserve < FITTING_SHARE * cap:
        room = cap - (stated - reserve)
        if room >= LEAST_OUTPUT_TOKENS:
            return classified(
                Reaction.LOWER_OUTPUT,
                Kind.MINUTE_CAP,
                reading,
                rule,
                limit_tokens=cap,
                sent_tokens=stated - reserve,
                output_limit_tokens=room,
            )
    return classified(
        Reaction.COMPACT, Kind.MINUTE_CAP, reading, rule, limit_tokens=cap, sent_tokens=asked
    )


def classify_long_context_tier(answer: Answer, reading: Reading, rule: str) -> Classified:
    """A plan without long context; a small request that is told so met a passing fault.

    Source of the fault: https://github.com/anthropics/claude-code/issues/42616
    """
    asked = answer.request_tokens
    if asked is not None and asked < FITTING_SHARE * LONG_CONTEXT_TIER_TOKENS:
        return classified(Reaction.WAIT_AND_RETRY, Kind.RATE_LIMIT, reading, rule)
    return classified(
        Reaction.COMPACT,
        Kind.MINUTE_CAP,
        reading,
        rule,
        limit_tokens=LONG_CONTEXT_TIER_TOKENS,
        sent_tokens=asked,
    )
