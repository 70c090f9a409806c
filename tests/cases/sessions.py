"""What operations share: the budget a case asks for, and a look at the request and what it names."""

from __future__ import annotations

from typing import Any

from tests.cases.outcome import Outcome
from tests.cases.requests import addresses, text

from wayfare.context.budget import Budget
from wayfare.context.pipeline import Governor
from wayfare.errors import WayfareError
from wayfare.formats import codec
from wayfare.messages import Message
from wayfare.session import Places, read_address
from wayfare.transcript import MessageEntry

_ASKED_FOR = (
    ("offload_over_chars", "single_chars"),
    ("preview_bytes", "preview_chars"),
    ("keep_last_messages", "reactive_keep_messages"),
    ("keep_last_tokens", "reactive_keep_tokens"),
)
"""Settings of cases and ours."""


def budget_of(setup: dict[str, Any]) -> Budget:
    """The budget a case asks for."""
    limits = setup.get("limits", {})
    output = limits.get("output", 20_000)
    budget = Budget.window(limits.get("window", 200_000), max_output_tokens=output)
    changed: dict[str, Any] = {ours: setup[own] for own, ours in _ASKED_FOR if own in setup}
    if "trigger_percent" in limits:
        free = budget.window_tokens * (100 - limits["trigger_percent"]) // 100
        changed["buffer_tokens"] = max(free - budget.reserve_tokens, 0)
    return budget.with_(**changed)


def format_of(setup: dict[str, Any]) -> str:
    """Our name of the wire format a case is in."""
    name = setup.get("format", "anthropic")
    return "openai-chat" if name == "openai" else name


async def see(
    governor: Governor, messages: list[Message], outcome: Outcome, setup: dict[str, Any]
) -> None:
    """Take a request and what stands behind its addresses into the outcome."""
    outcome.format = format_of({"format": setup.get("send_as", setup.get("format", "anthropic"))})
    outcome.request = codec(outcome.format).encode(messages)
    outcome.entries = 0
    async for entry in governor.transcript.entries():
        outcome.entries += isinstance(entry, MessageEntry)
    held: dict[str, str] = {}

    def read(address: str) -> str:
        return held[address]

    await _read_ahead(Places(workspace=outcome.root), outcome.request, held)
    outcome.read = read


async def _read_ahead(places: Places, request: Any, held: dict[str, str]) -> None:
    """Read every address of the request, and of the tables those lead to, with the real reader."""
    waiting = addresses(text(request, binary=True))
    while waiting:
        address = waiting.pop()
        if address in held:
            continue
        try:
            content = await read_address(places, address)
        except WayfareError:
            continue
        held[address] = content.decode("utf-8", "surrogatepass")
        if address.endswith(".tsv"):
            waiting += [line.rpartition("\t")[2] for line in held[address].splitlines()]
