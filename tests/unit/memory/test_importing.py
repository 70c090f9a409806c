"""Imports from other tools, and the export."""

from __future__ import annotations

import json

import pytest
from tests.unit.memory.places import Workplace, record

from wayfare.memory.exporting import from_markdown, is_export, to_markdown
from wayfare.memory.importing import (
    from_basic_memory,
    from_bullets,
    from_mem0,
    from_memory_folder,
    import_found,
)
from wayfare.memory.waiting import waiting

pytestmark = pytest.mark.anyio

CLAUDE_FOLDER = {
    "MEMORY.md": b"# Memory\n\n- [Tests](feedback_tests.md) \xe2\x80\x94 run them\n"
    b"- [Gone](gone.md) \xe2\x80\x94 not there\n\n## Setup\n- Run locally with `make run`\n",
    "feedback_tests.md": b"---\nname: Always run tests\ndescription: before claiming done\n"
    b"metadata: \n  node_type: memory\n  type: feedback\n---\n\nRun pytest first.\n",
    "empty.md": b"",
    "image.png": b"\x89PNG",
}
AGENTS = """# Agents

Prose that is no bullet.

## Code style
- Use tabs, never spaces
  because the owner says so
    - nested detail
- **Always** run `make check` before a commit

```bash
- not a bullet
```

1. Write tests first

## About me
* I work from Berlin

## Links
- [Dashboard](https://grafana.internal/d/1) shows the load
- x
"""


async def test_a_claude_code_folder_comes_with_its_types_and_what_its_index_knows() -> None:
    found = from_memory_folder(CLAUDE_FOLDER)
    assert [(c.name, c.type) for c in found.candidates] == [
        ("Always run tests", "feedback"),
        ("Run locally with make run", "feedback"),
    ]
    assert ("MEMORY.md", "it lists gone.md, which is not there") in found.skipped
    assert "empty.md" in [place for place, _ in found.skipped]


async def test_bullets_keep_what_is_nested_and_take_their_type_from_the_heading() -> None:
    found = from_bullets("AGENTS.md", AGENTS)
    assert [(c.type, c.name) for c in found.candidates] == [
        ("feedback", "Use tabs, never spaces"),
        ("feedback", "Always run make check before a"),
        ("feedback", "Write tests first"),
        ("user", "I work from Berlin"),
        ("reference", "Dashboard shows the load"),
    ]
    assert found.candidates[0].body == (
        "Use tabs, never spaces\nbecause the owner says so\n  - nested detail"
    )
    assert found.skipped == (("AGENTS.md:22", "it is a single word"),)


async def test_bullets_that_begin_alike_get_names_of_their_own() -> None:
    found = from_bullets("CLAUDE.md", "- use the new client for all the reads\n" * 2)
    assert [c.name for c in found.candidates] == [
        "use the new client for all",
        "use the new client for all 2",
    ]


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: {"results": x, "count": 2}])
async def test_mem0_exports(wrap) -> None:
    items = [
        {"id": "1", "memory": "Prefers morning meetings", "categories": ["preferences"]},
        {"id": "2", "memory": "Leads the API redesign", "metadata": {"type": "project"}},
        {"id": "3", "memory": " "},
        "a bare sentence",
    ]
    found = from_mem0(json.dumps(wrap(items)))
    assert [(c.type, c.body) for c in found.candidates] == [
        ("user", "Prefers morning meetings"),
        ("project", "Leads the API redesign"),
        ("user", "a bare sentence"),
    ]
    assert found.skipped == (("memory 3", "it has no text"),)


@pytest.mark.parametrize("text", ["", "{}", '{"results": 3}', "nonsense"])
async def test_what_is_no_mem0_export_is_said(text: str) -> None:
    with pytest.raises(ValueError):
        from_mem0(text)


async def test_basic_memory_notes() -> None:
    note = (
        b"---\ntitle: Coffee Brewing\ntype: note\ntags: [coffee]\npermalink: drinks/coffee\n---\n"
        b"# Coffee Brewing\n\n## Observations\n- [method] Pour over is clearer #brewing\n\n"
        b"## Relations\n- relates_to [[Tea]]\n"
    )
    found = from_basic_memory({"drinks/coffee.md": note, "x.txt": b"no", "empty.md": b"# empty\n"})
    (coffee,) = found.candidates
    assert (coffee.name, coffee.type) == ("Coffee Brewing", "project")
    assert coffee.description == "Pour over is clearer #brewing"
    assert coffee.aliases == ("drinks/coffee",)
    assert "[[Tea]]" in coffee.body
    assert "# Coffee Brewing\n" not in coffee.body
    assert found.skipped == (("empty.md", "it is empty"),)


async def test_an_import_passes_the_gate_and_never_writes_over(place: Workplace) -> None:
    place.put(record("tests", "Mine.", type="feedback"))
    store = place.store()
    found = from_bullets(
        "CLAUDE.md",
        "- Tests\n- tests\n- Deploys need the VPN\n- In this session use English\n"
        "- The wiki password is Tr0ub4dor&3 for everyone\n",
    )
    offered = await import_found(store, found, origin="CLAUDE.md")
    assert [(v.outcome, v.reason) for v in offered.verdicts] == [
        ("accept", ""),
        ("reject", "temporary"),
        ("accept", ""),
    ]
    assert place.bodies()["tests"] == "Mine."
    assert "Tr0ub4dor" not in "".join(place.bodies().values())


async def test_a_record_that_is_there_and_says_otherwise_waits(place: Workplace) -> None:
    place.put(record("deploys-need-the-vpn", "No, they do not."))
    store = place.store()
    offered = await import_found(
        store, from_bullets("CLAUDE.md", "- Deploys need the VPN"), origin="CLAUDE.md"
    )
    assert offered.verdicts[0].proposal
    assert place.bodies()["deploys-need-the-vpn"] == "No, they do not."
    assert [w.file for w in await waiting(store.storage)] == ["deploys-need-the-vpn.md"]


async def test_importing_twice_changes_nothing(place: Workplace) -> None:
    store = place.store()
    found = from_memory_folder(CLAUDE_FOLDER)
    await import_found(store, found, origin="claude")
    before = dict(place.shelf.records)
    offered = await import_found(store, found, origin="claude")
    assert {v.outcome for v in offered.verdicts} == {"duplicate"}
    assert place.shelf.records == before


async def test_the_export_is_plain_markdown_by_type(place: Workplace) -> None:
    place.put(
        record("b", "# Heading\nText.", type="project"),
        record("a", "Likes tea.", type="user", description="tea"),
    )
    assert await to_markdown(place.store()) == (
        "# Memory\n\n## About the user\n\n### a\n\n*tea*\n\nLikes tea.\n\n## About the project\n\n"
        "### b\n\n*about b*\n\n#### Heading\nText.\n"
    )


async def test_an_export_comes_back_as_the_records_it_was_made_of(place: Workplace) -> None:
    place.put(
        record("b", "# Heading\nText.\n\n## Second\n- item\n\n```\n# remark\n```", type="project"),
        record("a", "Likes *tea*.", type="user", description="tea"),
        record("c d", "*soft* words only.", type="feedback", description="soft* words only."),
        record("部署", "部署窗口是周四。", type="reference", description="部署只在周四"),
    )
    text = await to_markdown(place.store())
    assert is_export(text)
    found = from_markdown("all.md", text)
    assert found.skipped == ()
    assert {(c.name, c.type, c.description, c.body) for c in found.candidates} == {
        (
            "b",
            "project",
            "about b",
            "# Heading\nText.\n\n## Second\n- item\n\n```\n# remark\n```",
        ),
        ("a", "user", "tea", "Likes *tea*."),
        ("c d", "feedback", "soft* words only.", "*soft* words only."),
        ("部署", "reference", "部署只在周四", "部署窗口是周四。"),
    }


def test_a_hand_written_file_is_no_export() -> None:
    assert not is_export(AGENTS)
    assert not is_export("# Memory\n\n## Notes\n- Keep it short and plain\n")
    assert not is_export("")
