"""Policies to compare with, one file each, and the list of them."""

from bench.baselines.cut_deep import CutDeep, CutDeepWithNames
from bench.baselines.digest_at_limit import DigestAtLimit
from bench.baselines.drop_oldest import DropOldest
from bench.baselines.no_governance import NoGovernance
from bench.baselines.stub_results import StubResults
from bench.policy import MakePolicy

BASELINES: dict[str, MakePolicy] = {
    "no governance": NoGovernance,
    "last 3 results": StubResults,
    "drop oldest": DropOldest,
    "cut deep": CutDeep,
    "cut deep with names": CutDeepWithNames,
    "digest at the limit": DigestAtLimit,
}

__all__ = ["BASELINES"]
