"""What the prompt cache pays for: every request begins with what the one before it held, and says
so where the provider wants it said."""

from __future__ import annotations

from typing import Any

import pytest
from tests.wire.conversations import PROVIDERS, READ, sent
from tests.wire.test_requests import TOOLS

from wayfare.messages import Message, assistant, call, result, results, user
from wayfare.model import Request


def growing(turns: int, calls: int) -> list[Request]:
    """The requests of a session that only grows; each knows what the one before it held."""
    messages: list[Message] = [user("Begin.")]
    requests: list[Request] = []
    stable = 0
    for turn in range(turns):
        requests.append(
            Request(
                messages=tuple(messages),
                system="Be brief.",
                tools=(READ,),
                max_output_tokens=100,
                stable_messages=stable,
            )
        )
        stable = len(messages)
        ids = [f"call_{turn}_{n}" for n in range(calls)]
        messages.append(
            assistant(f"Step {turn}.", *(call("read_file", {"path": i}, id=i) for i in ids))
        )
        messages.append(results(*(result(i, f"content of {i}") for i in ids)))
    return requests


def flat(body: dict[str, Any]) -> tuple[list[Any], list[int]]:
    """Every block of an Anthropic request in the order it is cached in, and where marks stand."""
    blocks: list[Any] = [("tool", tool["name"]) for tool in body["tools"]]
    marks: list[int] = []
    system = [("system", block) for block in body["system"]]
    said = [
        (message["role"], block) for message in body["messages"] for block in message["content"]
    ]
    for role, block in (*system, *said):
        bare = {key: value for key, value in block.items() if key != "cache_control"}
        blocks.append((role, bare))
        if "cache_control" in block:
            marks.append(len(blocks))
    return blocks, marks


@pytest.mark.parametrize("calls", [1, 30], ids=["few blocks a step", "more than 20 blocks a step"])
async def test_each_request_reads_what_the_one_before_it_wrote(calls: int) -> None:
    """The provider looks for a cached prefix at a mark and 20 blocks before it, no further."""
    bodies = [listed(body) for body in await sent("anthropic", *growing(5, calls))]
    written: tuple[list[Any], int] | None = None
    for body in bodies:
        blocks, marks = flat(body)
        assert len(marks) <= 4
        assert marks[-1] == len(blocks), "the end of the request is not written to the cache"
        if written is not None:
            before, end = written
            assert blocks[:end] == before[:end], "the prefix changed"
            assert end in marks, "nothing tells the provider to look where the last one ended"
        written = (blocks, marks[-1])


def listed(body: dict[str, Any]) -> dict[str, Any]:
    """With every content as a list of blocks; a string is short for one text."""
    messages = [
        {**m, "content": [{"type": "text", "text": m["content"]}]}
        if isinstance(m["content"], str)
        else m
        for m in body["messages"]
    ]
    return {**body, "messages": messages}


@pytest.mark.parametrize("provider", ["openai chat", "openai responses"])
async def test_where_no_marks_are_needed_the_prefix_stays_the_same(provider: str) -> None:
    key = "messages" if provider == "openai chat" else "input"
    before: list[Any] = []
    for body in await sent(provider, *growing(4, 2)):
        assert body[key][: len(before)] == before
        before = body[key]


async def test_marks_of_somebody_elses_recording_are_taken_off() -> None:
    wire = {
        "role": "user",
        "content": [
            {"type": "text", "text": f"part {n}", "cache_control": {"type": "ephemeral"}}
            for n in range(4)
        ],
    }
    from wayfare.formats import codec

    message = codec("anthropic").decode(wire)
    [body] = await sent("anthropic", Request(messages=(message,), system="s"))
    assert str(body).count("cache_control") == 2
    assert str(wire).count("cache_control") == 4


async def test_without_a_lifetime_nothing_is_marked() -> None:
    [body] = await sent("anthropic", TOOLS, cache_lifetime="off")
    assert "cache_control" not in str(body)


async def test_every_provider_sends_the_same_bytes_for_the_same_request() -> None:
    for provider in PROVIDERS:
        first, second = await sent(provider, TOOLS, TOOLS)
        assert first == second
