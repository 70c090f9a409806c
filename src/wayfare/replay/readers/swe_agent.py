"""SWE-agent: `.traj` files, as an openai-chat history.

The `history` list has everything the agent said and saw; from its entries `role`, `content`,
`tool_calls` and the other wire fields are kept, the tool's own (`agent`, `thought`, `action`, …)
are not, and `tool_call_ids` becomes `tool_call_id`. Files without a history are read from the
steps of `trajectory`: the messages shown to the model (`query`, before version 1.1 `messages`) at
the first step, then per step what was new. Other agents named in the history are side chains, the
`attempts` of a retrying agent are sessions of their own.
"""

from __future__ import annotations

from typing import Any

from wayfare.replay.readers.fields import mapping, mappings, sequence, text
from wayfare.replay.readers.source import Source, shape_of
from wayfare.replay.recording import Recording, Wire

KIND = "swe-agent"

WIRE_KEYS = (
    "role",
    "content",
    "name",
    "tool_calls",
    "tool_call_id",
    "refusal",
    "reasoning_content",
    "thinking_blocks",
    "cache_control",
)
"""Fields of a logged message that belong to the wire format."""


def accepts(value: Any) -> bool:
    """An object with steps or with a history of this tool's entries."""
    given = mapping(value)
    if any(accepts(one) for one in mappings(given.get("attempts"))[:3]):
        return True
    if any(_is_step(one) for one in mappings(given.get("trajectory"))[:3]):
        return True
    history = mappings(given.get("history"))[:3]
    return bool(history) and all("role" in one and "agent" in one for one in history)


def read(source: Source, value: Any) -> list[Recording]:
    """The session, or one for each attempt."""
    given = mapping(value)
    attempts = [one for one in mappings(given.get("attempts")) if accepts(one)]
    if attempts:
        return [one for each in attempts for one in read(Source(path=source.path), each)]
    entries = sequence(given.get("history"))
    if not entries:
        return [_recording(source, _from_steps(mappings(given.get("trajectory"))), given)]
    agents: dict[str, list[Wire]] = {}
    for place, entry in enumerate(entries):
        if not isinstance(entry, dict) or "role" not in entry:
            source.problems.add(0, f"entry {place} of the history is none: {shape_of(entry)}")
            continue
        agents.setdefault(text(mapping(entry).get("agent")), []).append(mapping(entry))
    names = list(agents)
    sides = tuple(
        _recording(Source(path=source.path), _wire(agents[name]), given, suffix=f"/{name}")
        for name in names[1:]
    )
    own = _wire(agents[names[0]]) if names else []
    return [_recording(source, own, given, sides=sides)]


def _is_step(value: Wire) -> bool:
    return "action" in value and "observation" in value


def _recording(
    source: Source,
    messages: list[Wire],
    given: Wire,
    *,
    suffix: str = "",
    sides: tuple[Recording, ...] = (),
) -> Recording:
    return Recording(
        path=str(source.path),
        name=source.path.name + suffix,
        kind=KIND,
        format="openai-chat",
        messages=tuple(messages),
        times=(None,) * len(messages),
        model=_model(given),
        side_chains=sides,
        problems=source.problems.taken(),
    )


def _wire(entries: list[Wire]) -> list[Wire]:
    messages: list[Wire] = []
    for entry in entries:
        message = {key: entry[key] for key in WIRE_KEYS if entry.get(key) is not None}
        message.setdefault("content", entry.get("content"))
        ids = sequence(entry.get("tool_call_ids"))
        if message.get("role") == "tool" and "tool_call_id" not in message and ids:
            messages.append({**message, "tool_call_id": ids[0]})
            # The tool logs one observation for a step; its further calls got nothing else.
            messages += [{**message, "tool_call_id": one, "content": ""} for one in ids[1:]]
        else:
            messages.append(message)
    return messages


def _from_steps(steps: list[Wire]) -> list[Wire]:
    """The history as the steps show it."""
    shown = [mappings(step.get("query")) or mappings(step.get("messages")) for step in steps]
    opening = next((one for one in shown if one), list[Wire]())
    first_reply = [place for place, one in enumerate(opening) if one.get("role") == "assistant"]
    before = first_reply[0] if first_reply and not _is_demonstrated(opening) else len(opening)
    messages = _wire(opening[:before])
    for place, step in enumerate(steps):
        queries = [mappings(one.get("query")) for one in steps[place : place + 2]]
        new = queries[1][len(queries[0]) :] if len(queries) > 1 and queries[0] else []
        if new and new[0].get("role") == "assistant":
            messages += _wire(new)
            continue
        messages.append({"role": "assistant", "content": text(step.get("response"))})
        messages.append({"role": "user", "content": text(step.get("observation"))})
    return messages


def _is_demonstrated(opening: list[Wire]) -> bool:
    """Demonstrations are put in front as whole dialogues, replies included."""
    return any(one.get("is_demo") for one in opening)


def _model(given: Wire) -> str | None:
    replayed = given.get("replay_config")
    agent = mapping(mapping(replayed).get("agent"))
    name = text(mapping(agent.get("model")).get("name"))
    return name or text(mapping(given.get("info")).get("model_name")) or None
