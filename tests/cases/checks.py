"""The checks of the case format: each says what is wrong, or nothing."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from tests.cases import requests as rq
from tests.cases.expand import expand
from tests.cases.observe import OBSERVED
from tests.cases.outcome import Outcome, snapshot

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


class Unjudged(Exception):
    """A check that has to be written by hand and is not."""


def judge(check: dict[str, Any], outcome: Outcome, case: dict[str, Any]) -> str:
    """What is wrong; empty when the check holds.

    Raises:
        Unjudged: nobody wrote this check yet.
    """
    name = check["check"]
    if check.get("process"):
        outcome = outcome.processes[check["process"]]
    variant = check.get("variant")
    if variant == "each":
        return "; ".join(
            filter(None, (_run(name, check, o, case) for o in outcome.variants.values()))
        )
    if variant is not None:
        outcome = outcome.variants[variant]
    return _run(name, check, outcome, case)


def _run(name: str, check: dict[str, Any], outcome: Outcome, case: dict[str, Any]) -> str:
    if name == "observe":
        observed = OBSERVED.get((case["id"], check["what"][:40]))
        if observed is None:
            raise Unjudged(check["what"])
        return observed(outcome)
    if name not in CHECKS:
        raise Unjudged(f"unknown check {name}")
    return CHECKS[name](check, outcome)


def _request(outcome: Outcome) -> list[dict[str, Any]]:
    assert outcome.request is not None, "no request was made"
    return outcome.request


def _where(where: str, outcome: Outcome) -> str:
    if where == "request":
        return rq.text(outcome.request or [])
    if where == "summary_requests":
        return "\n".join(rq.text(r) for r in outcome.summary_requests)
    if where == "session_files":
        return "\n".join(_session_texts(outcome))
    if where == "summary":
        return outcome.summary
    if where in outcome.texts:
        return outcome.texts[where]
    name = "notes.md" if where == "session-memory.md" else where
    found = [p for p in snapshot(outcome.root) if p.rpartition("/")[2] == name]
    return "\n".join(snapshot(outcome.root)[p].decode("utf-8", "replace") for p in found)


def _session_texts(outcome: Outcome) -> Iterator[str]:
    for path, content in snapshot(outcome.root).items():
        if path.startswith((".transcripts", ".task_outputs")):
            yield content.decode("utf-8", "replace")


def no_crash(check: dict[str, Any], outcome: Outcome) -> str:
    return outcome.crash


def pairs_intact(check: dict[str, Any], outcome: Outcome) -> str:
    if check.get("where") == "summary_requests":
        wrong = [_pairs(r, outcome.format, check) for r in outcome.summary_requests]
        return "; ".join(filter(None, wrong))
    return _pairs(_request(outcome), outcome.format, check)


def _pairs(request: list[dict[str, Any]], format: str, check: dict[str, Any]) -> str:
    results = rq.results(request, format)
    by_step: dict[int, list[str]] = {}
    for at, asked_id in rq.calls(request, format):
        by_step.setdefault(at, []).append(asked_id)
    allowed = check.get("may_be_open_and_last")
    used: set[int] = set()
    for at, ids in sorted(by_step.items()):
        follow = _answers(request, results, at, format)
        used |= {id(r) for r in follow}
        asked, given = Counter(ids), Counter(r["id"] for r in follow)
        if allowed in ids and at == len(request) - 1:
            asked.pop(allowed)
        if asked != given:
            return f"message {at} calls {dict(asked)} and gets {dict(given)}"
    loose = [r["id"] for r in results if id(r) not in used]
    if loose:
        return f"results without a call: {loose}"
    if not check.get("same_id_may_repeat"):
        twice = [i for i, n in Counter(i for ids in by_step.values() for i in ids).items() if n > 1]
        if twice:
            return f"ids used twice: {twice}"
    return ""


def _answers(
    request: list[dict[str, Any]], results: list[dict[str, Any]], at: int, format: str
) -> list[dict[str, Any]]:
    """The results that stand where the format wants those of the calls in message `at`."""
    if format == "anthropic":
        found = [r for r in results if r["message"] == at + 1]
        content = request[at + 1].get("content") if at + 1 < len(request) else []
        kinds = [b.get("type") == "tool_result" for b in content if isinstance(b, dict)]
        return found if sorted(kinds, reverse=True) == kinds else []
    if format == "openai-responses":
        id = request[at]["call_id"]
        return [r for r in results if r["id"] == id and r["message"] > at][:1]
    found = []
    for position in range(at + 1, len(request)):
        one = [r for r in results if r["message"] == position]
        if not one:
            break
        found += one
    return found


def has(check: dict[str, Any], outcome: Outcome) -> str:
    text = _where(check["where"], outcome)
    wanted = [str(t) for t in expand(check.get("all", []))]
    missing = [t[:60] for t in wanted if t not in text]
    if missing:
        return f"{check['where']} lacks {missing}"
    if "any" in check and not any(str(t) in text for t in expand(check["any"])):
        return f"{check['where']} holds none of {check['any']}"
    if check.get("in_order"):
        places = [text.index(t) for t in wanted]
        if places != sorted(places):
            return "not in order"
    if "entries" in check:
        count = sum(1 for line in text.splitlines() if line.startswith("- ["))
        if count != check["entries"]:
            return f"{count} entries instead of {check['entries']}"
    return ""


def lacks(check: dict[str, Any], outcome: Outcome) -> str:
    text = _where(check["where"], outcome)
    found = [str(t)[:60] for t in expand(check.get("all", [])) if str(t) in text]
    if found:
        return f"{check['where']} holds {found}"
    kinds = check.get("block_types", [])
    raw = json.dumps(
        outcome.summary_requests if check["where"] == "summary_requests" else outcome.request
    )
    held = [k for k in kinds if f'"type": "{k}"' in raw]
    return f"{check['where']} holds blocks {held}" if held else ""


def recoverable(check: dict[str, Any], outcome: Outcome) -> str:
    shown = rq.text(_request(outcome), binary=True)
    reachable = [shown, *_followed(outcome, shown)]
    missing = [t[:60] for t in expand(check["texts"]) if not any(t in r for r in reachable)]
    return f"not recoverable: {missing}" if missing else ""


def _followed(outcome: Outcome, shown: str) -> Iterator[str]:
    """Texts behind the addresses in `shown`, in at most two reads."""
    second: list[str] = []
    for address in rq.addresses(shown):
        try:
            text = outcome.read(address)
        except Exception:
            continue
        yield text
        if address.endswith(".tsv"):
            second += [line.rpartition("\t")[2] for line in text.splitlines()]
    for address in dict.fromkeys(second):
        try:
            yield outcome.read(address)
        except Exception:
            continue


def last_user_text(check: dict[str, Any], outcome: Outcome) -> str:
    spoken = rq.user_texts(_request(outcome))
    wanted = expand(check["value"])
    return "" if spoken and spoken[-1] == wanted else f"the last user text is {spoken[-1:]}"


def same_message(check: dict[str, Any], outcome: Outcome) -> str:
    request = _request(outcome)
    for index in check["indices"]:
        if outcome.input_messages[index] not in request:
            return f"message {index} is not in the request as it was"
    return ""


def unchanged(check: dict[str, Any], outcome: Outcome) -> str:
    return "" if outcome.request == outcome.input_messages else "the request differs from the input"


def size(check: dict[str, Any], outcome: Outcome) -> str:
    where = check["where"]
    if where == "each_summary_request":
        measured = [rq.text(r) for r in outcome.summary_requests]
    elif where == "each_side_request":
        measured = outcome.side_requests
    elif where == "each_file_name":
        measured = [p.rpartition("/")[2] for p in snapshot(outcome.root)]
    elif where == "each_saved_path_in_request":
        measured = rq.addresses(rq.text(_request(outcome)))
    else:
        measured = [_where(where, outcome)]
    for text in measured:
        for key, value in (
            ("chars_at_most", len(text)),
            ("bytes_at_most", len(text.encode("utf-8", "surrogatepass"))),
            ("lines_at_most", len(text.splitlines())),
        ):
            if key in check and value > check[key]:
                return f"{where} has {value}, {key} {check[key]}"
    return ""


def no_empty_text(check: dict[str, Any], outcome: Outcome) -> str:
    for at, message in enumerate(_request(outcome)):
        content = message.get("content")
        if message.get("type") in ("reasoning", "function_call", "function_call_output"):
            continue
        if content in ("", [], None) and not message.get("tool_calls"):
            return f"message {at} is empty"
        if content == "":
            return f"message {at} has an empty text"
        for block in content if isinstance(content, list) else []:
            if block.get("type") == "text" and not block["text"].strip():
                return f"message {at} has a blank text block"
    return ""


def utf8_clean(check: dict[str, Any], outcome: Outcome) -> str:
    where = check["where"]
    value: Any = outcome.request if where == "request" else _where(where, outcome)
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        return f"{where} is no UTF-8: {error}"
    escaped = _SURROGATE.search(rq.text(value) if where == "request" else str(value))
    return f"{where} holds an escaped surrogate" if escaped else ""


def results(check: dict[str, Any], outcome: Outcome) -> str:
    found = rq.results(_request(outcome), outcome.format)
    ids = [r["id"] for r in found]
    by_id = {r["id"]: r for r in found}
    if "count" in check and len(found) != check["count"]:
        return f"{len(found)} results instead of {check['count']}"
    if "ids_in_order" in check and ids != check["ids_in_order"]:
        return f"ids {ids}"
    if (
        "in_one_message" in check
        and max(Counter(r["message"] for r in found).values()) != check["in_one_message"]
    ):
        return "not in one message"
    for id in check.get("non_empty", []):
        if not by_id.get(id, {"text": ""})["text"].strip():
            return f"the result of {id} says nothing"
    if check.get("ids_unchanged"):
        before = [r["id"] for r in rq.results(outcome.input_messages, outcome.format)]
        if before != ids:
            return "ids changed"
    present = check.get("if_present")
    if present is not None and present not in by_id:
        return ""
    for id, wanted in (check.get("is_error") or {}).items():
        if id in by_id and by_id[id]["is_error"] is not wanted:
            return f"is_error of {id} is {by_id[id]['is_error']}"
    if "contains" in check and check["contains"] not in by_id[present]["text"]:
        return f"the result of {present} lacks {check['contains']!r}"
    return ""


def files(check: dict[str, Any], outcome: Outcome) -> str:
    paths = snapshot(outcome.root)
    names = [p.rpartition("/")[2] for p in paths]
    saved = [p for p in paths if p.startswith(".task_outputs") and not p.endswith(".gitignore")]
    if "distinct" in check and len({paths[p] for p in saved}) != check["distinct"]:
        return f"{len(saved)} files saved, not {check['distinct']}"
    if check.get("paths_in_request_exist"):
        for address in rq.addresses(rq.text(_request(outcome))):
            if not (outcome.root / address.partition("#")[0]).exists():
                return f"{address} does not exist"
    if check.get("no_temp_left") and any(n.endswith((".tmp", "~")) or ".tmp-" in n for n in names):
        return f"temporary files left: {names}"
    if check.get("no_lock_left") and outcome.extra.get("lock_held"):
        return "a lock is left"
    if check.get("every_jsonl_line_parses"):
        wrong = _jsonl(outcome)
        if wrong:
            return wrong
        if check.get("lines_equal_messages") and outcome.entries != len(outcome.input_messages):
            return f"{outcome.entries} message lines for {len(outcome.input_messages)} messages"
    memories = [
        n.removesuffix(".md")
        for p, n in zip(paths, names, strict=True)
        if p.startswith(".memory/") and n.endswith(".md")
    ]
    if check.get("stem_non_empty") and not all(m.strip(" .-_") for m in memories):
        return f"a name without a stem: {memories}"
    if check.get("names_distinct_after") == "casefold":
        folded = [unicodedata.normalize("NFC", m).casefold() for m in memories]
        if len(set(folded)) != len(folded):
            return f"names collide: {memories}"
    return ""


def _jsonl(outcome: Outcome) -> str:
    for path, content in snapshot(outcome.root).items():
        if path.endswith(".jsonl"):
            for number, line in enumerate(content.split(b"\n"), 1):
                try:
                    json.loads(line or b"0")
                except ValueError:
                    return f"{path} line {number} does not parse"
    return ""


def same_bytes(check: dict[str, Any], outcome: Outcome) -> str:
    now = snapshot(outcome.root)
    for path in check["paths"]:
        skipped = {f"{path}/{name}" for name in [*check.get("except", []), "MEMORY.md"]}
        for name, content in outcome.before.items():
            if not (name == path or name.startswith(path + "/")) or name in skipped:
                continue
            if now.get(name) != content:
                return f"{name} changed"
    return ""


def calls(check: dict[str, Any], outcome: Outcome) -> str:
    count = outcome.calls.get(check["which"], 0)
    if "exactly" in check and count != check["exactly"]:
        return f"{count} calls of {check['which']}, not {check['exactly']}"
    if count > check.get("at_most", count) or count < check.get("at_least", count):
        return f"{count} calls of {check['which']}"
    return ""


def reaction(check: dict[str, Any], outcome: Outcome) -> str:
    if "in" in check and outcome.reaction not in check["in"]:
        return f"the reaction is {outcome.reaction}"
    if outcome.reaction in check.get("never", []):
        return f"the reaction is {outcome.reaction}"
    if "limit_read" in check and outcome.limit_read != check["limit_read"]:
        return f"the limit read is {outcome.limit_read}"
    if "wait_seconds_between" in check:
        low, high = check["wait_seconds_between"]
        if outcome.wait_seconds is None or not low <= outcome.wait_seconds <= high:
            return f"it would wait {outcome.wait_seconds} seconds"
    return ""


def estimate(check: dict[str, Any], outcome: Outcome) -> str:
    of = check.get("of", "")
    values = outcome.estimates
    if of.startswith("messages["):
        values = {of: values[of]}
    if "between" in check:
        low, high = check["between"]
        wrong = {k: v for k, v in values.items() if not low <= v <= high}
        if wrong:
            return f"estimates {wrong}, not within {low} and {high}"
    if "variants_within_percent" in check:
        spread = (max(values.values()) / min(values.values()) - 1) * 100
        if spread > check["variants_within_percent"]:
            return f"variants differ by {spread:.0f} %"
    return ""


def memory(check: dict[str, Any], outcome: Outcome) -> str:
    held = outcome.memories
    if "count" in check and len(held) != check["count"]:
        return f"{len(held)} memories ({sorted(held)}), not {check['count']}"
    if len(held) < check.get("count_at_least", 0) or len(held) > check.get(
        "count_at_most", len(held)
    ):
        return f"{len(held)} memories"
    if "names" in check and sorted(held) != sorted(check["names"]):
        return f"names {sorted(held)}"
    if "names_any_of" in check and sorted(held) not in [sorted(n) for n in check["names_any_of"]]:
        return f"names {sorted(held)}"
    absent = [n for n in check.get("absent", []) if n in held]
    if absent:
        return f"{absent} exist"
    for key, same in (
        ("body", lambda a, b: a.strip("\r\n") == b.strip("\r\n")),
        ("body_contains", lambda a, b: b in a),
        ("description", lambda a, b: a == b),
        ("type", lambda a, b: a == b),
    ):
        for name, wanted in expand(check.get(key, {})).items():
            field = "body" if key == "body_contains" else key
            if name not in held:
                return f"no memory {name}"
            if not same(str(held[name][field]), wanted):
                return f"{field} of {name} is {held[name][field]!r}"
    if check.get("headers_load_as_yaml"):
        return _headers(outcome)
    if "no_entry" in check:
        spec = check["no_entry"]
        wrong = [
            n
            for n, m in held.items()
            if m["type"] in spec["types"] and spec["text"] in m["body"] + m["description"]
        ]
        return f"{wrong} hold {spec['text']}" if wrong else ""
    return ""


def _headers(outcome: Outcome) -> str:
    import yaml

    for path, content in snapshot(outcome.root).items():
        if path.startswith(".memory/") and path.endswith(".md") and path.count("/") == 1:
            text = content.decode("utf-8")
            if path.endswith("MEMORY.md"):
                continue
            try:
                yaml.safe_load(text.split("---\n")[1])
            except Exception as error:
                return f"the header of {path} is no YAML: {error}"
    return ""


def recall(check: dict[str, Any], outcome: Outcome) -> str:
    found = outcome.recalled.get(check.get("query", ""), outcome.recalled.get("", []))
    if "query" in check and check["query"] in outcome.extra.get("recall_of", {}):
        found = outcome.extra["recall_of"][check["query"]]
    names = [n.removesuffix(".md") for n in found]
    if "exactly" in check and sorted(names) != sorted(check["exactly"]):
        return f"recalled {names}"
    if "any_of" in check and sorted(names) not in [sorted(n) for n in check["any_of"]]:
        return f"recalled {names}"
    missing = [n for n in check.get("contains", []) if n.removesuffix(".md") not in names]
    if missing:
        return f"recalled {names}, not {missing}"
    if "first" in check and names[:1] != [check["first"]]:
        return f"recalled {names}"
    unwanted = [n for n in check.get("never", []) if n in names]
    if unwanted:
        return f"recalled {unwanted}"
    if len(names) > check.get("at_most", len(names)):
        return f"recalled {len(names)}"
    if check.get("no_duplicates") and len(set(names)) != len(names):
        return f"recalled twice: {names}"
    lost = [t for t in check.get("contains_text", []) if t not in outcome.texts.get("recall", "")]
    return f"the recall lacks {lost}" if lost else ""


def gate(check: dict[str, Any], outcome: Outcome) -> str:
    ran = outcome.gates.get("", False)
    return "" if ran is check["run"] else f"the gate says {ran}"


def outcome_is(check: dict[str, Any], outcome: Outcome) -> str:
    return "" if outcome.outcome in check["in"] else f"the outcome is {outcome.outcome}"


def event(check: dict[str, Any], outcome: Outcome) -> str:
    about = check["about"].casefold()
    if any(about in said.casefold() for said in outcome.events):
        return ""
    return f"no event about {about!r} among {outcome.events[:4]}"


def seconds_at_most(check: dict[str, Any], outcome: Outcome) -> str:
    return "" if outcome.seconds <= check["value"] else f"{outcome.seconds:.1f} seconds"


CHECKS: dict[str, Callable[[dict[str, Any], Outcome], str]] = {
    "no_crash": no_crash, "pairs_intact": pairs_intact, "has": has, "lacks": lacks,
    "recoverable": recoverable, "last_user_text": last_user_text, "same_message": same_message,
    "unchanged": unchanged, "size": size, "no_empty_text": no_empty_text,
    "utf8_clean": utf8_clean, "results": results, "files": files, "same_bytes": same_bytes,
    "calls": calls, "reaction": reaction, "estimate": estimate, "memory": memory,
    "recall": recall, "gate": gate, "outcome": outcome_is, "event": event,
    "seconds_at_most": seconds_at_most,
}  # fmt: skip
