"""What an experiment found: checks, each with a verdict, a sentence and the evidence for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

Verdict: TypeAlias = Literal["passed", "failed-runtime", "failed-model", "skipped"]
"""`failed-runtime` is wayfare's fault, `failed-model` the model's; `skipped`: there was nothing to
judge, because something before it had failed."""

MODEL_DONE: Final = "the model did its part"
"""Name of the check of an experiment that is about the model alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing an experiment looked at.

    Attributes:
        name: What should be so.
        verdict: Whether it is, and if not, whose fault that is.
        said: One plain sentence about what was found.
        evidence: Paths, bytes, addresses and request numbers the verdict rests on.
        stand_in: Judged on the second run, with the stand-in in the model's place.
    """

    name: str
    verdict: Verdict
    said: str
    evidence: tuple[str, ...] = ()
    stand_in: bool = False

    @property
    def failed(self) -> bool:
        """Whether it speaks against somebody."""
        return self.verdict in ("failed-runtime", "failed-model")


def passed(name: str, said: str, *evidence: str) -> Check:
    """It is so."""
    return Check(name=name, verdict="passed", said=said, evidence=evidence)


def runtime(name: str, said: str, *evidence: str) -> Check:
    """It is not so, and that is wayfare's fault."""
    return Check(name=name, verdict="failed-runtime", said=said, evidence=evidence)


def model(name: str, said: str, *evidence: str) -> Check:
    """It is not so, and that is the model's fault."""
    return Check(name=name, verdict="failed-model", said=said, evidence=evidence)


def skipped(name: str, said: str, *evidence: str) -> Check:
    """There was nothing to judge."""
    return Check(name=name, verdict="skipped", said=said, evidence=evidence)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One experiment, judged.

    Attributes:
        key: Short name, also that of its folder.
        title: What was tried, in a line.
        checks: In the order they were made; those of the second run last.
        folder: Where its workspace and its requests stand.
        requests: Requests that were sent, those of the second run included.
        sent_tokens: Tokens of them, as the model reported them; the stand-in's left out.
        seconds: How long it took.
    """

    key: str
    title: str
    checks: tuple[Check, ...]
    folder: str
    requests: int = 0
    sent_tokens: int = 0
    seconds: float = 0.0
    failures: tuple[Check, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "failures", tuple(c for c in self.checks if c.failed))

    @property
    def verdict(self) -> Verdict:
        """The worst of its checks; wayfare's own faults first."""
        return worst(self.checks)


def worst(checks: Iterable[Check]) -> Verdict:
    """The verdict of several checks together."""
    found = {check.verdict for check in checks}
    for verdict in ("failed-runtime", "failed-model", "passed"):
        if verdict in found:
            return verdict
    return "skipped"
