"""Generated histories in every wire format, legal ones and hostile ones."""

from __future__ import annotations

from typing import Any

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
said = st.one_of(words, long_text, odd_text)
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
arguments = st.dictionaries(
    st.sampled_from(("path", "content", "old_string", "n")), spoken, max_size=2
)


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
        ids = ["same", *ids[1:]]
    for id in ids:
        blocks.append({"type": "tool_use", "id": id, "name": "read_file", "input": draw(arguments)})
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
def anthropic_history(draw: st.DrawFn, hostile: bool = False) -> list[Wire]:
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
def chat_history(draw: st.DrawFn, hostile: bool = False) -> list[Wire]:
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
def responses_history(draw: st.DrawFn, hostile: bool = False) -> list[Wire]:
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


HISTORIES = {
    "anthropic": anthropic_history,
    "openai-chat": chat_history,
    "openai-responses": responses_history,
}
