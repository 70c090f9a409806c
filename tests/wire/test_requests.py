"""What goes over the wire: the same named conversations through every provider."""

from __future__ import annotations

from inline_snapshot import snapshot
from tests.wire.conversations import (
    PICTURE,
    PLAIN,
    PROVIDERS,
    SCHEMA,
    SIGNED_TURN,
    TOOLS,
    as_stored,
    exchange,
    reply_of,
    sent,
)

from wayfare.messages import result, results, user
from wayfare.model import Request


class TestAnthropic:
    async def test_plain(self) -> None:
        assert await sent("anthropic", PLAIN) == snapshot(
            [
                {
                    "model": "m",
                    "max_tokens": 100,
                    "messages": [
                        {
                            "role": "user",
                            "content": [
                                {
                                    "type": "text",
                                    "text": "Say hello.",
                                    "cache_control": {"type": "ephemeral"},
                                }
                            ],
                        }
                    ],
                    "system": [
                        {
                            "type": "text",
                            "text": "Be brief.",
                            "cache_control": {"type": "ephemeral"},
                        }
                    ],
                    "stream": True,
                }
            ]
        )

    async def test_tools(self) -> None:
        assert await sent("anthropic", TOOLS) == snapshot(
            [
                {
                    "model": "m",
                    "max_tokens": 100,
                    "messages": [
                        {
                            "role": "user",
                            "content": [
                                {
                                    "type": "text",
                                    "text": "Compare a and b.",
                                    "cache_control": {"type": "ephemeral"},
                                }
                            ],
                        },
                        {
                            "role": "assistant",
                            "content": [
                                {"type": "text", "text": "Reading both."},
                                {
                                    "type": "tool_use",
                                    "id": "call_1",
                                    "name": "read_file",
                                    "input": {"path": "a"},
                                },
                                {
                                    "type": "tool_use",
                                    "id": "call_2",
                                    "name": "read_file",
                                    "input": {"path": "b"},
                                },
                            ],
                        },
                        {
                            "role": "user",
                            "content": [
                                {
                                    "type": "tool_result",
                                    "tool_use_id": "call_1",
                                    "content": "apples",
                                },
                                {
                                    "type": "tool_result",
                                    "tool_use_id": "call_2",
                                    "content": "no such file",
                                    "is_error": True,
                                    "cache_control": {"type": "ephemeral"},
                                },
                            ],
                        },
                    ],
                    "system": [
                        {
                            "type": "text",
                            "text": "Be brief.",
                            "cache_control": {"type": "ephemeral"},
                        }
                    ],
                    "tools": [
                        {
                            "name": "read_file",
                            "description": "Read a file",
                            "input_schema": {
                                "type": "object",
                                "properties": {"path": {"type": "string"}},
                                "required": ["path"],
                            },
                        }
                    ],
                    "stream": True,
                }
            ]
        )

    async def test_picture(self) -> None:
        assert await sent("anthropic", PICTURE) == snapshot(
            [
                {
                    "model": "m",
                    "max_tokens": 100,
                    "messages": [
                        {
                            "role": "user",
                            "content": [
                                {"type": "text", "text": "What is it?"},
                                {
                                    "type": "image",
                                    "source": {
                                        "type": "base64",
                                        "media_type": "image/png",
                                        "data": "aW1hZ2U=",
                                    },
                                    "cache_control": {"type": "ephemeral"},
                                },
                            ],
                        }
                    ],
                    "stream": True,
                }
            ]
        )

    async def test_schema(self) -> None:
        assert await sent("anthropic", SCHEMA) == snapshot(
            [
                {
                    "model": "m",
                    "max_tokens": 100,
                    "messages": [
                        {
                            "role": "user",
                            "content": [
                                {
                                    "type": "text",
                                    "text": "Name three fruits.",
                                    "cache_control": {"type": "ephemeral"},
                                }
                            ],
                        }
                    ],
                    "output_config": {
                        "format": {
                            "type": "json_schema",
                            "schema": {
                                "type": "object",
                                "properties": {
                                    "fruits": {"type": "array", "items": {"type": "string"}}
                                },
                                "required": ["fruits"],
                                "additionalProperties": False,
                            },
                        }
                    },
                    "stream": True,
                }
            ]
        )

    async def test_thinking_goes_back_whole(self) -> None:
        reply = as_stored(await reply_of("anthropic", SIGNED_TURN), "anthropic")
        messages = (user("Look."), reply, results(result("call_1", "apples")))
        [body] = await sent("anthropic", Request(messages=messages, max_output_tokens=100))
        assert body["messages"] == snapshot(
            [
                {"role": "user", "content": "Look."},
                {
                    "role": "assistant",
                    "content": [
                        {
                            "type": "thinking",
                            "thinking": "The file first.",
                            "signature": "c2lnbmF0dXJl",
                        },
                        {"type": "text", "text": "Reading."},
                        {
                            "type": "tool_use",
                            "id": "call_1",
                            "name": "read_file",
                            "input": {"path": "a"},
                        },
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "call_1",
                            "content": "apples",
                            "cache_control": {"type": "ephemeral"},
                        }
                    ],
                },
            ]
        )

    async def test_the_settings_of_thinking_and_cache(self) -> None:
        [body] = await sent(
            "anthropic",
            Request(messages=PLAIN.messages, system="s", max_output_tokens=4_000),
            thinking={"type": "enabled", "budget_tokens": 8_000},
            cache_lifetime="1h",
        )
        assert body == snapshot(
            {
                "model": "m",
                "max_tokens": 4000,
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {
                                "type": "text",
                                "text": "Say hello.",
                                "cache_control": {"type": "ephemeral", "ttl": "1h"},
                            }
                        ],
                    }
                ],
                "system": [
                    {
                        "type": "text",
                        "text": "s",
                        "cache_control": {"type": "ephemeral", "ttl": "1h"},
                    }
                ],
                "thinking": {"type": "enabled", "budget_tokens": 2000},
                "stream": True,
            }
        )

    async def test_the_provider_edits_the_context_only_when_told_to(self) -> None:
        [plain] = await exchange("anthropic", PLAIN)
        [edited] = await exchange("anthropic", PLAIN, context_editor="provider")
        assert "anthropic-beta" not in plain.headers
        assert "context_management" not in plain.body
        assert edited.headers["anthropic-beta"] == snapshot("compact-2026-01-12")
        assert edited.body["context_management"] == snapshot(
            {"edits": [{"type": "compact_20260112"}]}
        )


class TestOpenAIChat:
    async def test_plain(self) -> None:
        assert await sent("openai chat", PLAIN) == snapshot(
            [
                {
                    "model": "m",
                    "messages": [
                        {"role": "system", "content": "Be brief."},
                        {"role": "user", "content": "Say hello."},
                    ],
                    "max_tokens": 100,
                    "stream_options": {"include_usage": True},
                    "stream": True,
                }
            ]
        )

    async def test_tools(self) -> None:
        assert await sent("openai chat", TOOLS) == snapshot(
            [
                {
                    "model": "m",
                    "messages": [
                        {"role": "system", "content": "Be brief."},
                        {"role": "user", "content": "Compare a and b."},
                        {
                            "role": "assistant",
                            "content": "Reading both.",
                            "tool_calls": [
                                {
                                    "id": "call_1",
                                    "type": "function",
                                    "function": {"name": "read_file", "arguments": '{"path":"a"}'},
                                },
                                {
                                    "id": "call_2",
                                    "type": "function",
                                    "function": {"name": "read_file", "arguments": '{"path":"b"}'},
                                },
                            ],
                        },
                        {"role": "tool", "tool_call_id": "call_1", "content": "apples"},
                        {
                            "role": "tool",
                            "tool_call_id": "call_2",
                            "content": """\
[tool error]
no such file\
""",
                        },
                    ],
                    "max_tokens": 100,
                    "stream_options": {"include_usage": True},
                    "tools": [
                        {
                            "type": "function",
                            "function": {
                                "name": "read_file",
                                "description": "Read a file",
                                "parameters": {
                                    "type": "object",
                                    "properties": {"path": {"type": "string"}},
                                    "required": ["path"],
                                },
                            },
                        }
                    ],
                    "stream": True,
                }
            ]
        )

    async def test_picture(self) -> None:
        assert await sent("openai chat", PICTURE) == snapshot(
            [
                {
                    "model": "m",
                    "messages": [
                        {
                            "role": "user",
                            "content": [
                                {"type": "text", "text": "What is it?"},
                                {
                                    "type": "image_url",
                                    "image_url": {"url": "data:image/png;base64,aW1hZ2U="},
                                },
                            ],
                        }
                    ],
                    "max_tokens": 100,
                    "stream_options": {"include_usage": True},
                    "stream": True,
                }
            ]
        )

    async def test_schema(self) -> None:
        assert await sent("openai chat", SCHEMA) == snapshot(
            [
                {
                    "model": "m",
                    "messages": [{"role": "user", "content": "Name three fruits."}],
                    "max_tokens": 100,
                    "stream_options": {"include_usage": True},
                    "response_format": {
                        "type": "json_schema",
                        "json_schema": {
                            "name": "reply",
                            "schema": {
                                "type": "object",
                                "properties": {
                                    "fruits": {"type": "array", "items": {"type": "string"}}
                                },
                                "required": ["fruits"],
                                "additionalProperties": False,
                            },
                        },
                    },
                    "stream": True,
                }
            ]
        )

    async def test_reasoning_goes_back_to_the_server_it_came_from(self) -> None:
        reply = as_stored(await reply_of("openai chat", SIGNED_TURN), "openai-chat")
        messages = (user("Look."), reply, results(result("call_1", "apples")))
        request = Request(messages=messages, max_output_tokens=100)
        [body] = await sent("openai chat", request)
        assert body["messages"] == snapshot(
            [
                {"role": "user", "content": "Look."},
                {
                    "role": "assistant",
                    "content": "Reading.",
                    "reasoning_content": "The file first.",
                    "tool_calls": [
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {"name": "read_file", "arguments": '{"path": "a"}'},
                        }
                    ],
                },
                {"role": "tool", "tool_call_id": "call_1", "content": "apples"},
            ]
        )
        [bare] = await sent("openai chat", request, keep_reasoning=False)
        assert bare["messages"] == [
            {k: v for k, v in message.items() if k != "reasoning_content"}
            for message in body["messages"]
        ]

    async def test_the_settings_of_output_usage_and_cache(self) -> None:
        [body] = await sent(
            "openai chat",
            PLAIN,
            output_limit_field="max_completion_tokens",
            stream_usage=False,
            cache_key="session-7",
            reasoning_effort="low",
            max_output_tokens=50,
        )
        assert body == snapshot(
            {
                "model": "m",
                "messages": [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": "Say hello."},
                ],
                "max_completion_tokens": 50,
                "reasoning_effort": "low",
                "prompt_cache_key": "session-7",
                "stream": True,
            }
        )


class TestOpenAIResponses:
    async def test_plain(self) -> None:
        assert await sent("openai responses", PLAIN) == snapshot(
            [
                {
                    "model": "m",
                    "input": [
                        {
                            "type": "message",
                            "role": "user",
                            "content": [{"type": "input_text", "text": "Say hello."}],
                        }
                    ],
                    "max_output_tokens": 100,
                    "store": False,
                    "include": ["reasoning.encrypted_content"],
                    "instructions": "Be brief.",
                    "stream": True,
                }
            ]
        )

    async def test_tools(self) -> None:
        assert await sent("openai responses", TOOLS) == snapshot(
            [
                {
                    "model": "m",
                    "input": [
                        {
                            "type": "message",
                            "role": "user",
                            "content": [{"type": "input_text", "text": "Compare a and b."}],
                        },
                        {
                            "type": "message",
                            "role": "assistant",
                            "content": [{"type": "output_text", "text": "Reading both."}],
                        },
                        {
                            "type": "function_call",
                            "call_id": "call_1",
                            "name": "read_file",
                            "arguments": '{"path":"a"}',
                        },
                        {
                            "type": "function_call",
                            "call_id": "call_2",
                            "name": "read_file",
                            "arguments": '{"path":"b"}',
                        },
                        {"type": "function_call_output", "call_id": "call_1", "output": "apples"},
                        {
                            "type": "function_call_output",
                            "call_id": "call_2",
                            "output": """\
[tool error]
no such file\
""",
                        },
                    ],
                    "max_output_tokens": 100,
                    "store": False,
                    "include": ["reasoning.encrypted_content"],
                    "instructions": "Be brief.",
                    "tools": [
                        {
                            "type": "function",
                            "name": "read_file",
                            "description": "Read a file",
                            "parameters": {
                                "type": "object",
                                "properties": {"path": {"type": "string"}},
                                "required": ["path"],
                            },
                            "strict": False,
                        }
                    ],
                    "stream": True,
                }
            ]
        )

    async def test_picture(self) -> None:
        assert await sent("openai responses", PICTURE) == snapshot(
            [
                {
                    "model": "m",
                    "input": [
                        {
                            "type": "message",
                            "role": "user",
                            "content": [
                                {"type": "input_text", "text": "What is it?"},
                                {
                                    "type": "input_image",
                                    "detail": "auto",
                                    "image_url": "data:image/png;base64,aW1hZ2U=",
                                },
                            ],
                        }
                    ],
                    "max_output_tokens": 100,
                    "store": False,
                    "include": ["reasoning.encrypted_content"],
                    "stream": True,
                }
            ]
        )

    async def test_schema(self) -> None:
        assert await sent("openai responses", SCHEMA) == snapshot(
            [
                {
                    "model": "m",
                    "input": [
                        {
                            "type": "message",
                            "role": "user",
                            "content": [{"type": "input_text", "text": "Name three fruits."}],
                        }
                    ],
                    "max_output_tokens": 100,
                    "store": False,
                    "include": ["reasoning.encrypted_content"],
                    "text": {
                        "format": {
                            "type": "json_schema",
                            "name": "reply",
                            "schema": {
                                "type": "object",
                                "properties": {
                                    "fruits": {"type": "array", "items": {"type": "string"}}
                                },
                                "required": ["fruits"],
                                "additionalProperties": False,
                            },
                        }
                    },
                    "stream": True,
                }
            ]
        )

    async def test_reasoning_items_go_back_with_the_items_behind_them(self) -> None:
        reply = as_stored(await reply_of("openai responses", SIGNED_TURN), "openai-responses")
        messages = (user("Look."), reply, results(result("call_1", "apples")))
        [body] = await sent("openai responses", Request(messages=messages, max_output_tokens=100))
        assert body["input"] == snapshot(
            [
                {
                    "type": "message",
                    "role": "user",
                    "content": [{"type": "input_text", "text": "Look."}],
                },
                {
                    "type": "reasoning",
                    "id": "rs_1",
                    "encrypted_content": "c2lnbmF0dXJl",
                    "summary": [{"type": "summary_text", "text": "The file first."}],
                },
                {
                    "type": "message",
                    "id": "msg_1",
                    "role": "assistant",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": "Reading.", "annotations": []}],
                },
                {
                    "type": "function_call",
                    "id": "fc_0",
                    "call_id": "call_1",
                    "name": "read_file",
                    "arguments": '{"path": "a"}',
                    "status": "completed",
                },
                {"type": "function_call_output", "call_id": "call_1", "output": "apples"},
            ]
        )


async def test_a_conversation_begun_with_one_provider_goes_on_with_another() -> None:
    """Calls, results and words cross over; what one provider signed does not."""
    for begun_with, (_, _, begun_format) in PROVIDERS.items():
        reply = as_stored(await reply_of(begun_with, SIGNED_TURN), begun_format)
        messages = (user("Look."), reply, results(result("call_1", "apples")))
        for goes_on_with, (_, _, format) in PROVIDERS.items():
            [body] = await sent(goes_on_with, Request(messages=messages, tools=TOOLS.tools))
            text = str(body)
            assert "call_1" in text
            assert "apples" in text
            assert "Reading." in text
            if format != begun_format:
                assert "c2lnbmF0dXJl" not in text, (begun_with, goes_on_with)
