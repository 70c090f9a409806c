"""Experiment 2: one very large output of a tool."""

from __future__ import annotations

from typing import Final

from wayfare.agent.tool_function import tool
from wayfare.agent.tools import Tool
from wayfare.context.budget import Budget
from wayfare.tokens import TokenMeter
from wayfare.verify import checks
from wayfare.verify.checks import Check
from wayfare.verify.disk_reading import addresses_in, read_address, results_in
from wayfare.verify.recorder import Exchange, Returned
from wayfare.verify.trial import Trial, broken, last_words, numbered_text

KEY: Final = "large-output"
TITLE: Final = "one very large output"

PREVIEW: Final = "a preview stands in the context"
WHOLE: Final = "the whole result stands in a file"
NAMES: Final = (PREVIEW, WHOLE)

_TASK: Final = "Call print_log once. Then say in one sentence what it printed."
_OVER: Final = 2.0
"""So many times what a single result may hold; by itself it would still fit into the context."""
_OVER_ALL: Final = 1.2
_SHOWN_CHARS: Final = 100
"""So many first characters a preview shows at least."""


async def act(trial: Trial) -> None:
    """Let the model call a tool that prints very much."""
    await trial.session(_TASK, tools=[_print_log(trial)], memory=False, most_steps=6)


def _print_log(trial: Trial) -> Tool:
    text = numbered_text("build log", _tokens(trial.budget_unchanged))

    @tool(read_only=True, kind="shell")
    async def print_log() -> str:
        """Print the log of the last build."""
        return text

    return print_log


def _tokens(budget: Budget) -> int:
    """So many that the budget must act: on a single result where it has a limit for one, else on
    what is over the limit of the whole."""
    single = budget.window_tokens * budget.single_window_share * _OVER
    return int(single if single < budget.limit_tokens else budget.limit_tokens * _OVER_ALL)


def judge(trial: Trial) -> list[Check]:
    """Look at the request after the output, and at the file."""
    printed = trial.outputs("print_log")
    if (failed := broken(trial)) is not None:
        return [failed, *(checks.skipped(name, "the session stopped") for name in NAMES)]
    if not printed:
        said = "it did not call print_log"
        return [
            checks.model(checks.MODEL_DONE, said, *last_words(trial)),
            *(checks.skipped(name, said) for name in NAMES),
        ]
    one = printed[0]
    tokens = TokenMeter().text(one.text)
    told = f"print_log returned {len(one.text.encode()):,} bytes, about {tokens:,} tokens"
    after = next((e for e in trial.exchanges("step") if one.call_id in results_in(e.request)), None)
    if after is None:
        said = "its result never reached the model"
        return [
            checks.passed(checks.MODEL_DONE, "it called print_log", told),
            checks.runtime(PREVIEW, said),
            checks.skipped(WHOLE, said),
        ]
    return [
        checks.passed(checks.MODEL_DONE, "it called print_log", told),
        _preview(one, after),
        _whole(trial, one, after),
    ]


def _preview(one: Returned, after: Exchange) -> Check:
    shown = results_in(after.request)[one.call_id].text
    told = f"{after.label}: {len(shown):,} of {len(one.text):,} characters"
    if one.text in shown:
        return checks.runtime(PREVIEW, "the whole output stands in the context", told)
    if one.text[:_SHOWN_CHARS] not in shown:
        return checks.runtime(PREVIEW, "what stands there does not show how it begins", told)
    if len(shown) > len(one.text) // 2:
        return checks.runtime(PREVIEW, "what stands there is no preview", told)
    return checks.passed(PREVIEW, "the context holds how it begins and an address", told)


def _whole(trial: Trial, one: Returned, after: Exchange) -> Check:
    shown = results_in(after.request)[one.call_id].text
    wanted = one.text.encode()
    if one.text in shown:
        return checks.skipped(WHOLE, "nothing was taken out of the context")
    addresses = addresses_in(shown, trial.workspace)
    for address in addresses:
        contents = read_address(trial.workspace, address).contents
        if wanted in contents:
            told = f"{address}: {len(wanted):,} bytes"
            return checks.passed(WHOLE, "byte for byte what the tool returned", told)
    told = ", ".join(addresses) or "the context names no address"
    said = f"no address leads to the {len(wanted):,} bytes that the tool returned"
    return checks.runtime(WHOLE, said, told)
