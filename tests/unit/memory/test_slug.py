"""Every name gives a file name, and no two names one file."""

from __future__ import annotations

import pytest

from wayfare.memory.slug import (
    SLUG_BYTES,
    fold,
    free_file,
    is_record_file,
    name_key,
    slug,
    why_outside,
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Deploy Notes", "deploy-notes"),
        ("大语言模型概述", "大语言模型概述"),
        ("हिन्दी नोट", "हिन्दी-नोट"),
        ("../../etc/passwd", "etc-passwd"),
        ("MEMORY", "memory-record"),
        ("Memory", "memory-record"),
        ("con", "con-record"),
        ("COM1", "com1-record"),
        ("cafe\u0301", "caf\u00e9"),
        ("a\0b", "a-b"),
    ],
)
def test_slugs(name: str, expected: str) -> None:
    assert slug(name) == expected


@pytest.mark.parametrize("name", ["", "!!!", "...", "🍸🍸", "\ud800", "___"])
def test_a_name_without_letters_still_gives_a_file(name: str) -> None:
    assert slug(name).startswith("record-")


def test_long_names_that_begin_alike_stay_apart() -> None:
    long = "关于生产环境数据库备份与恢复流程的说明" * 5
    one, two = slug(long), slug(long + "二")
    assert one != two
    assert max(len(one.encode()), len(two.encode())) <= SLUG_BYTES


def test_a_free_file_differs_from_all_on_any_disk() -> None:
    taken = {fold("deploy.md"), fold("DEPLOY-2.md")}
    assert free_file("Deploy", taken) == "deploy-3.md"
    assert free_file("Straße", {fold("STRASSE.md")}) == "straße-2.md"


def test_spellings_of_one_name_are_one() -> None:
    assert name_key("Deploy_Notes") == name_key("deploy  notes") == name_key("ＤＥＰＬＯＹ-notes")
    assert name_key("C++ style") != name_key("C# style")


@pytest.mark.parametrize("file", ["MEMORY.md", "memory.md", ".hidden.md", "a/b.md", "a.txt"])
def test_what_is_no_record(file: str) -> None:
    assert not is_record_file(file)


@pytest.mark.parametrize(
    "path",
    ["sub/x.md", "../x.md", "..\\x.md", "%2e%2e/x.md", "..%2fx.md", "/etc/hostname",
     "a.md\0.txt", "C:x.md", "MEMORY.md", "memory", "", ".hidden.md"],
)  # fmt: skip
def test_paths_that_leave_the_folder_are_refused_with_a_reason(path: str) -> None:
    assert why_outside(path)


def test_a_plain_name_is_inside() -> None:
    assert why_outside("deploy-notes.md") == ""
