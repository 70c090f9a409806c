"""Where a history may be cut, shared by the policies that cut."""

from __future__ import annotations

from collections.abc import Sequence

from bench.policy import Setting
from bench.wire import Format, Wire, is_model_output, is_pinned, results


def pinned(history: Sequence[Wire]) -> list[Wire]:
    """The operator's instructions at the front of the list."""
    found: list[Wire] = []
    for message in history:
        if not is_pinned(message):
            break
        found.append(message)
    return found


def may_start(history: Sequence[Wire], index: int, format: Format) -> bool:
    """Whether everything in front of `index` may go: no call is parted from its result."""
    if index >= len(history):
        return False
    if results(history[index], format):
        return False
    if format == "openai-responses" and index and is_model_output(history[index], format):
        # Calls of one step follow each other as items of their own.
        return not is_model_output(history[index - 1], format)
    return True


def last_start(history: Sequence[Wire], format: Format) -> int:
    """The latest legal cut that keeps the newest step whole: what the model has yet to read."""
    for index in range(len(history) - 1, -1, -1):
        if is_model_output(history[index], format) and may_start(history, index, format):
            return index
    return 0


def start_for(history: Sequence[Wire], after: int, target_tokens: int, setting: Setting) -> int:
    """The earliest legal cut past `after` that leaves at most `target_tokens`.

    Where nothing does, the latest legal cut.
    """
    latest = max(last_start(history, setting.format), after)
    chosen = latest
    tokens = setting.count(history[latest:])
    for index in range(latest - 1, after - 1, -1):
        tokens += setting.count(history[index : index + 1])
        if tokens > target_tokens:
            break
        if may_start(history, index, setting.format):
            chosen = index
    return chosen


def marker(text: str, format: Format) -> Wire:
    """A user message of our own in front of what was kept."""
    if format == "openai-responses":
        return {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": text}],
        }
    return {"role": "user", "content": text}
