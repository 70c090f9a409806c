"""Loads recorded sessions as wire lists; nothing of the runtime's readers is used.

Known folders under `trajectories/`: `anthropic/`, `openai/`, `swe_agent/`, and `codex_raw/` (as
Responses items). A recording is what a provider would have got, message by message.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.wire import Format, Wire, model_turns


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One session. `compactions` are the real compaction points where the recording has them."""

    name: str
    format: Format
    messages: list[Wire]
    system: Any = None
    tools: Any = None
    compactions: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def steps(self) -> list[int]:
        """Indexes of the messages that answer a model call, one a call.

        A turn of the model that directly follows another is the rest of one reply.
        """
        turns = model_turns(self.messages, self.format)
        ends = {turn.stop for turn in turns}
        return [turn.start for turn in turns if turn.start not in ends and turn.start > 0]


def load_file(path: Path) -> list[Recording]:
    """The sessions of one file: one, or as many as the file holds.

    Raises:
        ValueError: the file is in none of the known shapes.
    """
    if path.suffix == ".jsonl":
        return [_codex_rollout(path)]
    document = json.loads(path.read_text("utf-8"))
    if "history" in document:
        return [_swe_agent(path, document)]
    if "trajectories" in document:
        return [
            Recording(name=f"{path.stem}#{number}", format="openai-chat", messages=one["messages"])
            for number, one in enumerate(document["trajectories"])
        ]
    if "messages" not in document:
        raise ValueError(f"{path}: neither messages, trajectories nor history")
    is_anthropic = str(document.get("format", "")).startswith("anthropic")
    return [
        Recording(
            name=path.stem,
            format="anthropic" if is_anthropic else "openai-chat",
            messages=document["messages"],
            compactions=document.get("compactions") or [],
        )
    ]


def _swe_agent(path: Path, document: dict[str, Any]) -> Recording:
    """A SWE-agent trajectory as OpenAI chat: its own fields left out, ids taken from its lists."""
    messages: list[Wire] = []
    for entry in document["history"]:
        message: Wire = {"role": entry["role"], "content": entry["content"]}
        if entry.get("tool_calls"):
            message["tool_calls"] = entry["tool_calls"]
        if entry["role"] == "tool":
            message["tool_call_id"] = (entry.get("tool_call_ids") or [""])[0]
        messages.append(message)
    return Recording(name=path.stem, format="openai-chat", messages=messages)


def _codex_rollout(path: Path) -> Recording:
    """A Codex rollout as Responses items: the `response_item` lines in their order."""
    items: list[Wire] = []
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            if entry.get("type") == "response_item":
                items.append({k: v for k, v in entry["payload"].items() if k != "metadata"})
    return Recording(name=path.stem, format="openai-responses", messages=items)


FOLDERS = ("anthropic", "openai", "swe_agent")


def load(data: Path, folders: tuple[str, ...] = FOLDERS) -> Iterator[Recording]:
    """Every session under `data/trajectories/<folder>`, in the order of the names.

    Raises:
        FileNotFoundError: there is no such folder.
    """
    for folder in folders:
        root = data / "trajectories" / folder
        if not root.is_dir():
            raise FileNotFoundError(f"no recordings at {root}")
        for path in sorted(root.iterdir()):
            if path.suffix in (".json", ".traj", ".jsonl"):
                yield from load_file(path)


def load_shipped(folder: Path) -> list[Recording]:
    """The sessions of a flat folder in the forms `load_file` knows; others are left out."""
    found: list[Recording] = []
    for path in sorted(folder.iterdir()):
        if path.suffix in (".json", ".traj"):
            try:
                found += load_file(path)
            except (ValueError, TypeError, KeyError):
                continue
    return found
