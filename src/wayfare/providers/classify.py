"""What to do about a provider's answer: one pure function, `classify`.

Three situations look alike and want three reactions. Input too large for the window: compact. Input
that fits while the reserved output does not: lower the output. One request above a cap per minute:
compact, because waiting never helps; used plus requested above the cap: wait.
Structure is read first (status, codes), then words (`refusals.TABLE`), then numbers (`sizes`); where
a refusal gives no reason at all, the size of the request decides.
"""

from __future__ import annotations

import re

from wayfare.providers.answers import Answer as Answer
from wayfare.providers.answers import Reading, read_answer
from wayfare.providers.caps import read_output_cap
from wayfare.providers.rates import classify_long_context_tier, classify_rate
from wayfare.providers.reaction import Classified as Classified
from wayfare.providers.reaction import Reaction as Reaction
from wayfare.providers.reaction import classified
from wayfare.providers.refusals import find_refusal
from wayfare.providers.sizes import Sizes, read_sizes, sizes_by_numbers
from wayfare.providers.waits import read_wait
from wayfare.providers.wording import Kind as Kind

NEAR_WINDOW = 0.8
"""Share of the window from which a refusal without a reason is taken for an overflow."""

FULL_WINDOW = 0.98
"""Share of the window that input and output together fill when the window ended a reply.

Ollama stops one or two tokens short of its window
(https://github.com/can1357/oh-my-pi/issues/2774), others fill it exactly.
"""

LEAST_ROOM = 0.04
"""Share of the window left for output below which lowering the output only delays a compaction."""

LEAST_ROOM_TOKENS = 512
"""Output below this is no answer; compact instead."""

MAX_VAGUE_WORDS = 48
"""A longer text says something, even if only in common words."""

_COUNTED_OTHERWISE = frozenset({"content-too-long", "body-too-large", "request-too-large"})
"""Rows whose numbers are characters, items or bytes: no window is learned from them."""

_OTHER_STATUSES = frozenset({401, 402, 403, 404, 405, 408, 409, 414, 425, 429, 431})
"""Statuses that say themselves what is wrong; numbers are not guessed at beside them."""

_REACTIONS = {
    Kind.OUTPUT_ENDED: Reaction.CONTINUE_OUTPUT,
    Kind.BILLING: Reaction.FAIL_CLEARLY,
    Kind.AUTH: Reaction.FAIL_CLEARLY,
    Kind.UNSUPPORTED: Reaction.FAIL_CLEARLY,
    Kind.CANCELLED: Reaction.WAIT_AND_RETRY,
    Kind.MALFORMED: Reaction.RETRY_SAME,
    Kind.BAD_REQUEST: Reaction.REPAIR_REQUEST,
    Kind.TIMEOUT: Reaction.WAIT_AND_RETRY,
    Kind.UNREACHABLE: Reaction.WAIT_AND_RETRY,
    Kind.SERVER: Reaction.WAIT_AND_RETRY,
}
_LENGTH_STOPS = frozenset(
    {"length", "max_tokens", "max_output_tokens", "max_completion_tokens", "token_limit"}
)
_WINDOW_STOP = re.compile(
    r"context[_ ]?(?:window|length)|window_exceeded|error_limit|model_length|exceeded_context"
)


def classify(answer: Answer) -> Classified:
    """Classify a provider's answer; never raises, whatever the body is."""
    reading = read_answer(answer)
    if not reading.is_error:
        return _classify_reply(answer, reading)
    statuses = _statuses(answer, reading)
    if 401 in statuses:
        return _of_kind(Kind.AUTH, "status-401", answer, reading)
    refusal = find_refusal(reading.text, statuses)
    if refusal is None:
        sizes = None if _OTHER_STATUSES.intersection(statuses) else sizes_by_numbers(reading)
        if sizes is not None:
            return _overflow(answer, reading, "two-numbers", sizes)
        return _by_status(answer, reading, statuses)
    match refusal.kind:
        case Kind.OVERFLOW:
            counted = refusal.name not in _COUNTED_OTHERWISE
            sizes = read_sizes(reading) if counted else Sizes()
            return _overflow(answer, reading, refusal.name, sizes)
        case Kind.OUTPUT_CAP:
            return classified(
                Reaction.LOWER_OUTPUT,
                Kind.OUTPUT_CAP,
                reading,
                refusal.name,
                output_limit_tokens=read_output_cap(reading.text),
            )
        case Kind.RATE_LIMIT:
            return classify_rate(answer, reading, refusal.name)
        case Kind.MINUTE_CAP:
            return classify_long_context_tier(answer, reading, refusal.name)
        case _:
            return _of_kind(refusal.kind, refusal.name, answer, reading)


def _statuses(answer: Answer, reading: Reading) -> tuple[int, ...]:
    """The statuses that count: an outer 400 or 5xx says less than the status it wraps."""
    if answer.status is not None and 400 < answer.status < 500:
        return (answer.status,)
    return reading.statuses


def _classify_reply(answer: Answer, reading: Reading) -> Classified:
    """A reply: only its stop reason and usage are looked at, never its words."""
    stopped = reading.stop_reason or ""
    sent, made = reading.input_tokens, reading.output_tokens
    window = answer.window_tokens
    if _WINDOW_STOP.search(stopped):
        return _silent(sent, f"stop-reason-{stopped}")
    if window is not None and sent is not None and sent > window:
        return _silent(sent, "usage-above-window")
    if stopped in _LENGTH_STOPS:
        if window is not None and sent is not None and sent + (made or 0) >= FULL_WINDOW * window:
            return _silent(sent, "window-filled")
        is_near = window is None or (sent is not None and sent >= NEAR_WINDOW * window)
        if made == 0 and sent and is_near:
            return _silent(sent, "no-room-for-output")
        return Classified(
            reaction=Reaction.CONTINUE_OUTPUT,
            kind=Kind.OUTPUT_ENDED,
            sent_tokens=sent,
            rule=f"stop-reason-{stopped}",
            message="the reply was cut by the output limit",
        )
    return Classified(reaction=Reaction.ACCEPT, kind=Kind.OK, sent_tokens=sent, rule="reply")


def _silent(sent: int | None, rule: str) -> Classified:
    return Classified(
        reaction=Reaction.COMPACT,
        kind=Kind.SILENT_OVERFLOW,
        sent_tokens=sent,
        rule=rule,
        message="the input filled the model's window",
    )


def _overflow(answer: Answer, reading: Reading, rule: str, sizes: Sizes) -> Classified:
    """Input too large, or only input and output together."""
    limit = sizes.limit_tokens
    sent = _input_tokens(answer, sizes)
    if limit is None and sizes.overshoot_tokens is not None and answer.window_tokens is not None:
        sent = answer.window_tokens + sizes.overshoot_tokens
    room = _room_for_output(answer, sizes, limit, sent)
    return classified(
        Reaction.COMPACT if room is None else Reaction.LOWER_OUTPUT,
        Kind.OVERFLOW if room is None else Kind.OUTPUT_RESERVE,
        reading,
        rule,
        limit_tokens=limit,
        sent_tokens=sent,
        output_limit_tokens=room,
    )


def _input_tokens(answer: Answer, sizes: Sizes) -> int | None:
    """The input as the provider counted it; a total has our reserve taken off."""
    output = sizes.output_tokens if sizes.output_tokens is not None else answer.reserve_tokens
    if sizes.input_tokens is not None:
        return sizes.input_tokens
    if sizes.total_tokens is not None and output is not None and sizes.total_tokens > output:
        return sizes.total_tokens - output
    return sizes.total_tokens


def _room_for_output(
    answer: Answer, sizes: Sizes, limit: int | None, sent: int | None
) -> int | None:
    """Output that would fit beside the input, None when the input itself is the trouble."""
    if limit is None or sent is None or sent >= limit:
        return None
    reserve = sizes.output_tokens if sizes.output_tokens is not None else answer.reserve_tokens
    counts_output = sizes.output_tokens is not None or sizes.total_tokens is not None
    if reserve is None or not counts_output or sent + reserve <= limit:
        return None
    if sizes.is_lower_bound and answer.request_tokens is not None:
        sent = max(sent, answer.request_tokens)
    room = limit - sent
    return room if room >= max(LEAST_ROOM_TOKENS, LEAST_ROOM * limit) else None


def _by_status(answer: Answer, reading: Reading, statuses: tuple[int, ...]) -> Classified:
    """No row knows the text: the status decides, and for a refusal without reason the size."""
    status = statuses[-1] if statuses else None
    rule = f"status-{status}" if status is not None else "no-status"
    if reading.is_page and status is None:
        return _of_kind(Kind.UNSUPPORTED, "html-page", answer, reading)
    if 429 in statuses:
        return classify_rate(answer, reading, rule)
    if 402 in statuses:
        return _of_kind(Kind.BILLING, rule, answer, reading)
    if 413 in statuses:
        return _overflow(answer, reading, rule, Sizes())
    if status in (408, 504, 522, 524):
        return _of_kind(Kind.TIMEOUT, rule, answer, reading)
    if status in (409, 425) or (status is not None and status >= 500):
        return _of_kind(Kind.SERVER, rule, answer, reading)
    if status == 403:
        return _of_kind(Kind.AUTH, rule, answer, reading)
    if reading.is_broken:
        return _of_kind(Kind.MALFORMED, "unreadable", answer, reading)
    if status is None and answer.body is None:
        return _of_kind(Kind.UNREACHABLE, "no-answer", answer, reading)
    if status in (400, 422, None) and is_vague(reading.text):
        return _ambiguous(answer, reading, rule)
    return _of_kind(Kind.UNSUPPORTED, rule, answer, reading)


def _ambiguous(answer: Answer, reading: Reading, rule: str) -> Classified:
    asked, window = answer.request_tokens, answer.window_tokens
    if asked is not None and window is not None and asked >= NEAR_WINDOW * window:
        return classified(
            Reaction.COMPACT, Kind.AMBIGUOUS, reading, f"{rule}-near-window", sent_tokens=asked
        )
    return classified(Reaction.FAIL_CLEARLY, Kind.AMBIGUOUS, reading, f"{rule}-without-reason")


_VAGUE = re.compile(
    r"an?|and|api|argument|bad|bad_?request|body|client|code|contains|detail|details|entity|err|error"
    r"|\w*(?:error|exception)|failed|failure|for|from|google|http|https|in|invalid|invalid_argument|is"
    r"|message|no|none|not|null|of|occurred|openai|or|param|provider|requests?|response|returned|server"
    r"|status|the|this|to|try|type|unknown|unprocessable|upstream|was|with|unspecified|please|check"
    r"|your|again|fields?|format|input|required|parameters|nginx|openresty|cloudflare|litellm|model|name|generation|valid|incorrect"
    r"|bad_response_status_code"
)
"""Words every refusal shares, whatever its reason."""

_GATEWAY_TAIL = re.compile(r"\.? ?received model group=.*(?:\n.*fallbacks=\S*)?")


def is_vague(text: str) -> bool:
    """Whether a refusal gives no reason at all: nothing but the words every refusal shares."""
    words = re.findall(r"[^\W\d_]\w*", _GATEWAY_TAIL.sub("", text.lower()))
    return len(words) <= MAX_VAGUE_WORDS and all(_VAGUE.fullmatch(word) for word in words)


def _of_kind(kind: Kind, rule: str, answer: Answer, reading: Reading) -> Classified:
    reaction = _REACTIONS[kind]
    is_retried = reaction in (Reaction.WAIT_AND_RETRY, Reaction.RETRY_SAME)
    return classified(
        reaction,
        kind,
        reading,
        rule,
        retry_after_seconds=read_wait(answer, reading) if is_retried else None,
    )
