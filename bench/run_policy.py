"""Drives a recording step by step through a policy, with the judges watching.

Before each recorded reply the policy prepares a request; the provider counts it and takes or
refuses it; the validator judges it; what the next calls need is looked up in it; and now and then
the independent reader tries to get back what is no longer in it. `run_policy` returns one row.

wayfare's own presets are run by the same function: any object with `prepare(history)` is a policy
(see `bench.policy`).
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.judges.provider import Refusal, SimulatedProvider
from bench.judges.reader import NOT_FOUND, Index, Reader, Recovery
from bench.judges.validity import Validator
from bench.needed import Shares, Standing, share
from bench.policy import AnswersRefusals, MakePolicy, Policy, Reports, Setting, WatchesUsage
from bench.prepared import Prepared, limit_tokens
from bench.recordings import Recording
from bench.seen import Seen, digest
from bench.wire import Wire, active_request, is_model_output, results
from bench.written import bytes_by_kind

STEP_SECONDS = 20.0
# A policy is asked again at most this often for one step (one send per level of a ladder).
MOST_SENDS = 4
# Looking for every hidden text after every step would take hours: this many looks a session.
READER_LOOKS = 40
# Unread results stand at the end of a request; parallel calls give some dozens at most.
NEWEST_MESSAGES = 64
# Hidden texts that are no leaf of a file are searched for inside the files, this many a look;
# the share found among them stands for the rest.
SLOW_SEARCHES = 300


@dataclass(slots=True, kw_only=True)
class _Tally:
    requests: int = 0
    invalid: int = 0
    refused: int = 0
    unanswered: int = 0
    tokens_sent: int = 0
    peak_tokens: int = 0
    cost: float = 0.0
    output_cost: float = 0.0
    cache_read: int = 0
    shares: Shares = field(default_factory=Shares)
    active: int = 0
    active_visible: int = 0
    active_exceptions: int = 0
    unread_lost: int = 0
    hidden: int = 0
    recovered: float = 0.0
    ways: list[Recovery] = field(default_factory=list[Recovery])
    prepare_ms: list[float] = field(default_factory=list[float])
    rules: dict[str, int] = field(default_factory=dict[str, int])


class _Run:
    """One recording, one policy, one window."""

    def __init__(
        self, prepared: Prepared, window_tokens: int, root: Path, step_seconds: float
    ) -> None:
        self.prepared = prepared
        recording = self.recording = prepared.recording
        self.window_tokens = window_tokens
        self.root = root
        self.step_seconds = step_seconds
        self.provider = SimulatedProvider(
            window_tokens, recording.format, interner=prepared.interner
        )
        self.validator = Validator(recording.format, prepared.interner)
        self.standing = Standing(prepared.needed)
        self.reader = Reader(root)
        self.tally = _Tally()
        self.leaves: dict[str, None] = {}
        self.leaves_from = 0
        looks = max(len(recording.steps) // READER_LOOKS, 1)
        self.looks = {*range(looks - 1, len(recording.steps), looks), len(recording.steps) - 1}

    def setting(self) -> Setting:
        recording = self.recording
        return Setting(
            window_tokens=self.window_tokens,
            reserve_tokens=self.provider.reserve_tokens,
            fixed_tokens=self.prepared.fixed_tokens,
            format=recording.format,
            system=recording.system,
            tools=recording.tools,
            count=self.provider.count,
            root=self.root,
            session=recording.name,
        )

    def step(self, number: int, index: int, policy: Policy) -> None:
        """One model call of the recording: prepare, judge, send, measure."""
        tally = self.tally
        history = self.recording.messages[:index]
        started = time.perf_counter()
        messages: list[Wire] | None = policy.prepare(history)
        tally.prepare_ms.append((time.perf_counter() - started) * 1_000)
        needed = self.prepared.needed.needed(index)
        output = sum(self.prepared.tokens[index : self.prepared.ends[index]])
        usage = None
        seen: list[Seen] = []
        for _ in range(MOST_SENDS):
            if messages is None:
                break
            seen = self.prepared.interner.intern(messages)
            self._judge(seen)
            try:
                usage = self.provider.send_seen(
                    seen, self.recording.system, self.recording.tools,
                    now_seconds=number * self.step_seconds, output_tokens=output,
                )  # fmt: skip
                break
            except Refusal as refusal:
                tally.refused += 1
                if not isinstance(policy, AnswersRefusals):
                    break
                messages = policy.refused(history, refusal)
        if usage is None:
            # The model saw nothing: what it needed was not there.
            tally.unanswered += 1
            tally.shares += Shares(
                files_needed=len(needed.files),
                identifiers_needed=len(needed.identifiers),
                contents_needed=len(needed.contents),
            )
            return
        if isinstance(policy, WatchesUsage):
            policy.observe(usage)
        tally.tokens_sent += usage.sent_tokens
        tally.peak_tokens = max(tally.peak_tokens, usage.sent_tokens)
        tally.cache_read += usage.cache_read
        tally.cost += usage.cost(self.provider.prices)
        tally.output_cost += usage.output * self.provider.prices.output
        self.standing.move_to(seen)
        tally.shares += self.standing.shares(needed)
        self._watch(number, index, seen)

    def _judge(self, seen: Sequence[Seen]) -> None:
        tally = self.tally
        tally.requests += 1
        broken = self.validator.message_violations(seen) if seen else ["no-messages: empty"]
        if broken:
            tally.invalid += 1
            for line in broken:
                rule = line.partition(":")[0]
                tally.rules[rule] = tally.rules.get(rule, 0) + 1

    def _watch(self, number: int, index: int, seen: list[Seen]) -> None:
        """What must still be there: the active request, unread results, and a way to the rest."""
        tally = self.tally
        request_text: str | None = None
        history = self.prepared.seen[:index]
        if seen[-len(history) :] != history:
            request_text = "\n".join(text for one in seen for text in one.texts)
        active = active_request(self.recording.messages[:index], self.recording.format)
        if active:
            tally.active += 1
            if request_text is None or all(text in request_text for text in active):
                tally.active_visible += 1
            elif self._is_large(active):
                tally.active_exceptions += 1
        if request_text is not None:
            self._unread(index, seen, request_text)
        if number in self.looks:
            self._look(index, seen, request_text)

    def _is_large(self, active: Sequence[str]) -> bool:
        """Whether the active request is over half the limit, where it need not stand verbatim."""
        message: Wire = {"role": "user", "content": "\n".join(active)}
        return self.provider.count([message]) > limit_tokens(self.window_tokens) // 2

    def _unread(self, index: int, seen: Sequence[Seen], request_text: str) -> None:
        """Results the model has not read yet stand in the request, or an address leads to them."""
        messages, format = self.recording.messages, self.recording.format
        ways: Index | None = None
        place = index
        while place and not is_model_output(messages[place - 1], format):
            place -= 1
            if self.prepared.seen[place] in seen[-NEWEST_MESSAGES:]:
                continue
            for result in results(messages[place], format):
                missing = [t for t in result.texts if t and t not in request_text]
                if missing:
                    ways = ways or self.reader.index(request_text)
                    self.tally.unread_lost += not all(ways.find(t).found for t in missing)

    def _look(self, index: int, seen: Sequence[Seen], request_text: str | None) -> None:
        """Try to get back every text that entered and is no longer visible."""
        prepared = self.prepared
        for one in prepared.seen[self.leaves_from : index]:
            self.leaves.update(dict.fromkeys(one.texts))
        self.leaves_from = index
        for one in seen:
            # A policy that changed a message in place would fool every judge that looks once.
            if prepared.interner.fresh(one.message) is not one:
                raise RuntimeError(f"{self.recording.name}: a message was changed in place")
        if request_text is None:
            return
        visible = {text for one in seen for text in one.texts}
        # A text of blanks alone is none that providers take; its repair leaves nothing to look for.
        hidden = [text for text in self.leaves if text not in visible and text.strip()]
        if not hidden:
            return
        ways = self.reader.index(request_text)
        slow: list[str] = []
        for text in hidden:
            way = ways.find_whole(text)
            if way is None:
                slow.append(text)
            else:
                self.tally.ways.append(way)
        searched = slow[:: max(len(slow) // SLOW_SEARCHES, 1)]
        found = [way for way in map(ways.find, searched) if way is not NOT_FOUND]
        self.tally.ways += [way for way in found if way.reads]
        rest = len(slow) * len(found) / len(searched) if slow else 0.0
        self.tally.hidden += len(hidden)
        self.tally.recovered += len(hidden) - len(slow) + rest

    def row(self, policy: Policy, name: str) -> dict[str, Any]:
        tally = self.tally
        recording = self.recording
        times = sorted(tally.prepare_ms)
        reads = [way.chars_read / way.reads for way in tally.ways if way.reads]
        written = sum(f.stat().st_size for f in self.root.rglob("*") if f.is_file())
        row: dict[str, Any] = {
            "file": recording.name,
            "format": recording.format,
            "budget": name,
            "window": self.window_tokens,
            "steps": len(recording.steps),
            "requests": tally.requests,
            "invalid": tally.invalid,
            "invalid_as_recorded": self.prepared.invalid_as_recorded,
            "invalid_rules": tally.rules,
            "refused": tally.refused,
            "unanswered": tally.unanswered,
            "recoverable": share(tally.recovered, tally.hidden) if tally.hidden else 1.0,
            "hidden_texts": tally.hidden,
            "read_chars_median": statistics.median(reads) if reads else None,
            "active_request_visible": share(tally.active_visible, tally.active),
            "active_request_cut": tally.active - tally.active_visible - tally.active_exceptions,
            "active_request_exceptions": tally.active_exceptions,
            "unread_lost": tally.unread_lost,
            **tally.shares.rows(),
            "counts": tally.shares,
            "tokens_sent": tally.tokens_sent,
            "peak_tokens": tally.peak_tokens,
            "cache_hit": share(tally.cache_read, tally.tokens_sent),
            "cost": tally.cost,
            "output_cost": tally.output_cost,
            "cost_ungoverned": self.prepared.cost_ungoverned(self.provider.prices),
            "passes_limit": self.prepared.passes_limit(self.window_tokens),
            "summaries": 0,
            "edits": {},
            "bytes_written_ratio": share(written, self.prepared.entered_bytes),
            "bytes_entered": self.prepared.entered_bytes,
            "bytes_by_kind": bytes_by_kind(self.root),
            "governance_ms": {
                "median": statistics.median(times) if times else 0.0,
                "p99": times[int(len(times) * 0.99)] if times else 0.0,
                "last": tally.prepare_ms[-1] if times else 0.0,
            },
        }
        if isinstance(policy, Reports):
            row.update(policy.report())
        return row


def run_policy(
    recording: Recording | Prepared,
    make_policy: MakePolicy,
    *,
    name: str,
    window_tokens: int,
    root: Path,
    step_seconds: float = STEP_SECONDS,
) -> dict[str, Any]:
    """Run one recording through a policy at one window and return its row.

    `root` is an empty folder the policy may write to and the reader reads from. `step_seconds` is
    the time between two model calls, for the lifetime of the prompt cache. Shares are 0 to 1,
    None where nothing was needed; `counts` has the numbers behind them, to be added up.

    Raises:
        RuntimeError: the policy changed one of the recording's messages.
    """
    prepared = recording if isinstance(recording, Prepared) else Prepared(recording)
    run = _Run(prepared, window_tokens, root, step_seconds)
    policy = make_policy(run.setting())
    for number, index in enumerate(prepared.recording.steps):
        run.step(number, index, policy)
    changed = [
        place
        for place, (message, before) in enumerate(
            zip(prepared.recording.messages, prepared.digests, strict=True)
        )
        if digest(message) != before
    ]
    if changed:
        raise RuntimeError(f"{prepared.recording.name}: messages {changed[:5]} were changed")
    return run.row(policy, name)


__all__ = ["Prepared", "limit_tokens", "run_policy"]
