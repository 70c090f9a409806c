"""One call for somebody else's loop: `govern(messages)`.

    from wayfare import govern

    reply = client.messages.create(model=…, messages=govern(messages, window_tokens=200_000))

For a loop that lives longer, `Governed` holds the conversation and takes usage and refusals, too.
"""

from __future__ import annotations

import atexit
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from wayfare.context.budget import Budget
from wayfare.host.governed import Governed

__all__ = ["Governed", "govern", "govern_async"]

_KEPT: Final = 64
"""Conversations kept open for calls of `govern`; the one used longest ago is closed first."""
_open: OrderedDict[tuple[Any, ...], Governed] = OrderedDict()
_alone: Final = threading.Lock()


def govern(
    messages: Sequence[Any],
    *,
    format: str = "anthropic",
    window_tokens: int = 200_000,
    budget: Budget | None = None,
    system: Any = "",
    tools: Sequence[Any] = (),
    root: Path | str | None = ".",
    session: str = "",
    usage: Any = None,
) -> list[Any]:
    """The governed list to send in place of `messages`, a host's whole list in its own wire format.

    State is kept beside it, in `.transcripts` and `.task_outputs` below `root`, and found again by
    the first message (or by `session`), in this process and in later ones.

    Args:
        messages: The host's list; never changed.
        format: `anthropic`, `openai-chat` or `openai-responses`.
        window_tokens: The model's window.
        budget: In place of the preset `window` for that window.
        system: The system prompt, where it is no message; only measured.
        tools: The tools as they are sent; only measured.
        root: The workspace that printed addresses are relative to; None: all is kept in memory,
            as long as the process lives.
        session: Name of the log's folders; empty: made of the first message.
        usage: What the provider reported with the last reply, in its own words.

    Raises:
        CannotFit: what may not be shrunk does not fit; names the parts.
        ConfigError: this is no list of messages; none is taken.
        WriteFailed: the log cannot be written.
    """
    kept = _kept(messages, format, window_tokens, budget, system, tools, root, session)
    return kept.govern(messages, usage=usage)


async def govern_async(messages: Sequence[Any], *, usage: Any = None, **options: Any) -> list[Any]:
    """`govern` for callers with an event loop; takes and raises the same."""
    wanted: dict[str, Any] = {
        "format": "anthropic",
        "window_tokens": 200_000,
        "budget": None,
        "system": "",
        "tools": (),
        "root": ".",
        "session": "",
    }
    return await _kept(messages, **(wanted | options)).govern_async(messages, usage)


def _kept(
    messages: Sequence[Any],
    format: str,
    window_tokens: int,
    budget: Budget | None,
    system: Any,
    tools: Sequence[Any],
    root: Path | str | None,
    session: str,
) -> Governed:
    """The open conversation this list belongs to."""
    from wayfare.host.plain import opening

    place = None if root is None else str(Path(root).resolve())
    first = session or opening(messages)
    key = (place, first, format, window_tokens, budget)
    with _alone:
        found = _open.get(key)
        if found is None:
            found = _open[key] = Governed(
                format=format,
                window_tokens=window_tokens,
                budget=budget,
                system=system,
                tools=tools,
                root=root,
                session=session,
            )
        _open.move_to_end(key)
        gone = [_open.popitem(last=False)[1] for _ in range(len(_open) - _KEPT)]
    for one in gone:
        one.close()
    return found


@atexit.register
def _close_all() -> None:
    while _open:
        _open.popitem()[1].close()
