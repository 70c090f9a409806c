"""Secrets in a text: found by rules of our own, replaced by `[secret: kind]`, never repeated.

A rule either knows a provider's form of key, or an assignment whose value looks like one. What
stands around the value (which variable, which host, which user) is kept: it is the useful rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

Scanner: TypeAlias = Callable[[str], Sequence[tuple[int, int, str]]]
"""An additional scanner: (start, end, kind) of every secret in a text, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A kind of secret and its form; only the group `secret`, or the whole match, is replaced."""

    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...] = ()
    """Pieces of which every match has one, in lower case, so that most texts are never searched
    for it; none: all are."""

    def may_be_in(self, low: str) -> bool:
        """Whether it is worth searching a text, given in lower case, for it."""
        return not self.hints or any(hint in low for hint in self.hints)


def _rule(kind: str, pattern: str, hint: str = "", flags: int = 0) -> Rule:
    return Rule(kind=kind, pattern=re.compile(pattern, flags), hints=tuple(hint.split()))


_START = r"(?<![A-Za-z0-9])"

RULES: tuple[Rule, ...] = (
    _rule(
        "private key",
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
        r"(?:.*?-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|[\sA-Za-z0-9+/=:,\\-]*)",
        "-----begin",
        re.DOTALL,
    ),
    _rule("age key", r"AGE-SECRET-KEY-1[A-Z0-9]{20,}", "age-secret-key"),
    # Only the password goes: user, host and database are what the record is for.
    _rule(
        "password",
        r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@'\"`<>]{0,100}:"
        r"(?P<secret>(?!\[secret|\d{1,5}/)[^\s/@'\"`<>]+(?:/[^\s@'\"`<>]*)?)@(?=[\w\[])",
        "://",
    ),
    _rule("github token", _START + r"gh[pousr]_[A-Za-z0-9]{20,}", "gh"),
    _rule("github token", _START + r"github_pat_\w{20,}", "github_pat_"),
    _rule("gitlab token", _START + r"gl(?:pat|ptt|dt|rt|cbt|oas)-[\w-]{20,}", "gl"),
    _rule("aws key id", _START + r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])", "a"),
    _rule(
        "aws key",
        r"aws[\w .-]{0,20}(?:secret|key)[\w .-]{0,20}\W{1,5}(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
        "aws",
        re.IGNORECASE,
    ),
    _rule("api key", _START + r"sk-(?:[a-z]{2,8}-)?(?:api\d\d-)?[\w-]{20,}", "sk-"),
    _rule("google key", _START + r"AIza[\w-]{30,}", "aiza"),
    _rule("google secret", _START + r"GOCSPX-[\w-]{20,}", "gocspx-"),
    _rule("google token", _START + r"ya29\.[\w-]{20,}", "ya29."),
    _rule("slack token", _START + r"xox[abeoprs]-[\w-]{10,}", "xox"),
    _rule(
        "slack webhook",
        r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[\w/]{20,})",
        "hooks.slack",
    ),
    _rule("stripe key", _START + r"(?:[rsp]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}", "_"),
    _rule("npm token", _START + r"npm_[A-Za-z0-9]{30,}", "npm_"),
    _rule("pypi token", _START + r"pypi-[\w-]{20,}", "pypi-"),
    _rule("hugging face token", _START + r"hf_[A-Za-z0-9]{20,}", "hf_"),
    _rule("docker token", _START + r"dckr_(?:pat|oat)_[\w-]{20,}", "dckr_"),
    _rule("sendgrid key", _START + r"SG\.[\w-]{16,}\.[\w-]{16,}", "sg."),
    _rule("telegram token", r"(?<!\d)\d{8,10}:AA[\w-]{30,}", ":aa"),
    _rule("aliyun key id", _START + r"LTAI[A-Za-z0-9]{12,24}(?![A-Za-z0-9])", "ltai"),
    _rule("tencent key id", _START + r"AKID[A-Za-z0-9]{20,}", "akid"),
    _rule(
        "service token",
        _START
        + r"(?:dop_v1_[a-f0-9]{40,}|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{20,}|lin_api_[A-Za-z0-9]{20,}"
        r"|hv[sb]\.[\w-]{20,}|gsk_[A-Za-z0-9]{20,}|xai-[A-Za-z0-9]{20,}|r8_[A-Za-z0-9]{20,}"
        r"|ATATT3[\w=-]{20,}|dapi[a-f0-9]{32}|ntn_[A-Za-z0-9]{20,}|figd_[\w-]{20,}"
        r"|glsa_\w{20,}|nvapi-[\w-]{20,}|tskey-[\w-]{20,}|PMAK-[\w-]{20,})",
        "dop_v1_ shpat_ shpca_ shppa_ shpss_ lin_api_ hvs. hvb. gsk_ xai- r8_ atatt3 dapi ntn_ "
        "figd_ glsa_ nvapi- tskey- pmak-",
    ),
    _rule("json web token", r"eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}", "eyj"),
    _rule(
        "azure key",
        r"(?:AccountKey|SharedAccessKey|sig)=(?P<secret>[A-Za-z0-9+/%]{30,}={0,2})",
        "=",
    ),
    _rule(
        "authorization",
        r"\b(?:bearer|authorization:?\s+(?:basic|token|digest))\s+(?P<secret>(?=\S*\d)[\w.~+/=-]{12,})",
        "bearer author",
        re.IGNORECASE,
    ),
    _rule(
        "authorization",
        r"\bcurl\b[^\n]*?\s(?:-u|--user)[ =]['\"]?[^\s:'\"]+:(?P<secret>[^\s'\"\[]{4,})",
        "curl",
    ),
)
"""Keys by their form. Sources: the prefixes each provider documents for its own tokens."""

# How people call a secret, and what tells that a value follows.
_PASSWORDS = (
    r"(?:passwords?|passwd|passphrase|passcode|pwd|pass|pin"
    r"|密码|密碼|口令|パスワード|暗証番号|비밀번호|암호|пароль|contraseña|mot de passe|passwort|kennwort|senha)"
)
_TOKENS = (
    r"(?:api[\s_.-]?keys?|access[\s_.-]?(?:keys?|tokens?)|auth[\s_.-]?(?:keys?|tokens?)"
    r"|client[\s_.-]?secrets?|secret[\s_.-]?(?:access[\s_.-]?)?keys?|private[\s_.-]?keys?"
    r"|refresh[\s_.-]?tokens?|session[\s_.-]?(?:keys?|tokens?)|signing[\s_.-]?keys?"
    r"|encryption[\s_.-]?keys?|credentials?|secrets?|tokens?|apikey"
    r"|密钥|密鑰|秘钥|金鑰|令牌|凭证|秘密鍵|アクセスキー|トークン|シークレット|액세스\s?키|토큰|시크릿)"
)
_IS = (
    r"(?:\s*[\"'`]?\s*(?P<mark>:=|=>|==|[=:：＝])\s*|\s+(?P<is>is now|is|are|was|=>|est|ist|es|é)\s+"
    r"|\s*(?P<cjk>设置为|设为|改为|改成|已改为|就是|是|为|為|は|が|은|는|이)\s*)"
)
_VALUE = r"(?:(?P<quote>[\"'`“「])(?P<quoted>[^\"'`”」\n]{3,200})[\"'`”」]|(?P<bare>[^\s\"'`“”「」,;，。；、（）()<>{}]{3,200}))"
_ASSIGNED = re.compile(
    rf"(?<![\[\w.-])(?P<name>[\w.-]*?(?P<key>{_PASSWORDS}|{_TOKENS})\d*)"
    rf"(?:\s+(?:for|of|to|in|on|von|für|de|para)\s+[^\n:=]{{1,60}}?)?{_IS}{_VALUE}",
    re.IGNORECASE,
)
_KEYED_PIECES = ("pass", "pwd", "pin", "kennwort", "senha", "key", "token", "secret", "credential")
_IS_PASSWORD = re.compile(_PASSWORDS, re.IGNORECASE)
_KEYED = re.compile(rf"{_PASSWORDS}|{_TOKENS}", re.IGNORECASE)

# Values that name a secret, or its place, instead of being one.
_PLACEHOLDER = re.compile(
    r"\[secret|\$|%\w+%|<|\*{3,}|x{4,}|\.{3}|…|•{3,}|(?:your|my|the|some|an?|insert|example|sample|dummy"
    r"|placeholder|change[\s_-]?me|replace[\s_-]?me|redacted|hidden|masked|todo|tbd|none|null|nil"
    r"|undefined|true|false|empty|required|optional|string|str|int|bool|env|process\.env|os\.|import"
    r"|config|settings|secrets?|vault|keyring|keychain|1password|op://|file:|http)(?:\b|[_.:/-])",
    re.IGNORECASE,
)
_ENVIRONMENT_NAME = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_REFERENCE = re.compile(
    r"[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)+|[\w.]+\(.*|(?:[~.]{0,2}/)[\w./~-]+|[\w-]+/[\w./-]+"
)
_ONE_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")

MARK = re.compile(r"\[secret: [^\]\n]{1,40}\]")


def scrub(text: str, scanner: Scanner | None = None) -> tuple[str, tuple[str, ...]]:
    """The text with each secret replaced by `[secret: kind]`, and the kinds found, in order.

    Args:
        text: Any text; its other characters stay as they are.
        scanner: Looked through as well, after the rules.
    """
    kinds: list[str] = []
    low = text.lower()
    for rule in RULES:
        if rule.may_be_in(low):
            text = _replace(text, rule, kinds)
    if _may_be_keyed(low) and _KEYED.search(text):
        text = _replace_assigned(text, kinds)
    if scanner is not None:
        for start, end, kind in sorted(scanner(text), reverse=True):
            if not MARK.search(text[max(start - 10, 0) : end + 10]):
                kinds.append(kind)
                text = f"{text[:start]}[secret: {kind}]{text[end:]}"
    return text, tuple(kinds)


def rest(text: str) -> str:
    """What a scrubbed text still says beside its secrets and the names they stood under."""
    bare = MARK.sub(" ", text)
    bare = _KEYED.sub(" ", bare)
    return " ".join(re.findall(r"[^\W_]{2,}", bare))


@cache
def kingfisher() -> Scanner:
    """The scanner of the extra `wayfare[secrets]`, which knows several hundred providers.

    Its first use takes seconds (its rules are compiled and kept in the platform's cache folder).

    Raises:
        ImportError: the extra is not installed.
    """
    native: Any = import_module("kingfisher_sdk").Scanner()

    def spans(text: str) -> list[tuple[int, int, str]]:
        content = text.encode(errors="replace")
        found: list[tuple[int, int, str]] = []
        for finding in native.scan(content):
            if not finding.visible:
                continue
            start, end = finding.location["start_offset"], finding.location["end_offset"]
            before = len(content[:start].decode(errors="ignore"))
            length = len(content[start:end].decode(errors="ignore"))
            found.append((before, before + length, "key"))
        return found

    return spans


def _may_be_keyed(low: str) -> bool:
    """Whether a text in lower case may name a secret. Looking for pieces takes a twentieth of the
    search for the names; letters beyond ASCII, some of which match plain ones, are left to it."""
    return not low.isascii() or any(piece in low for piece in _KEYED_PIECES)


def _replace(text: str, rule: Rule, kinds: list[str]) -> str:
    named = "secret" in rule.pattern.groupindex

    def mark(found: re.Match[str]) -> str:
        kinds.append(rule.kind)
        sign = f"[secret: {rule.kind}]"
        if not named:
            return sign
        start, end = found.span("secret")
        start, end = start - found.start(), end - found.start()
        return found[0][:start] + sign + found[0][end:]

    return rule.pattern.sub(mark, text)


def _replace_assigned(text: str, kinds: list[str]) -> str:
    def mark(found: re.Match[str]) -> str:
        group = "quoted" if found["quoted"] else "bare"
        value = found[group].rstrip(".!?") if group == "bare" else found[group]
        password = _IS_PASSWORD.fullmatch(found["key"]) is not None
        firm = found["mark"] is not None or found["cjk"] is not None
        if not _secretive(value, password=password, firm=firm, quoted=group == "quoted"):
            return found[0]
        kind = "password" if password else "key"
        kinds.append(kind)
        start = found.start(group) - found.start()
        return f"{found[0][:start]}[secret: {kind}]{found[0][start + len(value) :]}"

    return _ASSIGNED.sub(mark, text)


def _secretive(value: str, *, password: bool, firm: bool, quoted: bool) -> bool:
    """Whether a value that stands where a secret would is one, and not words about it."""
    if _PLACEHOLDER.match(value) or _ENVIRONMENT_NAME.fullmatch(value):
        return False
    if not quoted and _REFERENCE.fullmatch(value):
        return False
    digits = any(c.isdigit() for c in value)
    letters = any(c.isalpha() for c in value)
    mixed = any(c.isupper() for c in value[1:]) and any(c.islower() for c in value)
    signs = any(not c.isalnum() and c not in "-_./ " for c in value)
    if not value.isascii() and not digits:
        return False
    if " " in value.strip() and not digits:
        return False
    if not password:
        long = len(value) >= 20 and " " not in value and (digits or mixed)
        return long or (len(value) >= 8 and digits and letters and " " not in value)
    if len(value) < 4:
        return False
    if digits and (letters or signs):
        return True
    if digits:
        return firm or len(value) >= 4
    if _ONE_WORD.fullmatch(value) and not mixed:
        # `password=hunter` is one, `password: required` and "the password is stored" are words.
        return quoted and firm
    return letters and (mixed or signs) and (firm or quoted)
