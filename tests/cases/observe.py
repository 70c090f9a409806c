"""Checks written by hand, one for each sentence of an `observe`, by case and its first words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tests.cases import requests as rq
from tests.cases.outcome import Outcome, snapshot

Observed = Callable[[Outcome], str]
OBSERVED: dict[tuple[str, str], Observed] = {}


def observed(case: str, what: str) -> Callable[[Observed], Observed]:
    """Register a check for the observation of `case` that begins with `what`."""

    def register(check: Observed) -> Observed:
        OBSERVED[case, what[:40]] = check
        return check

    return register


@observed("id-03-empty-ids", "each of the two notices names a file, and that file starts with")
def notices_lead_home(outcome: Outcome) -> str:
    for result in rq.results(outcome.request or [], outcome.format):
        said = result["text"]
        address = said.partition("Full output: ")[2].partition("\n")[0]
        word = "AAAA" if "AAAA" in said else "BBBB"
        if not address or not outcome.read(address).startswith(word):
            return f"the notice {said[:60]!r} leads to another text"
    return ""


@observed(
    "crash-01-torn-transcript-line", "the torn tail is set aside or named in an event, not glued"
)
def torn_tail(outcome: Outcome) -> str:
    aside = [p for p in snapshot(outcome.root) if ".torn" in p]
    told = any("set aside" in e for e in outcome.events)
    return "" if aside and told else f"set aside: {aside}, events: {outcome.events}"


@observed(
    "res-03-half-of-a-parallel-batch", "the request holds exactly one result for call b; it is m"
)
def one_result_for_b(outcome: Outcome) -> str:
    found = [r for r in rq.results(outcome.request or [], outcome.format) if r["id"] == "b"]
    if len(found) != 1:
        return f"{len(found)} results for b"
    return "" if found[0]["is_error"] or "interrupted" in found[0]["text"] else "b is not marked"


@observed(
    "res-03-half-of-a-parallel-batch", "loading the session a second time changes no file and re"
)
@observed("res-05-repair-runs-once", "loading the session a second time changes no file and re")
def loads_twice(outcome: Outcome) -> str:
    again = outcome.again
    assert again is not None
    if again.before != snapshot(again.root):
        return "the second load changed files"
    told = [e for e in again.events if "repair" in e]
    return f"the second load reports {told}" if told else ""


@observed(
    "think-04-reasoning-item-and-its-call",
    "in the request every reasoning item is directly followed by",
)
def reasoning_stays_with_its_item(outcome: Outcome) -> str:
    request: list[dict[str, Any]] = outcome.request or []
    items = outcome.input_messages
    after = {
        item["id"]: items[at + 1].get("id")
        for at, item in enumerate(items)
        if item.get("type") == "reasoning"
    }
    for at, item in enumerate(request):
        if item.get("type") == "reasoning" and request[at + 1].get("id") != after[item["id"]]:
            return f"{item['id']} is followed by {request[at + 1]}"
        if item.get("type") == "function_call":
            if request[at - 1].get("type") != "reasoning":
                return f"{item['id']} has lost its reasoning item"
            if not any(r["id"] == item["call_id"] for r in rq.results(request, outcome.format)):
                return f"{item['id']} has no output"
    return ""


@observed(
    "loop-02-summary-plus-tail-still-over", "the history is as before, or every message that le"
)
def all_that_left_can_be_read(outcome: Outcome) -> str:
    from tests.cases.checks import recoverable

    texts = [text for message in outcome.input_messages for text in rq.texts(message["content"])]
    return recoverable({"texts": texts}, outcome)


@observed("loop-06-emergency-marker-piles-up", "no archive marker occurs twice in the request")
def no_marker_twice(outcome: Outcome) -> str:
    shown = rq.text(outcome.request or [])
    starts = ("[Compacted]", "[Reactive compact]", "Full transcript: ")
    twice = [start for start in starts if shown.count(start) > 1]
    return f"more than one {twice}" if twice else ""


@observed(
    "loop-06-emergency-marker-piles-up", "the number of messages said to be archived is at most"
)
def no_more_archived_than_there_were(outcome: Outcome) -> str:
    shown = rq.text(outcome.request or [])
    said = [int(found[1]) for found in re.finditer(r"\[(\d+) messages archived", shown)]
    runs = [(int(a), int(b)) for a, b in re.findall(r"transcript\.jsonl#(\d+)-(\d+)", shown)]
    # Entries hold marks and edits beside messages, so a run may be longer than what it archives.
    beyond = [run for run in runs if run[1] > outcome.extra["last_entry"]]
    there = len(outcome.input_messages) + 1
    too_many = [count for count in said if count > there]
    return (
        f"archived {too_many} of {there}, runs beyond the log {beyond}"
        if too_many or beyond
        else ""
    )
