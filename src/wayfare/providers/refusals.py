"""The table of refusal texts: one row a wording, with its provider and where it was read.

The order is the rule: the first row that fits decides. Rows that share words with others are told
apart by standing earlier (a per-minute cap says "tokens" too, a tool id can be "too long") or by
`unless`. Rows of source `general` carry no single wording: they are the words all the others share,
so that a wording nobody has seen yet still lands in the right class.
"""

from __future__ import annotations

from wayfare.providers.overflow_wordings import OVERFLOWS, WEAK_OVERFLOWS
from wayfare.providers.wording import GENERAL, Kind, Refusal, row

_RETRY_HINT = (
    r"retry (?:in|after) \d|try again (?:in|later|after)|please (?:retry|wait)|resets? (?:in|at)"
    r"|retrydelay|throttling|resource_exhausted|temporar"
)

CONFIGURATION = (
    row(
        "window-too-small",
        Kind.UNSUPPORTED,
        r"context (?:window|length|size) (?:is )?too small",
        "local",
        "maxtongwang/openclaw/blob/main/src/agents/"
        "pi-embedded-helpers.islikelycontextoverflowerror.test.ts",
    ),
    row(
        "negative-output",
        Kind.OVERFLOW,
        r"max_(?:\w+_)?tokens\W+must be (?:at least|greater than|>=?|positive)"
        r"[^.\n]{0,40}(?:got|but|:) ?-\d",
        "vllm",
        "vllm-project/vllm/issues/19861",
    ),
)

ACCOUNT = (
    row(
        "credit-affords-less",
        Kind.OUTPUT_CAP,
        r"can only afford [1-9]\d{2,}",
        "openrouter",
        "can1357/oh-my-pi/issues/9569",
    ),
    row(
        "balance",
        Kind.BILLING,
        r"insufficient[_ ](?:balance|credits?|funds?)|credit balance is too low|out of (?:funds|credits)"
        r"|balance (?:is )?(?:too low|depleted|insufficient)|payment[_ ]required|arrearage|billing_"
        r"|(?:requires?|add|purchase|buy|top up) (?:more |your |available )?credits"
        r"|account is (?:deactivated|suspended|not active|in arrears)|balance_depleted"
        r"|billing hard limit|spend(?:ing)? limit|out of extra usage"
        r"|余额不足|欠费|余额已(?:用完|耗尽)|账户.{0,6}(?:停用|冻结)|充值|残高不足|잔액",
        "deepseek, moonshot, anthropic, zhipu",
        "MoonshotAI/Kimi-K2/issues/5",
        unless=r"free-models-per|per[- ](?:day|min)",
    ),
    row(
        "current-quota",
        Kind.BILLING,
        r"insufficient_quota|exceeded_current_quota|exceeded (?:your )?current quota"
        r"|check your plan and billing|free allocated quota exceeded|usage_not_included",
        "openai",
        "ayaka14732/ChatGPTAPIFree/issues/47",
        unless=_RETRY_HINT + r"|allocationquota|token-limit|limit: [1-9]\d*, model",
    ),
    row(
        "key",
        Kind.AUTH,
        r"(?:invalid|incorrect|missing|expired|revoked|no|wrong)[_ ](?:x-)?api[_ -]?keys?"
        r"|api[_ -]?keys? (?:is |was |are )?(?:not valid|invalid|missing|expired|required|not found)"
        r"|authentication_error|authenticationerror|permission_(?:error|denied)|unauthenticated"
        r"|(?:invalid|expired|missing|bad) (?:\w+ )?(?:access |auth(?:entication|orization)? |bearer )"
        r"(?:token|header|credentials?)|(?:auth\w*|access|bearer|ide|security|session)(?:ation)? token"
        r" (?:has |is |was )?(?:expired|invalid|missing|revoked)"
        r"|\btoken[_ ](?:has |is )?(?:expired|revoked|invalid)|invalid[_ ]token\b|expiredtoken"
        r"|accessdenied|not authorized|unauthorized|unrecognizedclient"
        r"|密钥(?:无效|错误|过期)|令牌.{0,6}(?:无效|过期|不可用)|身份验证失败|鉴权失败|未授权",
        "openai, github-copilot",
        "Gitlawb/openclaude/issues/1746",
    ),
)

OVER_TIME = (
    row(
        "long-context-tier",
        Kind.MINUTE_CAP,
        r"extra usage is required for (?:long context|1m context)",
        "anthropic",
        "NousResearch/hermes-agent/pull/4747",
    ),
    row(
        "tokens-per-window",
        Kind.RATE_LIMIT,
        r"tokens? per[- ](?:min|minute|day|hour|second|week|month)|\b[tr]p[mdhs]\b"
        r"|per[- ](?:min(?:ute)?|hour|day|second|week|month)\b|requests? per (?:min|day|hour|second)"
        r"|(?:this|current) (?:minute|hour|day)\b|free-models-per-(?:day|min)"
        r"|(?:hourly|daily|weekly|monthly|5-hour) (?:\w+ )?(?:limit|quota|allowance|cap)"
        r"|permin(?:ute)?\b|perday\b|perminuteper|perdayper|每分钟|每天|每日|每小时|当日|今日",
        "groq, openai, moonshot, bedrock, gemini",
        "elizaOS/eliza/issues/4040",
    ),
    row(
        "your-limit",
        Kind.RATE_LIMIT,
        r"exceed(?:ed|s)? your (?:[\w'-]+ ){0,3}(?:limit|quota|allowance|rate)"
        r"|exceed your (?:account|organi[sz]ation)'?s? ?(?:'s )?rate limit"
        r"|usage limit|exceeded token rate limit|exceeded the token rate limit",
        "anthropic, azure-openai",
        "anthropics/claude-code/issues/4888",
    ),
    row(
        "peak-load",
        Kind.RATE_LIMIT,
        r"during peak load|(?:currently )?experiencing high (?:demand|load|traffic)|访问量过大",
        "azure-openai",
        "pollinations/pollinations/issues/6260",
    ),
)

REQUEST_RULES = (
    row(
        "content-too-long",
        Kind.OVERFLOW,
        r"(?:messages|input)(?:\[\d+\])?(?:\.content(?:\[\d+\](?:\.text)?)?)?[\\'\"]{0,2}: string too long"
        r"|'(?:messages|input)[\\']{1,2}: array too long|\$\.messages'?\"? (?:is too long|exceeds the maximum"
        r" length)|string value length \(\d+\) exceeds the maximum allowed",
        "openai, azure-openai",
        "gptscript-ai/clio/issues/41",
    ),
    row(
        "string-or-array-too-long",
        Kind.BAD_REQUEST,
        r"string too long|array too long|string_above_max_length|array_above_max_length"
        r"|string should have at most \d+ char|list should have at most \d+ item|string_too_long",
        "openai",
        "vercel/ai/issues/5171",
    ),
    row(
        "image",
        Kind.BAD_REQUEST,
        r"image (?:exceeds|too large|size exceeds|dimensions? exceed|is too)|image_too_large"
        r"|image dimensions exceed|max allowed size[^.\n]{0,40}pixels|\d+ pixels"
        r"|too many images|at most \d+ images?|\bimages? per (?:prompt|request)|maximum of \d+ images"
        r"|(?:pdf|document|file|audio|video|image)s? [^.\n]{0,40}(?:exceeds?|larger than|too (?:large"
        r"|long|many))[^.\n]{0,40}(?:mb|pages?|seconds|bytes|size)|could not process image"
        r"|图片.{0,12}(?:过大|超过|超出)",
        "anthropic",
        "anthropics/claude-code/issues/49537",
        unless=r"context length|model length|max message tokens|tokens? > \d",
    ),
    row(
        "tool-schema",
        Kind.BAD_REQUEST,
        r"too many (?:states for serving|tools|functions|cache_control|stop sequences)"
        r"|schema[^.\n]{0,40}(?:too (?:large|complex|deep|long|many)|exceeds?)"
        r"|(?:tool|function)s?(?:\.\d+)?[^.\n]{0,60}(?:name|description)[^.\n]{0,40}"
        r"(?:too long|exceeds?|at most|longer than)|blocks with cache_control may be provided"
        r"|(?:number of|maximum) (?:tools|functions|function declarations)"
        r"|compiled grammar is too large|unable to generate parser|error parsing grammar",
        "gemini, anthropic, llama.cpp",
        "googleapis/python-genai/issues/660",
    ),
    row(
        "tool-pairs",
        Kind.BAD_REQUEST,
        r"tool_use_?id|tool_call_?id|`?tool_(?:use|result)`? (?:ids? )?(?:blocks?|were found)"
        r"|tool_calls?['`\"]? must be followed|must be a response to|tool call result does not follow"
        r"|unexpected `?tool|function (?:call|response) (?:turn|parts?)",
        "anthropic, openai, minimax",
        "openclaw/openclaw/issues/4739",
    ),
    row(
        "thinking-blocks",
        Kind.BAD_REQUEST,
        r"`?(?:redacted_)?thinking`?[^.\n]{0,60}(?:cannot be modified|signature|must (?:start|match))"
        r"|invalid[^.\n]{0,20}signature in `?thinking|invalid_encrypted_content"
        r"|max_tokens`? must be greater than `?thinking|budget_tokens",
        "anthropic",
        "anthropics/claude-code/issues/13692",
    ),
    row(
        "unreadable-request",
        Kind.BAD_REQUEST,
        r"not valid json|invalid json|surrogate|json (?:parse|decode) error|could not parse the json"
        r"|failed to (?:parse|deserialize|decode) (?:the )?(?:request|json|body)|malformed (?:json|request)"
        r"|invalid (?:utf-?8|unicode)|unexpected end of (?:json|input)|请求体.{0,8}(?:解析|格式)",
        "anthropic",
        "anthropics/claude-code/issues/69927",
    ),
    row(
        "empty-content",
        Kind.BAD_REQUEST,
        r"non-?empty(?: content)?|must not be empty|content is empty|text content blocks must contain"
        r"|roles must alternate|system message must be at the beginning|final assistant (?:content|mess)"
        r"|no user query found|invalid role|内容不能为空",
        "anthropic",
        "anthropics/claude-code/issues/62396",
    ),
    row(
        "parameter",
        Kind.BAD_REQUEST,
        r"(?:unsupported|unknown|unrecognized|unexpected)[_ ](?:request )?(?:parameter|argument|field"
        r"|keyword|keys?)|extra inputs are not permitted|extra_forbidden|extra fields not permitted"
        r"|cannot be set at the same time|mutually exclusive|is not supported with this model"
        r"|below minimum value|(?:field|parameter) (?:is )?required|input should be (?:a valid|great)",
        "openai, volcengine",
        "HKUDS/nanobot/issues/2548",
        unless=r"above maximum value|expected a value <=",
    ),
)

_INPUT_COUNTED = (
    r"input tokens|in the messages|prompt contains|input messages|in your prompt|input length and"
    r"|inputs`? tokens|context limit: \d|text input|tokens in request"
)
OUTPUT_RULES = (
    row(
        "output-ended-without-text",
        Kind.OUTPUT_ENDED,
        r"could not finish the message because max_tokens|(?:max_tokens or )?model output limit was"
        r" reached|exceeded the \d+ output token maximum",
        "openai, anthropic",
        "anthropics/claude-code/issues/30181",
    ),
    row(
        "output-above-model",
        Kind.OUTPUT_CAP,
        r"supports at most [\d,]+ (?:completion |output )?tokens|supports at most [\d,]+$"
        r"|maximum allowed number of output tokens|maximum tokens you requested exceeds?"
        r"|(?:max_(?!total)(?:\w+_)?tokens|maxoutputtokens|max_output_tokens|output tokens?)\W"
        r"[^.\n]{0,120}?(?:too large|too high|exceeds?|range|at most|<=|≤|less than or equal"
        r"|(?:should|must) be (?:less|lower|between)|above maximum|not (?:be )?greater|超|大于|范围)"
        r"|(?:range|valid range) of max_(?:\w+_)?tokens|maxoutputtokens value of \d+",
        "openai, anthropic, deepseek, dashscope-qwen, vertex-gemini, groq, bedrock, volcengine",
        "ChatGPTNextWeb/NextChat/issues/4964",
        unless=_INPUT_COUNTED + r"|context (?:window|length|limit)",
    ),
    row(
        "output-field",
        Kind.OUTPUT_CAP,
        r"(?s)(?=.*max_(?:completion_|output_|new_)?tokens)(?=.*(?:less than or equal|less_than_equal"
        r"|<=|maximum allowed is|maximum value|too large|exceeds))",
        "any",
        GENERAL,
        unless=_INPUT_COUNTED + r"|context (?:window|length|limit)|prompt",
    ),
    row(
        "output-maximum",
        Kind.OUTPUT_CAP,
        r"max(?:imum)? (?:number of )?(?:output|completion) tokens?",
        "any",
        GENERAL,
        unless=_INPUT_COUNTED + r"|context (?:window|length|limit)",
    ),
    row(
        "chinese-output",
        Kind.OUTPUT_CAP,
        r"(?:输出|生成)[^。\n]{0,20}(?:超过|超出|过大|过长|不能大于|不得超过)",
        "proxies",
        GENERAL,
        unless=r"输入|上下文",
    ),
)

TRANSPORT = (
    row(
        "timeout",
        Kind.TIMEOUT,
        r"deadline[_ ]?exceeded|timed?[ -]?out|time-out|timeout|request_timeout|超时|タイムアウト",
        "openai-compatible",
        "langgenius/dify/issues/35485",
    ),
    row(
        "cancelled",
        Kind.CANCELLED,
        r"context cancell?ed|request (?:was )?(?:aborted|cancell?ed)|operation was (?:aborted|cancell?ed)"
        r"|client (?:disconnected|closed request)",
        "openai-compatible",
        "kaitranntt/ccs/issues/279",
    ),
    row(
        "unreachable",
        Kind.UNREACHABLE,
        r"econnrefused|econnreset|enotfound|eai_again|epipe|connection (?:refused|reset|error|aborted"
        r"|closed)|getaddrinfo|name or service not known|nodename nor servname|no route to host"
        r"|network is unreachable|name resolution|fetch failed|failed to fetch|socket hang up"
        r"|connect error|disconnect/reset|could not connect|all connection attempts failed"
        r"|bad_record_mac|无法连接|连接(?:失败|被拒绝)",
        "local",
        "Gitlawb/openclaude/issues/1042",
    ),
    row(
        "certificate",
        Kind.UNSUPPORTED,
        r"certificate[_ ]verify[_ ]failed|self[- ]signed certificate|unable to get local issuer",
        "local",
        GENERAL,
    ),
    row(
        "broken-stream",
        Kind.MALFORMED,
        r"incomplete (?:chunked read|message|response|read)|peer closed connection|\bstream (?:ended|closed"
        r"|disconnected|error|interrupted)|server disconnected|premature(?:ly)? (?:close|end)"
        r"|unexpected eof|non-json sse|remoteprotocolerror|invalid or incomplete response",
        "openai",
        "openai/codex/issues/4116",
        not_statuses=(500, 502, 503, 504),
    ),
)

RATES = (
    row(
        "rate",
        Kind.RATE_LIMIT,
        r"rate[-_ ]?limit|too[_ ]many[_ ](?:concurrent )?requests|throttl|slow down|rate increased too"
        r"|resource[-_ ]?(?:has been )?exhausted|quota exceeded|exceeded (?:your |the )?quota|quota limit"
        r"|concurrency limit|request limit (?:exceeded|reached)|(?:allocated|service) ?quota|rate_exceeded"
        r"|请求.{0,8}(?:过于频繁|过快|频率)|速率限制|限流|并发.{0,8}(?:超|限)|配额|リクエストが多すぎ",
        "all",
        "zai-org/GLM-5/issues/78",
    ),
)

SERVERS = (
    row(
        "overloaded",
        Kind.SERVER,
        r"overloaded|over(?: |-)?capacity|at capacity|out of capacity|server (?:is )?busy"
        r"|service (?:is )?(?:temporarily )?unavailable|serviceunavailable|currently loading"
        r"|modelnotready|model is not ready|temporarily unavailable|engine_overloaded"
        r"|服务器?(?:繁忙|过载|不可用)|系统繁忙|稍后(?:再试|重试)",
        "anthropic, deepseek, huggingface-tgi",
        "anthropics/anthropic-sdk-typescript/issues/346",
    ),
    row(
        "crashed",
        Kind.SERVER,
        r"internal[_ ]server[_ ]error|internal_error|internal error|server_error|api_error|bad gateway"
        r"|runner (?:crashed|process)|upstream (?:error|connect)|internalserverexception"
        r"|model_?error|unknown error|服务器内部错误|内部错误",
        "ollama, openai",
        "earendil-works/pi/blob/main/packages/ai/test/overflow.test.ts",
        not_statuses=(400, 402, 403, 404, 405, 413, 422, 431),
    ),
)

ONLY_PEOPLE = (
    row(
        "model",
        Kind.UNSUPPORTED,
        r"model[_ ]not[_ ](?:found|exist)|model [^.\n]{0,60}(?:not found|does not exist|not supported)"
        r"|no such model|unknown model|is not a valid model|invalid model\b|model_decommissioned|模型不存在",
        "all",
        GENERAL,
    ),
    row(
        "policy",
        Kind.UNSUPPORTED,
        r"content[_ ](?:filter|policy)|responsibleaipolicy|usage polic|safety system|data_?inspection"
        r"|flagged (?:by|for)|guardrail|content management policy|敏感|不合规",
        "azure-openai, openai, openrouter",
        GENERAL,
    ),
)

TABLE: tuple[Refusal, ...] = (
    *CONFIGURATION,
    *ACCOUNT,
    *OVER_TIME,
    *REQUEST_RULES,
    *OUTPUT_RULES,
    *OVERFLOWS,
    *TRANSPORT,
    *RATES,
    *WEAK_OVERFLOWS,
    *SERVERS,
    *ONLY_PEOPLE,
)
"""Every wording, in the order of precedence."""


def find_refusal(text: str, statuses: tuple[int, ...]) -> Refusal | None:
    """The first row of the table that fits, None for a wording no row knows."""
    return next((row for row in TABLE if row.fits(text, statuses)), None)
