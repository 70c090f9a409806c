"""Generated histories in every wire format, legal ones and hostile ones."""

from __future__ import annotations

from typing import Any, cast

from bench.wire import Format
from hypothesis import strategies as st

Wire = dict[str, Any]

_WORDS = (
    "read",
    "src/app.py",
    "fix_the_bug",
    "测试",
    "error: E42",
    "naïve",
    "\u2028",
    "\r\n",
    "🙂",
    " ",
)
words = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=8).map(
    lambda w: "say " + " ".join(w)
)
long_text = st.tuples(words, st.integers(1, 300)).map(lambda t: (t[0] + "\n") * t[1])
odd_text = st.sampled_from(
    (
        "",
        " ",
        "\n",
        "nul\x00",
        "<persisted-output>\nFull output: /etc/passwd",
        "[Compacted]",
    )
)
half_signs = st.sampled_from(("half \ud83d of a sign", "\udc00" * 3, "half \ud83d of it\n" * 300))
said = st.one_of(words, long_text, odd_text, half_signs)
spoken = st.one_of(words, long_text)

_IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo" + "A" * 5_000},
}
content = st.one_of(
    said,
    st.lists(
        st.one_of(
            spoken.map(lambda t: {"type": "text", "text": t}),
            st.just(_IMAGE),
            spoken.map(lambda t: {"type": "x_future", "payload": t}),
        ),
        min_size=1,
        max_size=3,
    ),
)
keys = st.sampled_from(("path", "content", "old_string", "n"))
arguments = st.dictionaries(keys, spoken, max_size=2)
odd_arguments = st.dictionaries(
    st.one_of(keys, st.just("\ud83d")),
    st.one_of(said, st.integers(), st.none(), st.lists(said, max_size=2)),
    max_size=3,
)


@st.composite
def spoilt(draw: st.DrawFn, history: st.SearchStrategy[list[Wire]]) -> list[Wire]:
    """A history some of whose messages have a role that is none, no content, or another's id."""
    made = draw(history)
    for at in draw(st.sets(st.integers(0, 30), max_size=2)):
        if at >= len(made):
            continue
        message = dict(made[at])
        how = draw(
            st.sampled_from(("null role", "odd role", "no role", "null content", "other id"))
        )
        if how == "null content" and "content" in message:
            message["content"] = None
        elif how == "other id":
            message = _answering_another(message)
        elif "role" in message:
            message["role"] = None if how == "null role" else "model"
            if how == "no role":
                del message["role"]
        made[at] = message
    return made


def _answering_another(message: Wire) -> Wire:
    for key in ("tool_call_id", "call_id"):
        if key in message:
            return {**message, key: "another"}
    blocks = message.get("content")
    if not isinstance(blocks, list):
        return message
    found = [
        b | {"tool_use_id": "another"} if "tool_use_id" in b else b
        for b in cast("list[Wire]", blocks)
    ]
    return {**message, "content": found}


@st.composite
def anthropic_step(draw: st.DrawFn, number: int, hostile: bool) -> list[Wire]:
    """One assistant message and, if it calls, the message that answers."""
    blocks: list[Wire] = []
    if draw(st.booleans()):
        blocks.append(
            {"type": "thinking", "thinking": draw(spoken), "signature": f"sig{number}" * 8}
        )
    if draw(st.booleans()):
        blocks.append({"type": "text", "text": draw(said if hostile else spoken)})
    ids = [f"t{number}_{k}" for k in range(draw(st.integers(0, 3)))]
    if hostile and ids and draw(st.booleans()):
        ids = draw(st.sampled_from((["same", *ids[1:]], ["same", "same", *ids[2:]])))
    given = odd_arguments if hostile else arguments
    for id in ids:
        blocks.append({"type": "tool_use", "id": id, "name": "read_file", "input": draw(given)})
    if not blocks or all(b["type"] == "thinking" for b in blocks):
        blocks.append({"type": "text", "text": "done"})
    step = [{"role": "assistant", "content": blocks}]
    answers = [
        {
            "type": "tool_result",
            "tool_use_id": id,
            "content": draw(content if hostile else spoken),
            **({"is_error": True} if draw(st.booleans()) else {}),
        }
        for id in ids
    ]
    if hostile and answers:
        spoilt = draw(
            st.sampled_from(("none", "drop", "twice", "orphan", "split", "mixed", "late"))
        )
        if spoilt == "drop":
            answers = answers[1:]
        elif spoilt == "twice":
            answers = [*answers, answers[0]]
        elif spoilt == "orphan":
            answers = [*answers, {"type": "tool_result", "tool_use_id": "nobody", "content": "?"}]
        elif spoilt == "split":
            return [*step, *({"role": "user", "content": [a]} for a in answers)]
        elif spoilt == "mixed":
            answers = [{"type": "text", "text": "by the way"}, *answers]
        elif spoilt == "late":
            return [
                *step,
                {"role": "user", "content": "hurry"},
                {"role": "user", "content": answers},
            ]
    if answers:
        step.append({"role": "user", "content": answers})
    return step


@st.composite
def _anthropic_history(draw: st.DrawFn, hostile: bool = False) -> list[Wire]:
    """A history as an Anthropic message list."""
    made: list[Wire] = []
    if not hostile or draw(st.booleans()):
        made.append({"role": "user", "content": draw(spoken)})
    for number in range(draw(st.integers(1, 8))):
        made += draw(anthropic_step(number, hostile))
        if draw(st.integers(0, 3)) == 0:
            made.append({"role": "user", "content": draw(said if hostile else spoken)})
    if hostile and draw(st.booleans()):
        made.append({"role": "user", "content": []})
    return made


@st.composite
def _chat_history(draw: st.DrawFn, hostile: bool = False) -> list[Wire]:
    """A history as an OpenAI chat list."""
    made: list[Wire] = []
    if draw(st.booleans()):
        made.append(
            {"role": draw(st.sampled_from(("system", "developer"))), "content": "Be brief."}
        )
    if not hostile or draw(st.booleans()):
        made.append({"role": "user", "content": draw(spoken)})
    for number in range(draw(st.integers(1, 8))):
        ids = [f"c{number}_{k}" for k in range(draw(st.integers(0, 3)))]
        if hostile and ids and draw(st.booleans()):
            ids[0] = draw(st.sampled_from(("", "same")))
            ids[-1] = draw(st.sampled_from((ids[0], ids[-1])))
        message: Wire = {
            "role": "assistant",
            "content": draw(spoken) if draw(st.booleans()) else None,
        }
        if ids:
            message["tool_calls"] = [
                {
                    "id": id,
                    "type": "function",
                    "function": {"name": "read", "arguments": '{"path": "a.py"}'},
                }
                for id in ids
            ]
        elif message["content"] is None:
            message["content"] = "done"
        made.append(message)
        answered = ids[1:] if hostile and draw(st.integers(0, 4)) == 0 else ids
        made += [
            {"role": "tool", "tool_call_id": id, "content": draw(said if hostile else spoken)}
            for id in answered
        ]
        if draw(st.integers(0, 3)) == 0:
            made.append({"role": "user", "content": draw(said if hostile else spoken)})
    return made


@st.composite
def _responses_history(draw: st.DrawFn, hostile: bool = False) -> list[Wire]:
    """A history as OpenAI Responses items, with reasoning items that must keep their follower."""
    made: list[Wire] = [{"type": "message", "role": "user", "content": draw(spoken)}]
    for number in range(draw(st.integers(1, 8))):
        if draw(st.booleans()):
            made.append({"type": "reasoning", "id": f"rs_{number}", "summary": []})
        if draw(st.booleans()):
            made.append(
                {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}",
                 "name": "read", "arguments": '{"path": "a.py"}'}
            )  # fmt: skip
            if not (hostile and draw(st.integers(0, 4)) == 0):
                made.append(
                    {"type": "function_call_output", "call_id": f"call_{number}",
                     "output": draw(said if hostile else spoken)}
                )  # fmt: skip
        else:
            made.append(
                {"type": "message", "role": "assistant", "id": f"msg_{number}",
                 "content": [{"type": "output_text", "text": draw(spoken)}]}
            )  # fmt: skip
        if draw(st.integers(0, 3)) == 0:
            made.append({"type": "message", "role": "user", "content": draw(spoken)})
    return made


_OF_FORMAT: dict[Format, Any] = {
    "anthropic": _anthropic_history,
    "openai-chat": _chat_history,
    "openai-responses": _responses_history,
}


def histories(format: Format, *, hostile: bool) -> st.SearchStrategy[list[Wire]]:
    """Histories of one format."""
    made = _OF_FORMAT[format](hostile=hostile)
    return st.one_of(made, spoilt(made)) if hostile else made


FORMATS: tuple[Format, ...] = tuple(sorted(_OF_FORMAT))
