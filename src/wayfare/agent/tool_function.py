"""Making a tool of a function: schema, checks and touched paths from its signature and docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final, cast, get_args, get_origin, get_type_hints, overload

import anyio.to_thread
import msgspec

from wayfare import json_text
from wayfare.agent.tools import (
    TIMEOUT_SECONDS,
    Declares,
    InvalidInput,
    Tool,
    ToolContext,
    ToolOutput,
    Touch,
    Touches,
)
from wayfare.context.tool_use import Kind
from wayfare.errors import ConfigError
from wayfare.messages import Block

_ARGUMENT: Final = re.compile(r"^(\s+)(\w+)(?:\s*\([^)]*\))?:\s*(.*)$")
_SECTION: Final = re.compile(
    r"^\s*(Args|Arguments|Returns|Raises|Yields|Example|Examples|Note):\s*$"
)


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    name: str = "",
    read_only: bool = False,
    kind: Kind = "other",
    compactable: bool = True,
    max_result_chars: int | None = None,
    main_argument: str = "",
    timeout_seconds: float | None = TIMEOUT_SECONDS,
    touches: Declares | None = None,
    description: str = "",
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(function: Callable[..., Any] | None = None, /, **declared: Any) -> Any:
    """Make a tool of a typed function; bare or with what it declares (see `Tool`).

    `touches` overrides what the annotations `ReadPath`, `WritePath`, `Command` and `Url` say;
    `description` overrides the docstring.

    Raises:
        ConfigError: a parameter without a type, of a type no schema can be made of, or no docstring.
    """
    if function is not None:
        return from_function(function)
    return partial(from_function, **declared)


def from_function(
    function: Callable[..., Any],
    *,
    name: str = "",
    touches: Callable[[Mapping[str, Any]], Touches] | None = None,
    description: str = "",
    **declared: Any,
) -> Tool:
    """A tool made of a typed function; see `tool`.

    Raises:
        ConfigError: a parameter without a type, of a type no schema can be made of, or no docstring.
    """
    name = name or function.__name__
    text, arguments = read_docstring(inspect.getdoc(function) or "")
    if not (description or text):
        raise ConfigError(f"the tool {name!r} has no docstring: say what it is for", setting=name)
    hints = _hints(function, name)
    parameters = inspect.signature(function).parameters
    wanted = [p for p in parameters.values() if hints.get(p.name) is not ToolContext]
    handed = [p.name for p in parameters.values() if hints.get(p.name) is ToolContext]
    struct = _struct(name, wanted, hints, arguments)
    fields = msgspec.structs.fields(struct)
    known = tuple(f.name for f in fields)

    def parse(given: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            checked = msgspec.convert(dict(given), struct, strict=False)
        except msgspec.ValidationError as error:
            text = f"invalid input for {name}: {error}. Valid input: {valid_input(schema)}"
            raise InvalidInput(text) from None
        return {field: getattr(checked, field) for field in known}

    async def run(given: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        keywords = {**given, **dict.fromkeys(handed, context)}
        if inspect.iscoroutinefunction(function):
            return as_output(await function(**keywords))
        # A thread cannot be ended; abandoned, it may still run to its end unseen.
        returned = await anyio.to_thread.run_sync(
            lambda: function(**keywords), abandon_on_cancel=True
        )
        return as_output(returned)

    try:
        schema = _schema(struct)
    except TypeError as error:
        raise ConfigError(f"the tool {name!r}: {error}", setting=name) from error
    return Tool(
        name=name,
        description=description or text,
        schema=schema,
        run=run,
        parse=parse,
        touches=touches or _touches(hints),
        **declared,
    )


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except NameError as error:
        raise ConfigError(f"the tool {name!r}: {error}", setting=name) from error


def _struct(
    name: str,
    parameters: Sequence[inspect.Parameter],
    hints: Mapping[str, Any],
    arguments: Mapping[str, str],
) -> type[msgspec.Struct]:
    fields: list[Any] = []
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ConfigError(
                f"the tool {name!r} takes *{parameter.name}: name its parameters", setting=name
            )
        kind = hints.get(parameter.name)
        if kind is None:
            raise ConfigError(
                f"the tool {name!r}: the parameter {parameter.name!r} has no type", setting=name
            )
        said = arguments.get(parameter.name)
        if said:
            kind = Annotated[kind, msgspec.Meta(description=said)]
        if parameter.default is parameter.empty:
            fields.append((parameter.name, kind))
        else:
            fields.append((parameter.name, kind, _default(parameter.default)))
    return msgspec.defstruct(name, fields, kw_only=True, frozen=True, forbid_unknown_fields=True)


def _default(value: Any) -> Any:
    if isinstance(value, (list, dict, set)):
        return msgspec.field(default_factory=lambda: cast("Any", value).copy())
    return value


def _schema(struct: type[msgspec.Struct]) -> Mapping[str, Any]:
    """The schema of a struct with references written out, since small models follow none."""
    (whole,), parts = msgspec.json.schema_components([struct], ref_template="{name}")

    def written(value: Any, inside: tuple[str, ...]) -> Any:
        if isinstance(value, list):
            return [written(v, inside) for v in cast("list[Any]", value)]
        if not isinstance(value, dict):
            return value
        mapping = cast("dict[str, Any]", value)
        ref = mapping.get("$ref")
        if isinstance(ref, str):
            if ref in inside:
                raise TypeError(f"the type {ref} holds itself, which no tool schema can say")
            rest = {k: v for k, v in mapping.items() if k != "$ref"}
            return {**written(parts[ref], (*inside, ref)), **rest}
        # A title is text; a field that is called "title" is a schema of its own.
        return {
            key: written(inner, inside)
            for key, inner in mapping.items()
            if not (key == "title" and isinstance(inner, str))
        }

    return written(whole, ())


def valid_input(schema: Mapping[str, Any]) -> str:
    """One line that says which fields a tool takes, for error results."""
    required = set(schema.get("required", ()))
    fields: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    said = [
        f"{name} ({_type(field)}{', required' if name in required else ''})"
        for name, field in fields.items()
    ]
    return ", ".join(said) if said else "no fields"


def _type(field: Mapping[str, Any]) -> str:
    if "enum" in field:
        return "one of " + ", ".join(json_text.dumps(v).decode() for v in field["enum"])
    if "anyOf" in field:
        return " or ".join(_type(option) for option in field["anyOf"])
    kind = str(field.get("type", "any"))
    items = field.get("items")
    return f"{kind} of {_type(items)}" if kind == "array" and items else kind


def _touches(hints: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], Touches]:
    """What a call touches, by the marks on its parameters."""
    marks: dict[str, list[str]] = {"read": [], "write": [], "command": [], "url": []}
    for name, hint in hints.items():
        for what in _marks(hint):
            marks[what].append(name)

    def touched(given: Mapping[str, Any]) -> Touches:
        def values(what: str) -> tuple[str, ...]:
            found = (given.get(name) for name in marks[what])
            return tuple(text for value in found for text in _texts(value))

        return Touches(
            reads=values("read"),
            writes=values("write"),
            commands=values("command"),
            urls=values("url"),
            files=bool(marks["read"] or marks["write"]),
        )

    return touched


def _marks(hint: Any) -> Iterator[str]:
    """The marks of a type, and of what a list or a union of it holds."""
    for mark in getattr(hint, "__metadata__", ()):
        if isinstance(mark, Touch):
            yield mark.what
    for inner in get_args(hint):
        if get_origin(hint) is not Annotated or not isinstance(inner, Touch):
            yield from _marks(inner)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str) and value:
        yield value
    elif isinstance(value, (list, tuple)):
        for inner in cast("Sequence[Any]", value):
            yield from _texts(inner)


def as_output(returned: Any) -> ToolOutput:
    """What a function returned, as a tool's output: texts as they are, blocks kept, else JSON."""
    if isinstance(returned, ToolOutput):
        return returned
    if returned is None:
        return ToolOutput()
    if isinstance(returned, str):
        return ToolOutput(text=returned)
    if isinstance(returned, Block):
        return ToolOutput(blocks=(returned,))
    if isinstance(returned, bytes):
        return ToolOutput(text=returned.decode("utf-8", "replace"))
    return ToolOutput(text=json_text.dumps(returned).decode("utf-8", "replace"))


def read_docstring(doc: str) -> tuple[str, dict[str, str]]:
    """The description of a docstring, and what its `Args` say of each parameter."""
    said: list[str] = []
    arguments: dict[str, str] = {}
    section = current = ""
    indent = 0
    for line in doc.splitlines():
        found = _SECTION.match(line)
        if found:
            section, current = found[1], ""
            continue
        if section and line.strip() and not line.startswith(" "):
            section = ""
        if not section:
            said.append(line)
            continue
        if not section.startswith("Arg"):
            continue
        argument = _ARGUMENT.match(line)
        if argument and (not current or len(argument[1]) <= indent):
            indent, current = len(argument[1]), argument[2]
            arguments[current] = argument[3].strip()
        elif current and line.strip():
            arguments[current] = f"{arguments[current]} {line.strip()}".strip()
    return "\n".join(said).strip(), arguments
