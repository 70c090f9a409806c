"""What a text says about its own life."""

from __future__ import annotations

import pytest

from wayfare.memory.wording import addresses_agent, explicitly_once, lasting, one_off, temporary


@pytest.mark.parametrize(
    "text",
    [
        "Currently running the tests, 3 of 9 done.",
        "tests are running",
        "The user asked to restart the task just now.",
        "In this session use tabs",
        "For now we skip the linter",
        "just this time use spaces",
        "Deploy by hand today only",
        "The user's current task is refactoring the auth module",
        "keep its public interface in this task",
        "The migration is still in progress",
        "Use port 3001 temporarily",
        "正在重启任务，请稍候。",
        "今天先做登录页，明天再说。",
        "本次会话用英文",
        "当前会话的目标是重构",
        "这一轮只改测试",
        "本次任务要保持接口",
        "当前任务：重构认证模块",
        "暂时关闭缓存",
        "就这一次用空格",
        "本輪先不寫測試",
        "今回だけスペースを使う",
        "このセッションでは英語で",
        "이번만 스페이스를 사용",
        "이번 세션에서는 영어로",
    ],
)
def test_what_says_that_it_will_not_last(text: str) -> None:
    assert temporary(["a name", text])


@pytest.mark.parametrize(
    "text",
    [
        "Temporary files go to /tmp/build-cache, never into the repo.",
        "The current API version header is X-Api: 2024-06 and must be sent on every call.",
        "TODO comments need a ticket",
        "Sessions expire after 30 minutes",
        "Do not write 'for now' comments in code",
        "When the current task is done, always run make test",
        "If the service is temporarily unavailable, retry three times",
        "The service is running on port 8080",
        "The current session token is kept in Redis",
        "The user is currently working on a PhD thesis about compilers",
        "At the start of each session read RESUME.md",
        "Call `current_task()` sparingly",
        "临时文件统一放在 /tmp/构建缓存，不要放进仓库。",
        "不要使用 tmp、temp 这类临时变量名。",
        "网络暂时不可用时要重试",
        "暂时性故障要重试三次",
        "完成当前任务后，每次都要运行测试",
        "轮询间隔是 5 秒",
        "正在运行的容器不要重启",
        "一時ファイルは /tmp に置く",
        "現在のタスクキューは Redis",
        "임시 파일은 /tmp 에 둔다",
        "작업 디렉터리는 /srv/app 입니다",
    ],
)
def test_lasting_rules_that_look_temporary(text: str) -> None:
    assert temporary([text]) == ""


@pytest.mark.parametrize(
    "said", ["This time use spaces", "这次用空格", "今回はスペースで", "이번에는 탭"]
)
def test_an_exception_is_one(said: str) -> None:
    assert one_off([said])


@pytest.mark.parametrize(
    "said",
    [
        "From now on use spaces this time and ever",
        "这次开始，以后都用空格",
        "今後は常にスペース",
        "앞으로 이번처럼",
    ],
)
def test_from_now_on_is_no_exception(said: str) -> None:
    assert one_off([said]) == ""
    assert lasting(said)


def test_only_explicit_words_hold_for_one_time() -> None:
    assert explicitly_once(["Use spaces, just this once"])
    assert explicitly_once(["This time remember that I am vegetarian"]) == ""
    assert explicitly_once(["Our fixture says 'just this once'"]) == ""


def test_orders_to_an_agent_are_recognised() -> None:
    assert addresses_agent("please remember this rule: whenever you write a report, ...")
    assert addresses_agent("请记住：每当你回答时")
    assert addresses_agent("The meeting is at ten.") == ""
