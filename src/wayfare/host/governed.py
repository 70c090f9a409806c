"""Governing somebody else's loop: their list goes in, a governed one comes out."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from wayfare import json_text
from wayfare.backends import InMemoryBlobs, InMemoryLog
from wayfare.clock import Clock, SystemClock
from wayfare.context.budget import Budget
from wayfare.context.pipeline import Prepared
from wayfare.context.recovery import Ladder
from wayfare.errors import LeaseHeld, NotFound, PromptTooLong
from wayfare.events import Watched, ignore
from wayfare.host.branch import Branch
from wayfare.host.plain import must_be_list, opening, plain, usage_from
from wayfare.host.running import run_anywhere
from wayfare.session import RESULTS, TRANSCRIPTS, Places, file_transcript, governed, read_address
from wayfare.store import Ref
from wayfare.tokens import TokenMeter
from wayfare.transcript import Transcript

_BRANCHES: Final = 1_000
"""Branches of one conversation that are looked through; each is a changed past."""


class Governed:
    """Keeps one conversation of somebody else's loop within its budget.

        context = Governed(window_tokens=200_000)
        reply = client.messages.create(messages=context.govern(messages), …)

    The host's list is matched against the log by a running digest per message and the new tail is
    appended; a changed past begins another log at the common prefix. Nothing handed in is changed,
    and untouched messages come back as the very objects they came in. A host may also go on with
    the governed list itself.

    Args:
        format: Wire format of the messages: `anthropic`, `openai-chat` or `openai-responses`.
        window_tokens: The model's window.
        budget: In place of the preset `window` for that window.
        system: The system prompt, where it is no message; only measured.
        tools: The tools as they are sent; only measured.
        root: The workspace that printed addresses are relative to; None: all is kept in memory.
        session: Name of the log's folders; empty: made of the first message.
        watch: Told what happens.
    """

    def __init__(
        self,
        *,
        format: str = "anthropic",
        window_tokens: int = 200_000,
        budget: Budget | None = None,
        system: Any = "",
        tools: Sequence[Any] = (),
        root: Path | str | None = ".",
        session: str = "",
        watch: Watched = ignore,
        clock: Clock | None = None,
    ) -> None:
        self._format = format
        self._budget = budget or Budget.window(window_tokens)
        self._fixed = _measure(system, tools)
        self._places = None if root is None else Places(workspace=Path(root).resolve())
        self._session = session
        self._watch = watch
        self._clock = clock or SystemClock()
        self._branches: dict[str, Branch] = {}
        self._shelf: dict[str, bytes] = {}
        self._now: Branch | None = None
        self._sent: Prepared | None = None
        self._ladder: Ladder | None = None
        self._alone = threading.Lock()

    def govern(self, messages: Sequence[Any], *, usage: Any = None) -> list[Any]:
        """The governed list, to be sent in place of `messages`.

        Args:
            messages: The host's whole list, as it would send it.
            usage: What the provider reported with the last reply, in its own words; makes the
                token counts exact.

        Raises:
            CannotFit: what may not be shrunk does not fit; names the parts.
            ConfigError: this is no list of messages; none is taken.
            WriteFailed: the log cannot be written.
        """
        with self._alone:
            return run_anywhere(self.govern_async, messages, usage)

    async def govern_async(self, messages: Sequence[Any], usage: Any = None) -> list[Any]:
        """`govern` for callers with an event loop."""
        must_be_list(messages)
        branch, tail = await self._matched(messages)
        await branch.add(tail, usage_from(usage))
        self._now, self._ladder = branch, None
        self._sent = await branch.governor.prepare()
        return branch.written()

    def refused(
        self, *, limit_tokens: int | None = None, sent_tokens: int | None = None
    ) -> list[Any]:
        """A smaller list after the provider refused the last one as too long.

        Args:
            limit_tokens: The window its refusal names.
            sent_tokens: The size it names.

        Raises:
            CannotFit: nothing is left to shrink; names the parts.
        """
        with self._alone:
            return run_anywhere(self.refused_async, limit_tokens, sent_tokens)

    async def refused_async(
        self, limit_tokens: int | None = None, sent_tokens: int | None = None
    ) -> list[Any]:
        """`refused` for callers with an event loop."""
        branch, sent = self._now, self._sent
        if branch is None or sent is None:
            raise RuntimeError("nothing was governed yet, so nothing can have been refused")
        governor = branch.governor
        self._ladder = self._ladder or Ladder(governor, watch=self._watch)
        error = PromptTooLong(
            "refused as too long", limit_tokens=limit_tokens, sent_tokens=sent_tokens
        )
        self._sent = await self._ladder.climb(sent, error)
        return branch.written()

    def read(self, address: str) -> bytes:
        """The exact bytes an address in the governed list leads to.

        Raises:
            NotFound: it leads nowhere.
        """
        with self._alone:
            return run_anywhere(self.read_async, address)

    async def read_async(self, address: str) -> bytes:
        """`read` for callers with an event loop."""
        if self._places is not None:
            return await read_address(self._places, address)
        ref = Ref.parse(address)
        branches = self._branches.values()
        at = next((b for b in branches if ref.path.startswith(_folder(b))), self._now)
        if at is None:
            raise NotFound(f"nothing stands at {address}", ref=address)
        return await at.governor.transcript.read(ref)

    def close(self) -> None:
        """Let go of the logs; a later call opens them again."""
        with self._alone:
            run_anywhere(self.aclose)

    async def aclose(self) -> None:
        """`close` for callers with an event loop."""
        while self._branches:
            _, branch = self._branches.popitem()
            await branch.governor.transcript.close()
        self._now = None

    async def _matched(self, messages: Sequence[Any]) -> tuple[Branch, Sequence[Any]]:
        """The branch that the list goes on from, and what is new in it."""
        if self._now is not None:
            tail = self._now.take(messages)
            if tail is not None:
                return self._now, tail
        best: Branch | None = None
        shared = 0
        for number in range(_BRANCHES):
            name = self._named(messages, number)
            branch = self._branches.get(name)
            if branch is None:
                if not self._there(name):
                    return await self._forked(name, best, shared, messages)
                try:
                    branch = await self._opened(name)
                except LeaseHeld:
                    continue
            tail = branch.take(messages)
            if tail is not None:
                return branch, tail
            common = branch.common(messages)
            if common > shared:
                best, shared = branch, common
        raise LeaseHeld(
            f"{_BRANCHES} logs of this conversation are there; name another session",
            holder="this conversation",
        )

    def _named(self, messages: Sequence[Any], number: int) -> str:
        name = self._session
        if not name:
            name = opening(messages).hex()[:8]
        return name if number == 0 else f"{name}.{number}"

    def _there(self, name: str) -> bool:
        return self._places is not None and self._places.log(name).exists()

    async def _forked(
        self, name: str, best: Branch | None, shared: int, messages: Sequence[Any]
    ) -> tuple[Branch, Sequence[Any]]:
        """A new log with what the best one shares with the list."""
        transcript = self._transcript(name)
        if best is not None and shared:
            await transcript.open()
            await transcript.copy(best.governor.transcript, before=best.known[shared].entry)
        branch = await self._begun(name, transcript)
        tail = branch.take(messages)
        assert tail is not None, "a fork holds nothing but what the list begins with"
        return branch, tail

    async def _opened(self, name: str) -> Branch:
        return await self._begun(name, self._transcript(name))

    async def _begun(self, name: str, transcript: Transcript) -> Branch:
        governor = await governed(
            transcript,
            self._budget,
            clock=self._clock,
            watch=self._watch,
            fixed_tokens=self._fixed,
        )
        branch = Branch(name=name, governor=governor)
        await branch.read()
        self._branches[name] = branch
        return branch

    def _transcript(self, name: str) -> Transcript:
        if self._places is not None:
            return file_transcript(
                self._places, name, clock=self._clock, format=self._format, watch=self._watch
            )
        return Transcript(
            log=InMemoryLog(),
            blobs=InMemoryBlobs(f"{RESULTS}/{name}", self._shelf),
            contents=InMemoryLog(),
            path=f"{TRANSCRIPTS}/{name}/transcript.jsonl",
            contents_path=f"{TRANSCRIPTS}/{name}/contents.tsv",
            clock=self._clock,
            format=self._format,
            watch=self._watch,
        )


def _measure(system: Any, tools: Sequence[Any]) -> int:
    """What system prompt and tools take, in estimated tokens."""
    meter = TokenMeter()
    said = system if isinstance(system, str) else json_text.dumps(plain(system)).decode()
    offered = json_text.dumps(plain(list(tools))).decode() if tools else ""
    return meter.text(said) + meter.text(offered)


def _folder(branch: Branch) -> str:
    return f"{TRANSCRIPTS}/{branch.name}/"
