"""One provider answer, whatever its shape, read into a flat `Reading`.

Bodies come as JSON objects or arrays, JSON inside strings at any depth, the repr of a Python dict,
server-sent events, lines of JSON, HTML pages of a proxy, plain text or bytes. What a reply says to
the user is never read as an error: of a good reply only stop reason and usage are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from wayfare.providers.replies import (
    Fields,
    is_failure,
    is_reply,
    objects_in,
    stop_reason_of,
    usage_of,
)
from wayfare.providers.unwrap import (
    as_text,
    embedded_objects,
    is_html,
    page_text,
    stream_events,
)

MAX_DEPTH = 40
"""Levels of nesting followed; one more layer of JSON in a string costs three."""

MAX_STRINGS = 200
"""Strings kept from one body: a refusal has a handful, an echoed request has thousands."""

MAX_STRING_CHARS = 4_000
"""Kept of one string, half from either end: the reason stands at the start or at the end."""

MAX_TEXT_CHARS = 24_000
"""Kept of all strings together, so that rules stay cheap on any body."""


def _no_headers() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back from a provider, with the sizes of the request it answers.

    Attributes:
        status: HTTP status; None when the exception carries none (a stream, a broken connection).
        body: decoded JSON, text, bytes or None; an exception's text where nothing else is left.
        headers: response headers, names in any case.
        stop_reason: the reply's stop reason; given, the answer is a reply and text is not judged.
        request_tokens: our own estimate of the request's input.
        window_tokens: the window we believe the model has.
        reserve_tokens: the output limit that was sent with the request.
        streamed: it came from an event stream; a text body of it is then one error event or the
            raw events, never the accumulated text of a reply.
    """

    status: int | None = None
    body: object = None
    headers: Mapping[str, str] = field(default_factory=_no_headers)
    stop_reason: str | None = None
    request_tokens: int | None = None
    window_tokens: int | None = None
    reserve_tokens: int | None = None
    streamed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The parts of an answer that rules look at.

    Attributes:
        is_error: it reports a failure; otherwise it is a reply.
        statuses: HTTP statuses found, outermost first, duplicates dropped.
        text: every message, one a line, then the codes; addresses (URLs) taken out.
        first: the message nearest to the cause, for people.
        counts: numeric fields by lower-case name, the innermost wins.
        wait_texts: values of fields that say how long to wait.
        stop_reason: of a reply, lower case.
        input_tokens: usage of a reply, cached input included.
        output_tokens: usage of a reply.
        is_page: the body is an HTML page.
        is_broken: it was meant to be JSON or events and is not, or a stream without an end.
    """

    is_error: bool
    statuses: tuple[int, ...] = ()
    text: str = ""
    first: str = ""
    counts: Mapping[str, int]
    wait_texts: tuple[str, ...] = ()
    stop_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    is_page: bool = False
    is_broken: bool = False


_ECHOES = re.compile(
    r"inputs?|prompts?|messages|contents?|request(?:_?body|_?id)?|choices?|outputs?|candidates|tools"
    r"|parameters|ctx|url|doc(?:umentation)?_url|links|user(?:_id)?|org(?:anization)?_id|trace_id"
    r"|stack|traceback|delta|provider(?:_name|id)?|model(?:id)?|domain|suggestion|help|hint"
    r"|doctype|date|timestamp|created(?:_at)?|completed_at|sequence_number"
)
"""Fields that repeat the request or say where it came from: never evidence."""

_CODES = re.compile(
    r"code|type|status|reason|name|error_?type|error_?code|__type|kind|param|quotaid|quotametric"
    r"|stopreason|category|object|finish_reason"
)
_WAITS = re.compile(r"retry_?delay|retry_?after(?:_seconds|_ms)?|resets_in_seconds")
_STATUSES = re.compile(
    r"code|status|status_?code|http_code|http_?status(?:_?code)?|raw_status_code|error_code"
)
_STATUS_IN_TEXT = re.compile(
    r"^\W{0,3}(?:error:?\s+)?(?:http\s+)?\(?([45]\d\d)\b"
    r"|\b(?:error code|status code|status|http|code|statuscode|error)\s*[:=( ]\s*([45]\d\d)\b"
    r"|\b([45]\d\d) (?:bad request|request entity|payload too|status code|service unav|bad gateway"
    r"|gateway time|internal server|too many req|unauthorized|forbidden|not found)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"https?://[^\s\"'<>)\]}]+|\bwww\.[^\s\"'<>)]+")
_BROKEN = Reading(
    is_error=True,
    text="stream ended early",
    first="the answer is empty or stops in the middle",
    counts={},
    is_broken=True,
)


def read_answer(answer: Answer) -> Reading:
    """Read an answer of any shape; never raises."""
    succeeded = answer.status is not None and 200 <= answer.status < 300
    body = as_text(answer.body)
    if isinstance(body, str):
        return _read_text(answer, body, succeeded)
    if isinstance(body, Sequence):
        return _read_objects(answer, cast("Sequence[object]", body), succeeded)
    return _read_objects(answer, () if body is None else (body,), succeeded)


def _read_text(answer: Answer, body: str, succeeded: bool) -> Reading:
    may_be_reply = succeeded or (answer.status is None and answer.stop_reason is not None)
    if is_html(body):
        return _gather(answer, (page_text(body),), is_page=True)
    events, is_whole = stream_events(body)
    if events:
        return _read_objects(answer, events, succeeded, is_broken=not is_whole)
    if may_be_reply and answer.stop_reason is None and not (is_whole and body.strip()):
        return _BROKEN
    outside, objects = embedded_objects(body)
    if objects and not outside.strip():
        return _read_objects(answer, objects, succeeded)
    if may_be_reply:
        looks_cut = body.lstrip()[:1] in ("{", "[") and not objects
        if answer.stop_reason is not None or not (answer.streamed or looks_cut):
            return _read_reply(answer, {})
        return _gather(answer, (body,), is_broken=looks_cut)
    return _gather(answer, (body,))


def _read_objects(
    answer: Answer, objects: Sequence[object], succeeded: bool, *, is_broken: bool = False
) -> Reading:
    failed = [_without_choices(item) for item in objects if is_failure(item)]
    if failed:
        return _gather(answer, failed)
    if not (succeeded or answer.status is None):
        return _gather(answer, objects)
    replies = [cast("Fields", item) for item in objects if is_reply(item)]
    stopped = answer.stop_reason or next(
        (found for reply in reversed(replies) if (found := stop_reason_of(reply))), None
    )
    is_cut = answer.streamed and stopped is None
    if replies:
        merged: dict[str, object] = {}
        for reply in replies:
            merged.update({key: value for key, value in reply.items() if value is not None})
        return _BROKEN if is_cut and is_broken else _read_reply(answer, merged, stopped)
    if succeeded:
        is_empty = stopped is None and not any(objects)
        return _BROKEN if is_broken or is_empty else _read_reply(answer, {})
    return _gather(answer, objects) if answer.stop_reason is None else _read_reply(answer, {})


def _without_choices(item: object) -> object:
    """A failure that stands inside a choice (OpenRouter, HTTP 200), taken out of it."""
    choices = objects_in(cast("Fields", item).get("choices"))
    errors = [error for choice in choices if (error := choice.get("error"))]
    return [item, *errors] if errors else item


def _read_reply(answer: Answer, reply: Fields, stopped: str | None = None) -> Reading:
    stopped = answer.stop_reason or stopped
    sent, made = usage_of(reply)
    return Reading(
        is_error=False,
        statuses=() if answer.status is None else (answer.status,),
        counts={},
        stop_reason=stopped.lower() if stopped else None,
        input_tokens=sent,
        output_tokens=made,
    )


@dataclass(frozen=True, slots=True)
class _Heap:
    """What `_gather` collects while it walks."""

    texts: list[str]
    codes: list[str]
    statuses: list[int]
    counts: dict[str, int]
    waits: list[str]


def _gather(
    answer: Answer, items: Sequence[object], *, is_broken: bool = False, is_page: bool = False
) -> Reading:
    """Collect messages, codes, statuses and numbers of a failure."""
    heap = _Heap([], [], [], {}, [])
    if answer.status is not None and not 200 <= answer.status < 300:
        heap.statuses.append(answer.status)
    for item in items:
        _collect(item, "", heap, 0)
    texts = list(dict.fromkeys(text for text in heap.texts if text))
    for text in texts:
        for match in _STATUS_IN_TEXT.finditer(text[:MAX_STRING_CHARS]):
            heap.statuses.append(int(next(group for group in match.groups() if group)))
    codes = " ".join(dict.fromkeys(code for code in heap.codes if code))
    return Reading(
        is_error=True,
        statuses=tuple(dict.fromkeys(heap.statuses)),
        text="\n".join([_two_ends("\n".join(texts), MAX_TEXT_CHARS), codes]).strip("\n"),
        first=texts[-1] if texts else codes,
        counts=heap.counts,
        wait_texts=tuple(heap.waits),
        is_broken=is_broken,
        is_page=is_page,
    )


def _two_ends(text: str, most_chars: int) -> str:
    if len(text) <= most_chars:
        return text
    return f"{text[: most_chars // 2]} … {text[-(most_chars // 2) :]}"


def _collect(value: object, key: str, heap: _Heap, depth: int) -> None:
    """Walk one value; strings that hold JSON are opened."""
    if depth > MAX_DEPTH or len(heap.texts) > MAX_STRINGS:
        return
    name = key.lower()
    value = as_text(value)
    if isinstance(value, Mapping):
        for inner_key, inner in cast("Mapping[object, object]", value).items():
            if not _ECHOES.fullmatch(str(inner_key).lower()):
                _collect(inner, str(inner_key), heap, depth + 1)
    elif isinstance(value, str):
        _collect_text(value, name, heap, depth)
    elif isinstance(value, Sequence) and name == "loc":
        parts = cast("Sequence[object]", value)
        heap.codes.append(".".join(str(part) for part in parts if isinstance(part, (str, int))))
    elif isinstance(value, Sequence):
        for inner in cast("Sequence[object]", value):
            _collect(inner, key, heap, depth + 1)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        _collect_number(value, name, heap)


def _collect_number(value: float, name: str, heap: _Heap) -> None:
    if value != value or abs(value) > 1e15:  # NaN and the like are JSON to Python
        return
    if _STATUSES.fullmatch(name) and 400 <= value < 600:
        heap.statuses.append(int(value))
    elif _WAITS.fullmatch(name):
        heap.waits.append(f"{value / 1000 if name.endswith('_ms') else value}s")
    elif _CODES.fullmatch(name) or _STATUSES.fullmatch(name):
        heap.codes.append(str(int(value)))
    else:
        heap.counts[name] = int(value)


def _collect_text(value: str, name: str, heap: _Heap, depth: int) -> None:
    stripped = value.strip()
    if _WAITS.fullmatch(name):
        heap.waits.append(value)
    elif _STATUSES.fullmatch(name) and re.fullmatch(r"[45]\d\d", stripped):
        heap.statuses.append(int(stripped))
    elif _CODES.fullmatch(name) and len(stripped) <= 120 and " " not in stripped:
        heap.codes.append(stripped)
    else:
        outside, objects = embedded_objects(value)
        for found in objects:
            _collect(found, name, heap, depth + 1)
        kept = _two_ends(_ADDRESS.sub(" ", outside).strip(), MAX_STRING_CHARS)
        if not objects:
            heap.texts.append(kept)
        elif re.search(r"\w", kept):
            heap.texts.insert(0, kept)  # the wrapping says less than what it wraps
