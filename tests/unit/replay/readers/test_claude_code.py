"""Claude Code sessions: the tree of lines, and the messages they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wayfare.replay.reading import read_recordings
from wayfare.replay.recording import Recording


class Log:
    """Writes a session file line by line, each line the child of the one before."""

    def __init__(self, session: str = "s") -> None:
        self.rows: list[Any] = []
        self.session = session
        self.last: str | None = None

    def row(self, kind: str, *, parent: Any = ..., **fields: Any) -> str:
        uuid = f"{self.session}-{len(self.rows)}"
        self.rows.append(
            {
                "type": kind,
                "uuid": uuid,
                "parentUuid": self.last if parent is ... else parent,
                "sessionId": self.session,
                "isSidechain": False,
                "timestamp": f"2026-01-01T00:00:{len(self.rows) % 60:02}.000Z",
                **fields,
            }
        )
        self.last = uuid
        return uuid

    def user(self, content: Any, **fields: Any) -> str:
        return self.row("user", message={"role": "user", "content": content}, **fields)

    def reply(self, id: str, *blocks: Any, model: str = "opus", **fields: Any) -> str:
        message = {"role": "assistant", "id": id, "model": model, "content": list(blocks)}
        return self.row("assistant", message=message, **fields)

    def read(self, folder: Path) -> list[Recording]:
        path = folder / "session.jsonl"
        shown = [row if isinstance(row, str) else json.dumps(row) for row in self.rows]
        path.write_text("\n".join(shown) + "\n")
        return read_recordings(path)

    def one(self, folder: Path) -> Recording:
        (found,) = self.read(folder)
        return found


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def call(id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": id}}


def result(id: str, content: Any = "ok") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def shape(recording: Recording) -> list[tuple[str, Any]]:
    """Role and, for each block, its text or its call id."""

    def short(block: dict[str, Any]) -> str:
        return block.get("text") or block.get("id") or block.get("tool_use_id") or block["type"]

    return [
        (m["role"], m["content"] if isinstance(m["content"], str) else [*map(short, m["content"])])
        for m in recording.messages
    ]


def test_lines_of_one_reply_and_their_results_become_two_messages(tmp_path: Path) -> None:
    log = Log()
    log.user("go")
    log.reply("m1", {"type": "thinking", "thinking": "hm", "signature": "zz"})
    log.reply("m1", text("reading"))
    log.reply("m1", call("a"))
    log.user([result("a")], toolUseResult={"huge": "x"})
    log.reply("m1", call("b"))
    log.reply("m1", call("c"))
    log.user([result("c")])
    log.user([result("b")])
    log.reply("m2", text("done"))
    found = log.one(tmp_path)
    assert shape(found) == [
        ("user", "go"),
        ("assistant", ["thinking", "reading", "a", "b", "c"]),
        ("user", ["a", "b", "c"]),
        ("assistant", ["done"]),
    ]
    assert found.messages[1]["content"][0]["signature"] == "zz"
    assert set(found.messages[1]) == {"role", "content"}
    assert found.times == (1767225600.0, 1767225606.0, 1767225608.0, 1767225609.0)
    assert found.model == "opus"


def test_parallel_results_on_side_branches_of_the_tree_belong_to_it(tmp_path: Path) -> None:
    """The next line hangs on the last result only; the other results are forks."""
    log = Log()
    log.user("go")
    first = log.reply("m1", call("a"))
    second = log.reply("m1", call("b"))
    third = log.reply("m1", call("c"))
    log.user([result("a")], parent=first)
    log.user([result("b")], parent=second)
    log.user([result("c")], parent=third)
    log.reply("m2", text("done"))
    found = log.one(tmp_path)
    assert shape(found)[1:3] == [("assistant", ["a", "b", "c"]), ("user", ["a", "b", "c"])]
    assert not found.problems


def test_a_branch_that_was_given_up_is_left_out_and_told(tmp_path: Path) -> None:
    log = Log()
    log.user("go")
    fork = log.reply("m1", text("which one?"))
    log.user("the first")
    log.reply("m2", call("a"))
    log.user([result("a")])
    log.user("the second", parent=fork)
    log.reply("m3", text("fine"))
    found = log.one(tmp_path)
    assert shape(found) == [
        ("user", "go"),
        ("assistant", ["which one?"]),
        ("user", "the second"),
        ("assistant", ["fine"]),
    ]
    assert [(p.line, p.reason[:7]) for p in found.problems] == [(3, "3 lines")]


def test_a_missing_line_does_not_cut_the_session_in_two(tmp_path: Path) -> None:
    log = Log()
    log.user("go")
    log.reply("m1", text("one"))
    log.user("and then")
    log.reply("m2", text("two"))
    log.rows[2] = '{"type": "user", "uuid": "s-2", "par'
    found = log.one(tmp_path)
    assert shape(found) == [("user", "go"), ("assistant", ["one"]), ("assistant", ["two"])]
    assert [problem.line for problem in found.problems] == [3]


def test_a_compaction_is_left_out_and_noted(tmp_path: Path) -> None:
    log = Log()
    log.user("go")
    log.reply("m1", call("a"))
    last = log.user([result("a")])
    meta = {"trigger": "auto", "preTokens": 167_546}
    log.row(
        "system",
        parent=None,
        subtype="compact_boundary",
        logicalParentUuid=last,
        compactMetadata=meta,
    )
    log.user("This session is being continued", isCompactSummary=True)
    log.reply("m2", text("going on"))
    found = log.one(tmp_path)
    assert shape(found) == [
        ("user", "go"),
        ("assistant", ["a"]),
        ("user", ["a"]),
        ("assistant", ["going on"]),
    ]
    (noted,) = found.compactions
    assert (noted.index, noted.trigger, noted.tokens_before) == (3, "auto", 167_546)
    assert noted.summary == "This session is being continued"


def test_a_compaction_of_an_old_version_is_a_new_root(tmp_path: Path) -> None:
    log = Log()
    log.user("go")
    log.reply("m1", text("one"))
    log.user("summary", isCompactSummary=True, parent=None)
    log.user("next")
    log.reply("m2", text("two"))
    found = log.one(tmp_path)
    assert [role for role, _ in shape(found)] == ["user", "assistant", "user", "assistant"]
    assert [(c.index, c.summary, c.trigger) for c in found.compactions] == [(2, "summary", None)]


def test_messages_that_a_compaction_wrote_again_count_once(tmp_path: Path) -> None:
    log = Log()
    log.user("go")
    log.reply("m1", call("a"))
    log.user([result("a")])
    kept = [dict(row) for row in log.rows[1:]]
    log.row("system", parent=None, subtype="compact_boundary", logicalParentUuid="never-written")
    log.user("summary", isCompactSummary=True)
    for row in kept:
        log.row(row["type"], message=row["message"])
        log.rows[-1]["timestamp"] = row["timestamp"]
    log.reply("m2", text("on"))
    found = log.one(tmp_path)
    assert shape(found) == [
        ("user", "go"),
        ("assistant", ["a"]),
        ("user", ["a"]),
        ("assistant", ["on"]),
    ]


def test_what_never_went_to_the_model_is_left_out(tmp_path: Path) -> None:
    log = Log()
    log.rows.append({"type": "file-history-snapshot", "messageId": "x", "snapshot": {}})
    log.rows.append({"type": "summary", "summary": "a title", "leafUuid": "x"})
    log.user("caveat", isMeta=True)
    log.user("go")
    log.reply("x", text("API Error: 529"), model="<synthetic>", isApiErrorMessage=True)
    log.reply("x", text("No response requested."), model="<synthetic>")
    log.user("only shown", isVisibleInTranscriptOnly=True)
    log.row("progress", data={"type": "hook_progress"})
    log.row("system", subtype="turn_duration", durationMs=1)
    log.row("attachment", attachment={"type": "todo_reminder", "content": []})
    log.row("system", subtype="local_command", content="<local-command-stdout>x")
    log.reply("m1", text("hi"))
    found = log.one(tmp_path)
    assert shape(found) == [
        ("user", ["caveat", "go", "<local-command-stdout>x"]),
        ("assistant", ["hi"]),
    ]
    assert not found.problems


def test_prompts_typed_while_the_agent_worked(tmp_path: Path) -> None:
    def queue(log: Log, operation: str, content: str | None = None) -> None:
        row = {"type": "queue-operation", "operation": operation, "sessionId": "s"}
        log.rows.append(row if content is None else {**row, "content": content})

    log = Log()
    log.user("go")
    log.reply("m1", call("a"))
    queue(log, "enqueue", "use tabs")
    log.user([result("a")])
    queue(log, "remove")
    log.reply("m2", text("tabs it is"))
    queue(log, "enqueue", "at the end")
    queue(log, "dequeue")
    log.user("at the end")
    queue(log, "enqueue", "taken back")
    queue(log, "popAll")
    expected = [
        ("user", "go"),
        ("assistant", ["a"]),
        ("user", ["a", "use tabs"]),
        ("assistant", ["tabs it is"]),
        ("user", "at the end"),
    ]
    assert shape(log.one(tmp_path)) == expected

    # Later versions log what was handed over as well; it still counts once.
    log = Log()
    log.user("go")
    log.reply("m1", call("a"))
    queue(log, "enqueue", "use tabs")
    log.user([result("a")])
    log.row("attachment", attachment={"type": "queued_command", "prompt": "use tabs"})
    queue(log, "remove", "use tabs")
    log.reply("m2", text("tabs it is"))
    log.user("at the end")
    assert shape(log.one(tmp_path)) == expected


def test_sub_agents_are_side_chains(tmp_path: Path) -> None:
    log = Log()
    log.user("go")
    log.reply("m1", call("task"))
    main = log.last
    log.user("find it", isSidechain=True, parent=None)
    log.reply("n1", call("a"), isSidechain=True)
    log.user([result("a")], isSidechain=True)
    log.reply("n2", text("found"), isSidechain=True)
    inner = {"role": "user", "content": [text("look")]}
    answer = {"role": "assistant", "id": "n3", "content": [text("seen")]}
    for kind, message in (("user", inner), ("assistant", answer)):
        shown: dict[str, Any] = {"type": "agent_progress", "agentId": "a7"}
        shown["message"] = {"type": kind, "message": message, "uuid": kind}
        log.row("progress", data=shown, parent=main)
    log.user([result("task")], parent=main)
    log.reply("m2", text("done"))
    found = log.one(tmp_path)
    assert [content for _, content in shape(found)] == ["go", ["task"], ["task"], ["done"]]
    first, second = found.side_chains
    assert shape(first) == [
        ("user", "find it"),
        ("assistant", ["a"]),
        ("user", ["a"]),
        ("assistant", ["found"]),
    ]
    assert second.name == "session.jsonl/agent-a7"
    assert shape(second) == [("user", ["look"]), ("assistant", ["seen"])]


def test_sub_agents_in_files_of_their_own(tmp_path: Path) -> None:
    folder = tmp_path / "session" / "subagents"
    folder.mkdir(parents=True)
    side = Log()
    side.user("find it", isSidechain=True, agentId="a7")
    side.reply("n1", text("found"), isSidechain=True, agentId="a7")
    rows = "".join(json.dumps(row) + "\n" for row in side.rows)
    (folder / "agent-a7.jsonl").write_text(rows)
    (folder / "agent-b8.jsonl").write_text("")
    (tmp_path / "agent-c9.jsonl").write_text(rows)
    (tmp_path / "agent-not-ours.jsonl").write_text(rows)
    log = Log("main")
    log.user("go")
    log.reply("m1", call("task"))
    log.user([result("task")], toolUseResult={"agentId": "c9"})
    log.user("and", toolUseResult={"agentId": "../../x\0"})
    log.reply("m2", text("done"))
    found = log.one(tmp_path)
    assert [side.name for side in found.side_chains] == ["agent-a7.jsonl", "agent-c9.jsonl"]
    assert shape(found.side_chains[1]) == [("user", "find it"), ("assistant", ["found"])]
    assert "agent-b8.jsonl" in found.problems[0].reason
    (alone,) = read_recordings(folder / "agent-a7.jsonl")
    assert shape(alone) == [("user", "find it"), ("assistant", ["found"])]


def test_a_resumed_session_goes_on_and_copied_lines_count_once(tmp_path: Path) -> None:
    log = Log()
    log.user("go")
    log.reply("m1", text("one"))
    log.rows += [dict(row) for row in log.rows]
    log.row("progress", parent=None, data={"type": "hook_progress"})
    log.user("resumed")
    log.reply("m2", text("two"))
    found = log.one(tmp_path)
    assert [content for _, content in shape(found)] == ["go", ["one"], "resumed", ["two"]]


def test_two_sessions_in_one_file(tmp_path: Path) -> None:
    first, second = Log("one"), Log("two")
    for log in (first, second):
        log.user(f"go {log.session}")
        log.reply(f"m-{log.session}", text("done"))
    first.rows += second.rows
    one, two = first.read(tmp_path)
    assert (one.name, two.name) == ("session.jsonl#1", "session.jsonl#2")
    assert shape(one)[0] == ("user", "go one")
    assert shape(two)[0] == ("user", "go two")


def test_the_json_stream_of_a_run_without_a_terminal(tmp_path: Path) -> None:
    log = Log()
    common = {"session_id": "s"}
    log.rows = [
        {"type": "system", "subtype": "init", "tools": ["Read"], **common},
        {"type": "assistant", "message": {"id": "m", "content": [call("a")]}, **common},
        {
            "type": "user",
            "parent_tool_use_id": "a",
            "message": {"role": "user", "content": "inner"},
            **common,
        },
        {"type": "user", "message": {"role": "user", "content": [result("a")]}, **common},
        {"type": "result", "subtype": "success", **common},
    ]
    found = log.one(tmp_path)
    assert shape(found) == [("assistant", ["a"]), ("user", ["a"])]
    assert [shape(side) for side in found.side_chains] == [[("user", "inner")]]


def test_bad_lines_are_told(tmp_path: Path) -> None:
    log = Log()
    log.user("go")
    log.rows.append([1, 2])
    log.rows.append({"type": "assistant", "sessionId": "s", "message": {"role": "assistant"}})
    log.rows.append({"type": "user", "sessionId": "s"})
    log.rows.append("{")
    found = log.one(tmp_path)
    assert shape(found) == [("user", "go")]
    assert [problem.line for problem in found.problems] == [2, 3, 4, 5]


def test_a_chain_that_bites_its_tail(tmp_path: Path) -> None:
    log = Log()
    log.user("go", parent="s-1")
    log.reply("m1", text("one"))
    assert [role for role, _ in shape(log.one(tmp_path))] == ["user", "assistant"]
