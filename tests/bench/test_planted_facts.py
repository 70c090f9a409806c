"""The planted-facts bench: it can see a loss, and ours loses nothing."""

from __future__ import annotations

import anyio
from bench.planted_facts import GENERATIONS, facts, forgetful, forgetting, laid_in, ours, plain
from bench.synthetic import session

from wayfare.messages import user
from wayfare.model import Request

KINDS = {"rule": 4, "version": 3, "path": 3, "error": 3, "decision": 3, "number": 2, "todo": 2}


def test_twenty_facts_of_seven_kinds_enter_with_their_part() -> None:
    known = facts(1)
    assert {kind: sum(f.kind == kind for f in known) for kind in KINDS} == KINDS
    parts = laid_in(session(60), known)
    assert len(parts) == GENERATIONS
    for fact in known:
        texts = "\n".join(f"{m.text}{m.calls}{m.results}" for m in parts[fact.part])
        assert fact.text in texts


def test_the_forgetful_summarizer_forgets_some_and_invents_nothing() -> None:
    known = facts(1)
    seen = "\n".join(fact.text for fact in known[:10])
    text = forgetful(known)(Request(messages=(user(seen),)))
    held = [fact.text in text for fact in known]
    assert 0 < sum(held[:10]) < 10
    assert not any(held[10:])


def test_nothing_is_lost_and_rules_stay_where_a_plain_summary_loses_them() -> None:
    recording, known = session(60), facts(2)
    for model in (forgetting(known), None):
        found = anyio.run(lambda m=model: ours(recording, known, model=m))
        assert sum(found.lost.values()) == 0
        assert found.share(found.visible, GENERATIONS, "rule") == 1.0
        assert found.share(found.visible, GENERATIONS) >= 0.6
    worse = plain(recording, known)
    assert worse.total(worse.lost, GENERATIONS) >= 10
