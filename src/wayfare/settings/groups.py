"""The settings themselves: frozen groups of named values, each with its unit and its effect.

The `Attributes` of a group's docstring are its documentation for people, too: `wayfare config
--explain` prints them. Values that mirror a number of another layer have its name and its default;
a test holds them together, because this layer may import none of the others.

A number that may be absent is written `"none"` in a settings file, which has no word for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from wayfare.settings.context_group import ContextSettings
from wayfare.settings.memory_group import MemorySettings

Mode: TypeAlias = Literal["read-only", "ask", "accept-edits", "full"]


def _table() -> dict[str, Any]:
    return {}


def _words() -> dict[str, str]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """Which model answers, and how it is reached. `model = "NAME"` is short for `model.name`.

    Keys are never written here: `key_variable` names the environment variable that holds one.

    Attributes:
        name: The model as `PROVIDER:MODEL`, such as `anthropic:claude-sonnet-5`, `openai:gpt-6-sol`,
            `ollama:qwen3`, `local:smollm2`, `local:/path/to/model.gguf` or `scripted:replies.json`.
            Empty (default): the provider whose key is there; for `side_model`: the main model.
        base_url: Address of the provider's API, such as `http://127.0.0.1:11434/v1`. Empty
            (default): the provider's own.
        key_variable: Environment variable (and keyring entry) of the key. Empty (default): the
            provider's own. An address that is not on this machine needs it said.
        window_tokens: The window, in tokens. Default none: the known one, else 200,000 (8,192 for a
            local model).
        max_output_tokens: Longest reply, in tokens. Default none: the known one, else 16,384.
        idle_seconds: Seconds without a single byte after which a call fails. Default 300.
        connect_seconds: Seconds in which a connection must be made. Default 10.
        thinking: Anthropic's `thinking` object, such as `{type = "adaptive"}`. Default: the model's.
        reasoning_effort: OpenAI's reasoning effort. Empty (default): the model's own.
        cache_lifetime: How long Anthropic keeps the cached prefix: `5m` (default), `1h`, or `off`.
        cache_key: OpenAI's `prompt_cache_key`. Empty (default): none is sent.
        context_editor: Who edits the context: `wayfare` (default), or `provider` for Anthropic's own
            compaction on the server.
        output_limit_field: What the output limit is called: `auto` (default), `max_tokens` or
            `max_completion_tokens`.
        stream_usage: Whether usage is asked for at the end of a stream. Default true; a few servers
            refuse it.
        keep_reasoning: Whether reasoning of earlier replies goes back to the server it came from.
            Default true.
        schemas: Whether JSON replies are asked for by schema. Default true.
        tools: For local models: `native` leaves tools to the chat template, `schema` offers them as
            a JSON schema, `auto` (default) asks the template.
        threads: Processors a local model uses. Default none: all, 8 at most.
        prices: Prices per million tokens: `input`, `cache_read`, `cache_write`, `output` and
            `currency`. Default: the known ones, else ratios that are shown as no money.
        extra_body: Fields added to every request, over ours. Default: none.
        extra_headers: Headers added to every request. Default: none.
    """

    name: str = ""
    base_url: str = ""
    key_variable: str = ""
    window_tokens: int | None = None
    max_output_tokens: int | None = None
    idle_seconds: float = 300.0
    connect_seconds: float = 10.0
    thinking: Mapping[str, Any] | None = None
    reasoning_effort: str = ""
    cache_lifetime: Literal["5m", "1h", "off"] = "5m"
    cache_key: str = ""
    context_editor: Literal["wayfare", "provider"] = "wayfare"
    output_limit_field: Literal["auto", "max_tokens", "max_completion_tokens"] = "auto"
    stream_usage: bool = True
    keep_reasoning: bool = True
    schemas: bool = True
    tools: Literal["auto", "native", "schema"] = "auto"
    threads: int | None = None
    prices: Mapping[str, Any] | None = None
    extra_body: Mapping[str, Any] = field(default_factory=_table)
    extra_headers: Mapping[str, str] = field(default_factory=_words)


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionSettings:
    """What the agent may do without asking. Rules of all sources hold together.

    Attributes:
        mode: `read-only` changes nothing, `ask` (default) asks before changes, `accept-edits` edits
            files of the workspace freely, `full` does all that no rule forbids.
        allow: Rules that answer yes, such as `bash(git status*)` or `edit_file(src/**)`.
        ask: Rules that ask every time; they beat `allow`.
        deny: Rules that answer no; they beat both.
        sandbox: Shell commands in bubblewrap: `auto` (default) where the machine has it, `required`
            refuses to run any without it, `off` never.
        sandbox_network: Whether commands in the sandbox reach the network. Default false.
    """

    mode: Mode = "ask"
    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    sandbox: Literal["off", "auto", "required"] = "auto"
    sandbox_network: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSettings:
    """Where a turn ends although the model would go on; every one can be gone on from.

    Attributes:
        steps_per_turn: Model calls of one turn. Default 200; `none`: no limit.
        tokens_per_session: Tokens sent and received in all calls of a session. Default none.
        cost_per_session: Cost of a session, in the currency of the model's prices. Default none.
        seconds_per_turn: Wall time of one turn, in seconds. Default none.
        parallel_tools: Reading calls of one batch that run side by side. Default 8.
        stop_hooks_in_a_row: How often Stop hooks may send the model back to work. Default 8.
        repeats_told: The same call with the same result so often: said to the model. Default 3.
        repeats_ended: And so often: the turn ends. Default 6.
        length_stops_in_a_row: Replies cut by the output limit that are continued. Default 5.
        empty_replies_in_a_row: Replies without a word or a call that are asked again. Default 2.
    """

    steps_per_turn: int | None = 200
    tokens_per_session: int | None = None
    cost_per_session: float | None = None
    seconds_per_turn: float | None = None
    parallel_tools: int = 8
    stop_hooks_in_a_row: int = 8
    repeats_told: int = 3
    repeats_ended: int = 6
    length_stops_in_a_row: int = 5
    empty_replies_in_a_row: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrySettings:
    """How patiently a model call is repeated when waiting may cure what failed.

    Attributes:
        attempts: Calls made at most, the first included. Default 6.
        empty_attempts: The same for replies without a word. Default 2.
        first_seconds: Longest wait in seconds before the second call; then doubled. Default 1.
        most_seconds: Longest wait in seconds where the provider names none. Default 30.
        longest_seconds: A provider that asks for more seconds is not waited for. Default 120.
    """

    attempts: int = 6
    empty_attempts: int = 2
    first_seconds: float = 1.0
    most_seconds: float = 30.0
    longest_seconds: float = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderSettings:
    """Where things stand; relative paths begin at the workspace.

    Attributes:
        transcripts: Logs of the sessions. Default `.transcripts`.
        results: Full tool results. Default `.task_outputs/tool-results`.
        memory: Memory records of the project. Default `.memory`.
        user_memory: Memory records that hold everywhere. Empty (default): the user's data folder.
        models: Local models. Empty (default): the user's data folder.
    """

    transcripts: str = ".transcripts"
    results: str = ".task_outputs/tool-results"
    memory: str = ".memory"
    user_memory: str = ""
    models: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellSettings:
    """How shell commands run.

    Attributes:
        timeout_seconds: Seconds a command may run unless its call asks for more. Default 120.
        most_timeout_seconds: Seconds a call may ask for. Default 3,600.
        shown_chars: Characters of output the model sees at once; all of it stands in a file.
            Default 16,000.
        most_output_bytes: Bytes after which a command is ended, or it would fill the disk. Default
            8 GiB.
        grace_seconds: Seconds between asking a command to end and ending it. Default 2.
        keep: Environment variables (`*` for any characters) that commands get although they look
            like secrets. Default: none.
    """

    timeout_seconds: float = 120.0
    most_timeout_seconds: float = 3_600.0
    shown_chars: int = 16_000
    most_output_bytes: int = 8 << 30
    grace_seconds: float = 2.0
    keep: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptSettings:
    """What the system prompt says beside what wayfare puts together.

    Attributes:
        role: Stands in place of wayfare's own role and rules. Empty (default): those.
        extra: A last section. Empty (default): none.
    """

    role: str = ""
    extra: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalSettings:
    """How the session looks and listens in a terminal.

    Attributes:
        color: `auto` (default) where the terminal shows it and NO_COLOR is not set, `always`,
            `never`.
        editing: Keys of the input line: `emacs` (default) or `vi`.
        thinking: Whether reasoning of the model is shown. Default false.
        history_lines: Lines the person typed that are kept for recall. Default 2,000; 0 keeps none.
        bell: Whether the terminal rings when a turn ends or a question waits. Default false.
    """

    color: Literal["auto", "always", "never"] = "auto"
    editing: Literal["emacs", "vi"] = "emacs"
    thinking: bool = False
    history_lines: int = 2_000
    bell: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """One MCP server whose tools join the session; `command` or `url`, not both.

    Attributes:
        command: Program that speaks MCP on its standard streams.
        args: Its arguments.
        env: Environment variables it gets beside a small safe set.
        env_from: Names of environment variables it gets as they are set here, for keys.
        url: Address of a server that speaks MCP over HTTP.
        header_variables: Header names with the environment variable that holds each value.
        enabled: Whether it is started. Default true.
        read_only_tools: Tools that are known to change nothing, so that they need no question.
        timeout_seconds: Seconds one call may take. Default 120.
        max_result_chars: A result of more characters stands in a file, with a preview. Default 0: what
            the tool declares, else the budget's own limit.
    """

    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=_words)
    env_from: tuple[str, ...] = ()
    url: str = ""
    header_variables: Mapping[str, str] = field(default_factory=_words)
    enabled: bool = True
    read_only_tools: tuple[str, ...] = ()
    timeout_seconds: float = 120.0
    max_result_chars: int = 0


def _servers() -> dict[str, McpServer]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be set.

    Attributes:
        model: Which model answers.
        side_model: A cheaper model for side queries: summary, notes, recall, extraction, dream.
        context: The budget of the context.
        permissions: What the agent may do without asking.
        limits: Where a turn ends.
        retry: How patiently a model call is repeated.
        shell: How shell commands run.
        folders: Where things stand.
        memory: What is kept across sessions.
        prompt: What the system prompt says besides.
        terminal: How the session looks.
        mcp: MCP servers by name: `[mcp.NAME]`.
        hooks: What runs at events of a session: `[[hooks]]` with `event` and `command`, or a table
            by event as other agents write it. One value a source, in rising order.
    """

    model: ModelChoice = field(default_factory=ModelChoice)
    side_model: ModelChoice = field(default_factory=ModelChoice)
    context: ContextSettings = field(default_factory=ContextSettings)
    permissions: PermissionSettings = field(default_factory=PermissionSettings)
    limits: LimitSettings = field(default_factory=LimitSettings)
    retry: RetrySettings = field(default_factory=RetrySettings)
    shell: ShellSettings = field(default_factory=ShellSettings)
    folders: FolderSettings = field(default_factory=FolderSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    prompt: PromptSettings = field(default_factory=PromptSettings)
    terminal: TerminalSettings = field(default_factory=TerminalSettings)
    mcp: Mapping[str, McpServer] = field(default_factory=_servers)
    hooks: tuple[Any, ...] = ()
