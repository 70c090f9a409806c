"""Memory's side queries on the packaged local model: which replies parse, which are valid."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.recall.sets import Collection
from wayfare.errors import ModelError
from wayfare.formats.json_reply import reply_indices, reply_objects
from wayfare.memory.extract import EXTRACTION_SCHEMA
from wayfare.memory.recall import SELECTION_SCHEMA
from wayfare.memory.record import TYPES
from wayfare.memory.side_query import fenced, prompt_text
from wayfare.messages import user
from wayfare.model import Model, Request

LISTED = 12
"""Records a selection sees here: a model of this size has room for few lines and little patience."""
_REPLY_TOKENS = {"selection": 200, "extraction": 700}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One sort of query, with a schema or without one: how many of the replies could be parsed,
    how many were also valid, seconds each; `failed` counts those that never came."""

    query: str
    schema: bool
    asked: int
    parsed: int
    valid: int
    failed: int
    seconds: float


def packaged(root: Path) -> Path | None:
    """The packaged model's file, where this machine has it."""
    from wayfare.errors import ConfigError
    from wayfare.providers.local_install import packaged_model

    found = sorted((root / ".pytest_cache" / "d" / "packaged_model").glob("*.gguf"))
    if found:
        return found[0]
    try:
        return packaged_model(None)
    except ConfigError:
        return None


async def side_queries(path: Path, collection: Collection, count: int) -> list[Row]:
    """Ask so many selections and extractions by schema, and a third as many without one."""
    from wayfare.providers.local import LocalModel

    model = LocalModel(path)
    try:
        rows: list[Row] = []
        for schema, asked in ((True, count), (False, max(count // 3, 1))):
            rows.append(
                await _asked(
                    model,
                    "selection",
                    _selections(collection, asked),
                    SELECTION_SCHEMA if schema else None,
                    _selects,
                )
            )
            rows.append(
                await _asked(
                    model,
                    "extraction",
                    _extractions(collection, asked),
                    EXTRACTION_SCHEMA if schema else None,
                    _extracts,
                )
            )
        return rows
    finally:
        await model.close()


async def _asked(
    model: Model,
    query: str,
    prompts: Sequence[str],
    schema: Mapping[str, Any] | None,
    judge: Callable[[str], tuple[bool, bool]],
) -> Row:
    system = prompt_text("memory_select" if query == "selection" else "memory_extract")
    parsed = valid = failed = 0
    took: list[float] = []
    for prompt in prompts:
        request = Request(
            messages=(user(prompt),),
            system=system,
            schema=schema,
            max_output_tokens=_REPLY_TOKENS[query],
        )
        began = time.perf_counter()
        try:
            reply = await model.complete(request)
        except ModelError:
            failed += 1
            continue
        finally:
            took.append(time.perf_counter() - began)
        reads, holds = judge(reply.message.text)
        parsed += reads
        valid += reads and holds
    return Row(
        query=query,
        schema=schema is not None,
        asked=len(prompts),
        parsed=parsed,
        valid=valid,
        failed=failed,
        seconds=statistics.median(took) if took else 0.0,
    )


def _selects(reply: str) -> tuple[bool, bool]:
    """Whether a selection can be read; every number it may hold is a record's, others are dropped."""
    try:
        numbers = reply_indices(reply, LISTED, keys=("selected",))
    except ValueError:
        return False, False
    return True, len(set(numbers)) == len(numbers)


def _extracts(reply: str) -> tuple[bool, bool]:
    """Whether candidates can be read, and whether each has what a candidate must have."""
    try:
        objects = reply_objects(reply, keys=("memories",))
    except ValueError:
        return False, False
    return True, all(
        isinstance(one.get("name"), str)
        and isinstance(one.get("body"), str)
        and one.get("type") in TYPES
        and one.get("scope") in ("persistent", "current_task")
        for one in objects
    )


def _selections(collection: Collection, count: int) -> list[str]:
    documents, queries = collection.documents, collection.queries
    made: list[str] = []
    for n in range(count):
        query = queries[n * 7 % len(queries)]
        first = n * LISTED % max(len(documents) - LISTED, 1)
        lines = [
            f"[{at}] project | r{at}.md | 3 days ago | {(d.description or d.text)[:100]}"
            for at, d in enumerate(documents[first : first + LISTED])
        ]
        made.append(
            "\n\n".join([fenced("request", query.query), fenced("records", "\n".join(lines))])
        )
    return made


def _extractions(collection: Collection, count: int) -> list[str]:
    made: list[str] = []
    for n in range(count):
        said = collection.documents[n * 5 % len(collection.documents)].text[:300]
        lines = f"[3] USER: {' '.join(said.split())}\n[4] (assistant) Understood."
        made.append("\n\n".join([fenced("existing", "(none)"), fenced("conversation", lines)]))
    return made
