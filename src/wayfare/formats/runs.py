"""Which messages must be written together, for the formats where calls and results share a turn.

A *run* is what stands between two changes of speaker: all assistant messages in a row, or all
others. Recorders split what a provider wants in one piece: every result a message of its own,
every call of a parallel batch a message of its own. Such runs are joined; all other untouched
messages are passed on as the very objects they came in, at the cost of a few comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast

from wayfare.formats.call_ids import fitting_call_id
from wayfare.formats.written import Written
from wayfare.messages import Message


class RunWriter(Protocol):
    """The part of writing that differs from format to format.

    `asked` are the assistant messages whose calls the results of the run answer.
    """

    name: str
    written: Written

    def write(self, message: Message, asked: Sequence[Message]) -> list[dict[str, Any]]:
        """Write one message that is not passed on as it came."""
        ...

    def join(self, run: Sequence[Message], asked: Sequence[Message]) -> list[dict[str, Any]]:
        """Write messages of one run that belong together."""
        ...


def write_runs(messages: Sequence[Message], writer: RunWriter) -> list[dict[str, Any]]:
    """Write messages in the format of `writer`, joining what must be one.

    Joined are assistant messages in a row when one that is not the last of them makes calls or
    when one did not come in this format, and results that do not stand directly behind their
    calls.
    """
    name = writer.name
    written: list[Any] = []
    asked_from = start = 0  # where the last assistant run before this one begins, and this one
    start_written = 0  # how much was written before this run
    join_to = 0  # one past the last message of the run that belongs to what stands before it
    speaker: bool | None = None
    was_own = was_native = False
    for index, message in enumerate(messages):
        wire = message.wire
        native = wire is not None and message.format == name
        own = native and not message.edited
        is_assistant = message.role == "assistant"
        if is_assistant is not speaker:
            if join_to:
                asked = messages[asked_from:start]
                written[start_written:] = _join(messages[start:index], join_to, asked, writer)
                join_to = 0
            # An assistant run answers nothing: what was asked begins where it begins itself.
            asked_from = index if is_assistant else start
            start = index
            start_written = len(written)
            speaker = is_assistant
        elif is_assistant:
            if not (native and was_native) or messages[index - 1].calls:
                join_to = index - start + 1
        elif not (own and was_own and message.role == "tool" == messages[index - 1].role) and (
            _answers(message, messages[asked_from:start])
        ):
            join_to = index - start + 1
        if own:
            written.append(wire)
        elif not join_to:
            written.extend(writer.written(message, messages[asked_from:start], writer.write))
        was_own, was_native = own, native
    if join_to:
        asked = messages[asked_from:start]
        written[start_written:] = _join(messages[start:], join_to, asked, writer)
    return written


def _answers(message: Message, asked: Sequence[Message]) -> bool:
    """Whether `message` carries a result of one of the calls that `asked` makes."""
    results = message.results
    if not results:
        return False
    calls = {call.id for one in asked for call in one.calls}
    return any(result.call_id in calls for result in results)


def _join(
    run: Sequence[Message], join_to: int, asked: Sequence[Message], writer: RunWriter
) -> list[dict[str, Any]]:
    written = writer.join(run[:join_to], asked)
    for message in run[join_to:]:
        written.extend(write_each(message, asked, writer))
    return written


def write_each(
    message: Message, asked: Sequence[Message], writer: RunWriter
) -> list[dict[str, Any]]:
    """Write one message by itself, an untouched one as it came."""
    if message.format == writer.name and not message.edited and message.wire is not None:
        return [cast(dict[str, Any], message.wire)]
    return writer.write(message, asked)


def call_places(asked: Sequence[Message]) -> dict[str, int]:
    """The place of each call id among the calls of `asked`, the first where one recurs."""
    place: dict[str, int] = {}
    for message in asked:
        for call in message.calls:
            place.setdefault(call.id, len(place))
    return place


def written_call_id(
    call_id: str, message: Message, asked: Sequence[Message], *, name: str, limit_chars: int
) -> str:
    """The id under which a call, and so its result, is written in the format `name`.

    An id stays what it is unless the call came in another format, whose ids may be none here.
    """
    of = message.format
    for one in asked:
        if any(call.id == call_id for call in one.calls):
            of = one.format
            break
    return call_id if of in ("", name) else fitting_call_id(call_id, limit_chars)
