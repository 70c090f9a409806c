"""`wayfare memory …` as a person and a script use it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command

from wayfare.cli.app import run

TABS = "I usually indent with tabs."


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How a command ended and what it printed."""

    returncode: int
    stdout: bytes
    stderr: bytes


Memory = Callable[..., Done]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A home of its own, for this process and for commands."""
    where = {"HOME": str(tmp_path / "home"), "XDG_DATA_HOME": "", "XDG_STATE_HOME": ""}
    for name, value in where.items():
        monkeypatch.setenv(name, value)
    return where


@pytest.fixture
def memory(
    home: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Memory:
    """Run `wayfare memory` in `tmp_path`, within this process: starting one takes a second."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: object) -> Done:
        capsysbinary.readouterr()
        status = run(["memory", *map(str, arguments)])
        printed = capsysbinary.readouterr()
        return Done(returncode=status, stdout=printed.out, stderr=printed.err)

    return command


def out(done: Done) -> str:
    """What it printed, when it went well."""
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def rows(done: Done) -> list[dict[str, Any]]:
    return json.loads(out(done))


def test_a_record_is_written_found_changed_and_taken_back(memory: Memory, tmp_path: Path) -> None:
    assert out(memory("add", "indentation", "-b", TABS, "-t", "user")).startswith("stored: ind")
    assert "says it already" in out(memory("add", "indentation", "-b", TABS, "-t", "user"))
    assert TABS in (tmp_path / ".memory/MEMORY.md").read_text()
    assert out(memory("show", "indentation")) == (tmp_path / ".memory/indentation.md").read_text()

    assert "indentation" in out(memory("search", "indent with tabs", "--explain"))
    missed = memory("search", "kubernetes")
    assert (missed.returncode, missed.stdout) == (1, b"")

    assert out(memory("edit", "indentation", "-b", "I indent with four spaces.")).startswith("upd")
    changed = rows(memory("log", "--json"))[0]
    assert (changed["what"], changed["actor"]) == ("changed", "user")
    diff = out(memory("diff", changed["number"]))
    assert f"-{TABS}" in diff
    assert "+I indent with four spaces." in diff
    assert "tabs" not in rows(memory("list", "--json"))[0]["description"]

    assert "undone" in out(memory("undo", changed["tx"]))
    assert TABS in out(memory("show", "indentation"))
    told = [one["what"] for one in rows(memory("history", "indentation", "--json"))]
    assert told.count("changed") == 2
    assert told[0] in ("accept", "added")


def test_forgetting_leaves_a_way_back_and_redacting_none(memory: Memory, tmp_path: Path) -> None:
    memory("add", "one", "-b", "The wiki is at the old address.")
    memory("add", "two", "-b", "The mascot of the team is a heron.")
    journal = tmp_path / ".memory/.wayfare/journal.jsonl"
    left_by_crashes = [
        journal.with_name("journal.jsonl.torn-1"),
        journal.with_name(".wayfare-0.tmp"),
        tmp_path / ".memory/.wayfare-1.tmp",
    ]
    for path in left_by_crashes:
        path.write_text('{"op":"put","after":"The mascot of the team is a heron')
    assert "takes it back" in out(memory("forget", "one", "--reason", "moved"))
    assert [row["name"] for row in rows(memory("list", "--json"))] == ["two"]
    assert "redacted: two" in out(memory("redact", "two"))
    content = journal.read_text()
    assert "old address" in content
    everything = [path.read_bytes() for path in (tmp_path / ".memory").rglob("*") if path.is_file()]
    assert not any(b"heron" in content for content in everything)
    gone = memory("show", "two")
    assert gone.returncode == 1
    assert "no record 'two'" in gone.stderr.decode()


def test_what_the_gate_refuses_is_told_and_kept_in_the_log(memory: Memory) -> None:
    refused = memory("add", "port", "-b", "For now the port is 8080.")
    assert refused.returncode == 1
    assert b"temporary" in refused.stderr
    (line,) = rows(memory("log", "--rejected", "--json"))
    assert (line["reason"], line["what"]) == ("temporary", "reject")
    assert "temporary" not in out(memory("log"))
    assert out(memory("add", "port", "-b", "For now the port is 8080.", "--anyway"))


def test_a_secret_is_never_written(memory: Memory, tmp_path: Path) -> None:
    secret = "ghp_" + "q8Zr" * 9
    memory("add", "mirror", "-b", f"The mirror is read with the token {secret} by the build.")
    written = [p.read_bytes() for p in (tmp_path / ".memory").rglob("*") if p.is_file()]
    assert not any(secret.encode() in content for content in written)
    assert "by the build" in out(memory("show", "mirror"))


def test_the_users_records_stand_apart(memory: Memory, tmp_path: Path) -> None:
    memory("add", "spelling", "-b", "British spelling, please.", "-t", "user", "--user")
    assert rows(memory("list", "--json")) == []
    assert [row["name"] for row in rows(memory("list", "--json", "--user"))] == ["spelling"]
    assert not (tmp_path / ".memory/spelling.md").exists()


def test_what_waits_is_listed_let_in_or_kept_out(memory: Memory, tmp_path: Path) -> None:
    memory("add", "seed", "-b", "The seed of the memory.")
    folder = tmp_path / ".memory/.wayfare/quarantine"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("push-1", "pull-2"):
        (folder / f"{name}.md").write_text(
            f"---\nname: {name}\ndescription: Commits go to the {name} mirror.\ntype: project\n"
            "quarantined: evidence\nbecause: said by tool, not by the user\norigin: tool\n---\n"
            f"Commits go to the {name} mirror.\n"
        )
    listed = rows(memory("review", "--json"))
    assert {item["id"] for item in listed} == {"push-1", "pull-2"}
    assert "said by tool" in out(memory("review", "push-1"))
    assert "1 stored" in out(memory("review", "push-1", "--approve"))
    assert "declined" in out(memory("review", "pull-2", "--decline"))
    assert rows(memory("review", "--json")) == []
    assert {row["name"] for row in rows(memory("list", "--json"))} == {"seed", "push-1"}
    assert memory("review", "nothing", "--approve").returncode == 1
    assert memory("review", "--approve").returncode == 2


def test_import_and_export(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text(
        "# Style\n\n- Indent with tabs everywhere.\n- Tests stand beside the code.\n"
    )
    assert "2 stored" in out(memory("import", "CLAUDE.md"))
    assert "2 there already" in out(memory("import", "CLAUDE.md"))
    assert "Tests stand beside the code." in out(memory("export"))
    assert "written" in out(memory("export", "all.md"))
    assert "Indent with tabs everywhere." in (tmp_path / "all.md").read_text()
    assert "2 there already" in out(memory("import", "all.md"))
    assert "2 stored" in out(memory("import", "all.md", "--user"))
    assert len(rows(memory("list", "--user", "--json"))) == 2
    (tmp_path / "prose.md").write_text("Nothing but prose.\n")
    assert "no record found in prose.md" in out(memory("import", "prose.md"))
    (tmp_path / "broken.json").write_text("{")
    broken = memory("import", "broken.json")
    assert broken.returncode == 2
    assert b"no mem0 export" in broken.stderr
    assert memory("import", "CLAUDE.md", "--kind", "zip").returncode == 2


def test_doctor_mends_what_is_derived_and_tells_the_rest(memory: Memory, tmp_path: Path) -> None:
    memory("add", "one", "-b", "The first fact of all.")
    index = tmp_path / ".memory/MEMORY.md"
    index.unlink()
    told = out(memory("doctor"))
    assert "1 record" in told
    assert "written anew" in told
    assert "one.md" in index.read_text()
    index.unlink()
    index.mkdir()
    bad = memory("doctor", "--json")
    assert bad.returncode == 1
    assert any(one["what"] == "index" and one["state"] == "bad" for one in json.loads(bad.stdout))


def test_doctor_says_what_is_left_out_and_a_bad_name_stops_nothing(
    memory: Memory, tmp_path: Path
) -> None:
    memory("add", "one", "-b", "The first fact of all.")
    folder = tmp_path / ".memory"
    (folder / "escaped.md").write_text('---\nname: "s\\ud800"\ndescription: "\\udfff"\n---\nB\n')
    (folder / "link.md").symlink_to("/etc/hostname")
    (folder / "folder.md").mkdir()
    (folder / os.fsdecode(b"bad\xff.md")).write_text("A fact.\n")
    told = out(memory("doctor"))
    assert "2 records" in told
    assert "link.md: left out: it is a link" in told
    assert "folder.md: left out: it is no file" in told
    assert "bad\ufffd.md: left out: no record can have this name" in told
    assert {row["file"] for row in rows(memory("list", "--json"))} == {"one.md", "escaped.md"}


def test_a_memory_that_leads_out_is_refused(memory: Memory, tmp_path: Path) -> None:
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    elsewhere.mkdir()
    (elsewhere / "spy.md").write_text("---\nname: spy\n---\nsecret plans\n")
    (tmp_path / ".memory").symlink_to(elsewhere)
    for arguments in (("list",), ("show", "spy"), ("add", "x", "-b", "A lasting fact.")):
        done = memory(*arguments)
        assert done.returncode == 1
        assert b"secret plans" not in done.stdout
    assert os.listdir(elsewhere) == ["spy.md"]


def test_a_dream_reads_what_a_session_left_and_merges(memory: Memory, tmp_path: Path) -> None:
    for n in range(10):
        memory("add", f"room{n}", "-b", f"Room {n} is on floor {n * 7} of the west wing.")
    plan = {
        "operations": [
            {
                "op": "merge",
                "files": ["room1.md", "room2.md"],
                "record": {
                    "name": "rooms",
                    "type": "project",
                    "description": "Where rooms 1 and 2 are",
                    "body": "Room 1 is on floor 7 of the west wing.\n"
                    "Room 2 is on floor 14 of the west wing.",
                },
            }
        ]
    }
    script = tmp_path / "script.json"
    script.write_text(json.dumps([json.dumps(plan)]))
    assert "no dream" in out(memory("dream", "-m", f"scripted:{script}"))
    assert "1 merged" in out(memory("dream", "--now", "-m", f"scripted:{script}"))
    names = {row["name"] for row in rows(memory("list", "--json"))}
    assert "rooms" in names
    assert "room1" not in names
    assert len(names) == 9


def test_a_session_remembers_and_the_next_one_recalls(
    wayfare: Command, memory: Memory, home: dict[str, str], tmp_path: Path
) -> None:
    found = {
        "name": "tea",
        "type": "user",
        "scope": "persistent",
        "description": "What to drink",
        "body": "The user likes tea.",
        "evidence": [2],
    }
    script = tmp_path / "script.json"
    script.write_text(json.dumps(["Noted.", json.dumps({"memories": [found]})]))
    first = wayfare("run", "Remember that I like tea.", "-m", f"scripted:{script}", **home)
    assert first.stdout.decode().strip() == "Noted."
    assert "memory: 1 stored" in first.stderr.decode()
    script.write_text(json.dumps(['{"selected": [0]}', "Tea it is.", '{"memories": []}']))
    second = wayfare("run", "What do I drink?", "--json", "-m", f"scripted:{script}", **home)
    events = [json.loads(line) for line in second.stdout.splitlines()]
    (recalled,) = [one for one in events if "memory.recalled" in json.dumps(one)]
    assert "tea" in json.dumps(recalled)
    assert [row["name"] for row in rows(memory("list", "--json"))] == ["tea"]


def test_a_folder_in_the_indexs_place_is_told_and_a_lost_journal_accuses_nobody(
    memory: Memory, tmp_path: Path
) -> None:
    memory("add", "one", "-b", "The kiosk runs on port 7070.")
    (tmp_path / ".memory/.wayfare/journal.jsonl").unlink()
    lost = memory("add", "two", "-b", "The kiosk door opens at nine.").stderr.decode()
    assert "it goes on from the files as they are" in lost
    assert "by hand" not in lost
    (tmp_path / ".memory/MEMORY.md").unlink()
    (tmp_path / ".memory/MEMORY.md").mkdir()
    stored = memory("add", "three", "-b", "The kiosk sells tea.")
    assert stored.returncode == 0
    assert "the index could not be written" in stored.stderr.decode()
