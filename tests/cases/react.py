"""Runs the cases of operation `react`: what follows a provider's error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wayfare.providers.classify import Answer, Classified, classify


def classify_case(case: Mapping[str, Any]) -> Classified:
    """What the runtime makes of the case's error, with the case's sizes known to it."""
    setup = case["setup"]
    limits = setup.get("limits", {})
    error = case["input"]["error"]
    status, body = error.get("status"), error.get("body")
    return classify(
        Answer(
            status=status,
            body=body,
            headers=error.get("headers") or {},
            stop_reason=error.get("stop_reason"),
            request_tokens=setup.get("request_tokens"),
            window_tokens=limits.get("window"),
            reserve_tokens=limits.get("output"),
            # a text that came with success is an error event of a stream
            streamed=isinstance(body, str) and status is not None and 200 <= status < 300,
        )
    )


def react(case: Mapping[str, Any]) -> tuple[str, int | None]:
    """The reaction, and the window the runtime believes in afterwards."""
    found = classify_case(case)
    known = case["setup"].get("limits", {}).get("window")
    return found.reaction.value, known if found.limit_tokens is None else found.limit_tokens
