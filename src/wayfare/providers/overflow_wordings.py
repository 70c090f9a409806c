"""How providers say that the input is too large: one row a wording, then what they all share.

The named rows tell which wording was met and where it was read; the rows of source `general` at the
end catch the forms nobody has written down yet. `WEAK_OVERFLOWS` are words that mean an overflow
only when nothing else speaks against it (a rate, a time-out, a status of its own).
"""

from __future__ import annotations

from wayfare.providers.wording import GENERAL, Kind, Refusal, row

PI = "earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts"
PI_TESTS = "earendil-works/pi/blob/main/packages/ai/test/overflow.test.ts"
PROBES = "danny-avila/agents/blob/main/docs/context-overflow-signatures.md"
LITELLM_TESTS = (
    "BerriAI/litellm/blob/main/tests/test_litellm/litellm_core_utils/"
    "test_exception_mapping_utils.py"
)
OPENCLAW_TESTS = (
    "maxtongwang/openclaw/blob/main/src/agents/"
    "pi-embedded-helpers.islikelycontextoverflowerror.test.ts"
)
_NAMED_ONLY = r"unrecognized|extra inputs|not permitted|exceeded_behavior"
"""The words stand there as the name of a parameter, not as a reason."""


def _over(
    name: str, pattern: str, provider: str, source: str, *, unless: str | None = None
) -> Refusal:
    return row(name, Kind.OVERFLOW, pattern, provider, source, unless=unless)


CODES = (
    _over(
        "context-length-exceeded",
        r"context_?length_?exceeded",
        "openai, groq",
        "chathub-dev/chathub/issues/126",
        unless=_NAMED_ONLY,
    ),
    _over(
        "context-window-exceeded-error",
        r"context_?window_?exceeded",
        "litellm",
        "agent0ai/agent-zero/issues/1102",
        unless=_NAMED_ONLY,
    ),
    _over(
        "exceed-context-size",
        r"exceed_context_size",
        "llama.cpp",
        "ggml-org/llama.cpp/pull/15780",
    ),
    _over("context-exceeded", r"\bcontext_exceeded", "ds4", "antirez/ds4/pull/150"),
    _over("max-prompt-tokens-exceeded", r"model_max_prompt_tokens_exceeded", "github-copilot", PI),
    _over("input-too-large", r"input_too_large", "xai", "UKGovernmentBEIS/inspect_ai/pull/5208"),
    _over(
        "request-too-large",
        r"request_too_large",
        "anthropic",
        "anthropics/anthropic-sdk-python/issues/938",
    ),
    _over(
        "err-prompt-too-long",
        r"prompt_too_long|input_too_long",
        "antigravity",
        "lbjlaq/Antigravity-Manager/issues/763",
    ),
    _over(
        "context-overflow",
        r"context[_ ]overflow",
        "gateway",
        "openclaw/openclaw/pull/3188",
    ),
    _over(
        "context-too-large",
        r"context_too_large|context_length_error",
        "gateway",
        "tashfeenahmed/freellmapi/issues/873",
    ),
)

WORDINGS = (
    _over(
        "prompt-is-too-long",
        r"prompt is too long|prompt too long",
        "anthropic, bedrock, ollama, omlx, fireworks",
        "earendil-works/pi/issues/102",
    ),
    _over(
        "input-plus-max-tokens",
        r"input length and `?max_tokens`? exceed|\d ?\+ ?\d[\d,]* ?> ?\d",
        "anthropic",
        "anthropics/claude-code/issues/3622",
    ),
    _over(
        "size-exceeds-window",
        r"request size exceeds model context window",
        "anthropic",
        "Geravant/openclaw/blob/main/src/agents/pi-embedded-helpers.iscontextoverflowerror.test.ts",
    ),
    _over(
        "input-is-too-long",
        r"input is too long",
        "bedrock, replicate",
        "aws-samples/assessment-generator/issues/2",
    ),
    _over("input-tokens-exceeded", r"input tokens exceeded", "bedrock", PROBES),
    _over("prompt-exceeds-maximum", r"exceed model maximum", "bedrock", PI_TESTS),
    _over("payload-exceeds-context", r"has exceed context limit", "bedrock", LITELLM_TESTS),
    _over(
        "input-exceeds-window",
        r"input exceeds the (?:model's )?context window|exceeds the context window",
        "openai",
        "can1357/oh-my-pi/issues/44",
    ),
    _over(
        "maximum-context-length-is",
        r"maximum context length (?:is|of|\()|maximum context length for this model",
        "openai, azure-openai, deepseek, vllm, openrouter, sglang, fastchat, cloudflare",
        "Doriandarko/o1-engineer/issues/15",
    ),
    _over(
        "configured-limit",
        r"exceed the configured limit",
        "azure-openai",
        "BerriAI/litellm/issues/15968",
    ),
    _over(
        "input-token-count",
        r"input token count[^.\n]{0,30}exceeds the maximum number of",
        "gemini, vertex-gemini, bedrock",
        "google-gemini/gemini-cli/issues/14766",
    ),
    _over(
        "too-large-for-model",
        r"too large for model with \d+ maximum context",
        "mistral",
        "https://portkey.ai/error-library/context-length-exceeded-error-13710000",
    ),
    _over("maximum-prompt-length", r"maximum prompt length", "xai", "cline/cline/issues/3120"),
    _over(
        "range-of-input-length",
        r"range of input length should be",
        "dashscope-qwen",
        "agentscope-ai/QwenPaw/issues/6255",
    ),
    _over(
        "model-token-limit",
        r"exceeded model token limit",
        "moonshot",
        "MoonshotAI/kimi-cli/issues/2011",
    ),
    _over(
        "model-max-length",
        r"model max length exceeded",
        "moonshot",
        "MoonshotAI/MoonshotAI-Cookbook/issues/18",
    ),
    _over("window-exceeds-limit", r"context window exceeds limit", "minimax", PI),
    _over(
        "prompt-exceeds-max-length",
        r"prompt exceeds max length",
        "zhipu",
        "NousResearch/hermes-agent/pull/1877",
    ),
    _over(
        "more-than-max-tokens",
        r"tokens in request more than max tokens allowed",
        "zhipu",
        "anomalyco/opencode/pull/27628",
    ),
    _over(
        "prompt-tokens-seq-len",
        r"must be less than (?:or equal to )?max_seq_len",
        "siliconflow",
        "chatboxai/chatbox/issues/2060",
    ),
    _over(
        "exceeded-max-prompt-tokens",
        r"has exceeded max_prompt_tokens",
        "siliconflow",
        "leookun/cursor-byok/issues/129",
    ),
    _over(
        "available-context-size",
        r"exceeds the available context size|context size has been exceeded",
        "llama.cpp",
        "ggml-org/llama.cpp/issues/19774",
    ),
    _over(
        "requested-tokens-window",
        r"requested tokens (?:\(\d+\) )?exceed context window",
        "llama-cpp-python",
        "abetlen/llama-cpp-python/issues/416",
    ),
    _over(
        "tokens-to-keep",
        r"tokens to keep from the initial prompt|context the overflows",
        "lm-studio",
        "Gitlawb/openclaude/issues/353",
    ),
    _over(
        "longer-than-context",
        r"longer than the (?:model's context length|maximum model length)",
        "together, sglang, vllm",
        "QwenLM/Qwen3/issues/1321",
    ),
    _over(
        "maximum-allowed-length",
        r"exceeds the maximum allowed (?:input )?length",
        "sglang, openrouter",
        "sgl-project/sglang/issues/4048",
    ),
    _over(
        "inputs-plus-new-tokens",
        r"inputs`? tokens ?\+ ?`?max_new_tokens`? must be",
        "huggingface-tgi",
        "huggingface/chat-ui/issues/1149",
    ),
    _over(
        "inputs-less-than",
        r"inputs?`? must have (?:less|fewer) than \d+ tokens",
        "huggingface-tgi",
        "meta-llama/llama/issues/1103",
    ),
    _over(
        "prompt-token-count",
        r"prompt token count of [\d,]+ exceeds",
        "github-copilot",
        "jjleng/copilot-more/issues/35",
    ),
    _over(
        "current-length-is",
        r"current length is \d+ while limit is \d+",
        "cerebras",
        "cline/cline/issues/5140",
    ),
    _over(
        "reduce-length",
        r"reduce the length of the (?:messages|prompt|input)",
        "groq, cerebras",
        "OpenHands/OpenHands/issues/1902",
    ),
    _over(
        "total-number-of-tokens",
        r"total number of tokens [^.\n]{0,40}cannot exceed|size limit exceeded by \d+ tokens",
        "cohere",
        "cohere-ai/sandbox-topically/issues/4",
    ),
    _over(
        "window-is-you-requested",
        r"context window is [^.\n]{0,40}you requested",
        "gateway",
        OPENCLAW_TESTS,
    ),
    _over(
        "exceeded-window-limit",
        r"exceeded this model context window limit",
        "cloudflare",
        "cloudflare/agents/pull/1662",
    ),
    _over(
        "range-of-total-length",
        r"range of total length should be",
        "dashscope-qwen",
        "FoundationAgents/OpenManus/issues/935",
    ),
    _over(
        "following-a-prompt",
        r"to generate tokens, following a prompt of length",
        "perplexity",
        "OpenRouterTeam/ai-sdk-provider/issues/121",
    ),
    _over(
        "tokens-limit-reached",
        r"tokens_limit_reached|too large for \S+ model\. max size: \d+ tokens",
        "github-models",
        "eslint/tsc-meetings/pull/593",
    ),
    _over(
        "content-length-threshold",
        r"content_length_exceeds_threshold",
        "kiro",
        "jwadow/kiro-gateway/issues/10",
    ),
    _over(
        "max-message-tokens",
        r"exceed max message tokens|message token length exceed",
        "volcengine, dashscope-qwen",
        GENERAL,
    ),
    _over(
        "chinese-context",
        r"上下文[^。\n]{0,16}(?:过长|太长|超|溢出|不足)|压缩上下文|超出最大上下文|上下文長度",
        "proxies",
        "openclaw/openclaw/issues/22847",
        unless=r"请求频率|速率|并发|限流|配额|超时",
    ),
)

SHARED = (
    _over(
        "too-long",
        r"(?:prompt|input|conversation|context|query|message|request)s?(?: \([^)]{1,30}\))?"
        r"(?: tokens?| length| context)?(?: is| are| was)? too (?:long|large|big)",
        "any",
        GENERAL,
        unless=r"request too large for (?:model )?`?\S+`? (?:in|on)|header|request (?:entity|body) too",
    ),
    _over(
        "maximum-length",
        r"max(?:imum)? (?:context|prompt|input|sequence|model|token)s? (?:length|window|size|limit)"
        r"|maximum allowed (?:input )?(?:length|tokens?)|maximum model length"
        r"|maximum number of (?:input |prompt )?tokens|max_model_len|max_seq_len|max_prompt_tokens"
        r"|max input (?:token|length)",
        "any",
        GENERAL,
    ),
    _over(
        "beyond-context",
        r"exceed(?:s|ed|ing)?[^.\n]{0,40}?(?:context (?:window|length|size|limit)|available context"
        r"|input limit|configured limit|token limit|n_ctx|budget|model maximum|max length)"
        r"|context (?:window|length|size|limit)[^.\n]{0,30}?(?:exceed|overflow|reached|full)"
        r"|context[^.\n]{0,20}overflows|(?:longer|larger|greater|more) than (?:the )?(?:model's )?"
        r"(?:max(?:imum)? )?(?:context|tokens allowed|model length|max tokens)"
        r"|(?:prompt|input|history)[^.\n]{0,40}(?:does not|doesn't|cannot|won't) fit"
        r"|ran out of context|no (?:more )?room in (?:the )?context",
        "any",
        GENERAL,
        unless=r"deadline|context cancel",
    ),
    _over(
        "token-count",
        r"(?:tokens?|token count|token length|prompt tokens?)[^.\n]{0,60}(?:exceeds?|exceeded|cannot"
        r" exceed|more than|greater than|less than|over)[^.\n]{0,40}(?:limit of \d|maximum|max\b|limit:"
        r"|model|allowed|\d{3,} tokens)|total number of tokens|tokens? limit exceeded: ?[\d,]+ ?>"
        r"|(?:input (?:token )?|prompt )length[^.\n]{0,40}exceeds?|exceeds? (?:the )?limit of [\d,]+",
        "any",
        GENERAL,
        unless=r"your (?:[\w'-]+ )?(?:limit|quota)|output tokens? exceed|logit_bias",
    ),
    _over(
        "single-limit",
        r"(?:prompt|input|context|message|conversation)s?\b[^.\n]{0,60}?(?:longer than|exceed(?:s|ed|ing)?"
        r"|under|below|fewer than|less than|at most|limited to|up to)[^.\n]{0,40}?\d{3,} ?k? tokens?"
        r"|exceeds? (?:the )?(?:model'?s? )?(?:maximum )?context\b",
        "any",
        GENERAL,
        unless=r"output|completion|per minute|rate",
    ),
    _over(
        "shorten",
        r"reduce (?:the )?(?:length|size) of (?:the |your )?(?:input )?(?:messages|prompt|input|context)"
        r"|reduce your prompt|shorten (?:the|your) (?:prompt|input|conversation)"
        r"|provide a shorter input|using shorter or fewer inputs|using a shorter prompt",
        "any",
        GENERAL,
    ),
    _over(
        "chinese",
        r"(?:超过|超出|大于)[^。\n]{0,20}(?:上下文|最大长度|最大输入|输入长度|长度限制|token ?(?:数|限制|上限)"
        r"|最大 ?tokens?)|(?:输入|提示词|prompt|消息|请求内容|对话|文本)[^。\n]{0,24}?(?:过长|太长|超长|超限"
        r"|超[过出][^。\n]{0,12}(?:最大|限制|上限|长度|范围))|tokens?[^。\n]{0,16}(?:超限"
        r"|超[过出][^。\n]{0,10}(?:限制|上限|最大))|輸入[^。\n]{0,16}(?:過長|超過)",
        "any",
        GENERAL,
        unless=r"请求频率|速率|并发|限流|配额|超时",
    ),
    _over(
        "other-languages",
        r"コンテキスト[^。\n]{0,16}(?:超|長すぎ|オーバー)|(?:入力|プロンプト|トークン数)[^。\n]{0,20}"
        r"(?:長すぎ|超え|超過)|컨텍스트[^.\n]{0,16}초과|(?:입력|프롬프트|토큰)[^.\n]{0,20}(?:초과|너무 깁)"
        r"|контекст[^.\n]{0,30}(?:превыш|слишком)|превыш[^.\n]{0,40}(?:контекст|токенов)"
        r"|(?:kontext|eingabe|prompt)[^.\n]{0,40}(?:zu lang|überschreitet|überschritten)"
        r"|(?:contexte|entrée|invite)[^.\n]{0,40}(?:trop long|dépass)|dépass[^.\n]{0,40}contexte"
        r"|(?:contexto|entrada)[^.\n]{0,40}(?:demasiado larg|muito long|exced|supera)"
        r"|(?:excede|supera)[^.\n]{0,40}(?:contexto|tokens)",
        "any",
        GENERAL,
    ),
)

OVERFLOWS: tuple[Refusal, ...] = (*CODES, *WORDINGS, *SHARED)
"""Words that name the window, the prompt or the count of its tokens as the reason."""

_TOO_MUCH = r"(?:too (?:long|large|big)|exceed\w*|over the limit|overflow\w*|out of range)"
_SAME_SENTENCE = r"[^.\n。]{0,90}?"
_OTHER_STATUSES = (401, 402, 403, 404, 414, 429, 431)

WEAK_OVERFLOWS: tuple[Refusal, ...] = (
    row(
        "body-too-large",
        Kind.OVERFLOW,
        r"request (?:entity )?too large|(?:payload|content|entity|request body|body) too large"
        r"|request (?:body |payload )?(?:size )?exceeds? the (?:maximum|limit)|request size exceeds"
        r"|payload size|entity too large|length limit exceeded|请求体.{0,6}过大",
        "anthropic, github-copilot, nginx",
        "github/copilot-cli/issues/1032",
        unless=r"header|\buri\b",
        not_statuses=_OTHER_STATUSES,
    ),
    row(
        "too-many-tokens",
        Kind.OVERFLOW,
        r"too many (?:input |prompt )?tokens|token[_ ]limit[_ ]?(?:exceeded|reached)?\b"
        r"|(?:max(?:imum)? )?tokens? exceeded",
        "minimax, zai",
        "MiniMax-AI/MiniMax-01/issues/15",
        unless=r"wait|retry|throttl|output|must be",
        not_statuses=_OTHER_STATUSES,
    ),
    row(
        "general-overflow",
        Kind.OVERFLOW,
        rf"(?:prompt|context|conversation|history|input tokens?|messages)\b{_SAME_SENTENCE}"
        rf"\b{_TOO_MUCH}"
        rf"|{_TOO_MUCH}{_SAME_SENTENCE}\b(?:prompt|context (?:window|length|size)"
        r"|tokens? (?:limit|allowed))",
        "any",
        GENERAL,
        unless=r"rate|quota|output|max_tokens|\bname\b|\bid\b|deadline|header|\bfield|parameter",
        not_statuses=_OTHER_STATUSES,
    ),
)
