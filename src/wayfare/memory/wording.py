"""What a text says about its own life: for now, just once, or from now on.

English, Chinese (both scripts), Japanese and Korean first; a few set phrases of other languages.
Words alone decide nothing: "temporary files go to /tmp" is a lasting rule, "currently running the
tests" is not. What stands in quotation marks or code is mentioned, not said, and never counts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_QUOTED = re.compile(
    r"\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|「[^」\n]{1,200}」|『[^』\n]{1,200}』|«[^»\n]{1,200}»"
    r"|‘[^’\n]{1,200}’|(?<!\w)'[^'\n]{1,200}'(?!\w)"
)
_SENTENCE = re.compile(r"[^.!?。！？;；\n]+(?:\.(?=\S)[^.!?。！？;；\n]*)*")

_TECHNICAL = r"(?! (?:keys?|tokens?|cookies?|ids?|stores?|storage|objects?|types?|tables?|queues?|names?|runners?)\b)"
_DOING = (
    r"(?:debugging|fixing|implementing|refactoring|investigating|waiting (?:for|on)|trying to"
    r"|looking (?:at|into)|in the middle of|editing|reviewing|restarting|installing|deploying)"
)
_RUNNABLE = (
    r"(?:tests?|test suite|suite|build|script|command|migration|benchmark|job|pipeline|linter)"
)

_PASSING = (
    # the session, the task, the turn at hand
    rf"\bth(?:is|e current|e present) (?:coding |chat )?(?:session|conversation|chat){_TECHNICAL}\b",
    rf"\b(?:for|in|during|within|throughout) th(?:is|e current) (?:task|turn|run|round|request){_TECHNICAL}\b",
    r"\b(?:user'?s|our|my|the|your) current task is\b(?! (?:done|finished|complete|over))|\bcurrent(?:ly)? (?:task|goal): ",
    # now and not later
    r"\bfor (?:right )?now\b(?!-)|\bfor the (?:time being|moment)\b|\bjust now\b|\bright now\b",
    r"\bjust (?:for )?(?:today|now|this (?:time|once|one))\b|\bthis (?:once|one time)\b",
    r"\bonly (?:for )?(?:today|this time|now|this once)\b|\b(?:today|this time) only\b|\bfor today\b",
    r"\buntil (?:the end of )?(?:today|tonight|tomorrow|this (?:session|task|week))\b",
    r"\b(?:a (?:moment|minute|second) ago|earlier today|this (?:morning|afternoon|evening)|tonight)\b",
    # what is going on
    rf"\b(?:currently|still|now|am|are|is) (?:re-?)?(?:running|executing) (?:\w+ ){{0,3}}{_RUNNABLE}\b",
    rf"\b{_RUNNABLE} (?:is|are) (?:still |currently |now )?running\b(?! \w)",
    rf"\b(?:currently|right now|presently|is now|am now|are now) {_DOING}\b",
    r"\bcurrently working on\b(?! (?:an? |his |her |their |my )?(?:phd|thesis|dissertation|degree|book|novel))",
    r"\b\d+ ?(?:of|/|out of) ?\d+ (?:\w+ )?(?:done|passed|failed|finished|completed?|remaining|left|to go)\b",
    r"\b(?:task|work|refactoring|migration|fix|change|job) (?:is|are) (?:still |currently )?"
    r"(?:in progress|ongoing|under way|underway|half[- ]done|not (?:yet )?(?:done|finished))\b",
    # Chinese
    r"(?:本次|当前|當前|目前这个|这个|這個|这次|這次|此次)(?:的)?(?:会话|會話|对话|對話|聊天|请求|請求)",
    r"(?:本次|这次|這次|此次|眼下的?)(?:的)?(?:任务|任務|工作)|(?:这|這|本)(?:一)?(?:轮|輪)(?!询|詢|子|胎)",
    r"(?:就|只|仅|僅)(?:限|在|用)?(?:这|這|此|本|今)(?:一)?(?:次|回|天|日)|下不为例|下不為例",
    r"今天(?:先|只|就|暂|暫|要先|主要|之内|之內)|明天再|(?:刚刚|剛剛|刚才|剛才)|请稍[候等]|請稍[候等]|稍等",
    r"(?:现在|現在|目前|当前|當前|我们|我們|用户|用戶|^|[，,、：:\s])正在(?:进行|進行|运行|運行|执行|執行|重启|重啟|编译|編譯|测试"
    r"|測試|调试|調試|修复|修復|重构|重構|安装|安裝|下载|下載|处理|處理|部署|等待|排查|开发|開發|编写|編寫|做)(?!中?的)",
    # Japanese
    r"今回(?:だけ|のみ|に限)|(?:この|今の|現在の|本)セッション(?!キー|トークン|ID|ストア)|この会話(?:では|だけ|中|限り)",
    r"(?:現在|今|今回)の(?:タスク|作業)(?!バー|キュー|ID)|(?:今日|本日)(?:だけ|のみ|のところは)|とりあえず今は|当面(?:は|の間)",
    r"(?:さっき|先ほど|ただいま)|(?:実行|作業|処理|テスト|ビルド|再起動|修正)中(?:です|だ|で、|$)",
    # Korean
    r"이번(?:에)?만|이번 (?:한 ?번|세션|대화|작업)|현재 (?:세션|대화|작업)|지금은|오늘(?:만|은 우선)|당분간|방금",
    r"(?:실행|작업|처리|테스트|빌드|수정) ?중(?:입니다|이다|이에요|$)",
    # others
    r"\b(?:por ahora|de momento|solo (?:por )?esta vez|pour l'instant|pour cette fois|cette fois seulement"
    r"|vorerst|fürs erste|nur dieses mal|nur heute|por enquanto|só desta vez|per ora|solo questa volta)\b",
    r"\b(?:пока что|только (?:в этот раз|сегодня))\b",
)
"""Said of a thing, it does not last. Nothing in the sentence can lift it."""

_RECURRING = (
    r"\bcurrent (?:task|session|conversation|turn)\b" + _TECHNICAL,
    r"\btemporarily\b|\bat the moment\b(?= (?:the user|i'?m|we'?re))",
    r"(?:当前|當前|目前的?|现在的?|現在的?)(?:任务|任務)(?!栏|欄|队列|隊列|ID|id)",
    r"(?:暂时|暫時)(?!性|文件|目录|目錄|变量|變量|表|数据|數據)|(?:临时|臨時)(?:先|关闭|關閉|禁用|跳过|跳過|改用|绕过|繞過|停用)",
    r"一時的に(?!作成|生成)|임시로|일단은",
)
"""Does not last either, unless the sentence is a rule for whenever it comes up."""

_LASTING = re.compile(
    r"\b(?:from (?:now|here|today|this point) on(?:wards?)?|always|never|whenever|every(?! other)|each"
    r"|in (?:the )?future|going forward|henceforth|permanently|as a rule|by default|any ?time|any more"
    r"|anymore|no longer|for good|all (?:projects|future)|ab jetzt|immer|siempre|toujours|désormais"
    r"|de ahora en adelante|всегда|никогда|sempre)\b"
    r"|总是|總是|每次|每当|每當|每个|每個|一律|始终|始終|永远|永遠|以后|以後|今后|今後|从现在|從現在|从今|從今|往后|往後"
    r"|默认|默認|統一|统一|不要再|凡是|从此|從此|一直|长期|長期"
    r"|これから|常に|いつも|毎回|必ず|デフォルト|以降|二度と"
    r"|앞으로|항상|언제나|매번|이제부터|지금부터|기본적으로|다시는|절대",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:if|when|once|unless|after|before|while|until|in case)\b|^\W*to \w"
    r"|如果|若|当(?!前|时间)|一旦|时[,，、要应應必则則请請]|的时候|的時候|之后|之後|以前|之前|遇到"
    r"|場合|たら|とき|なら|経우|경우|(?:하|되|으)면|때",
    re.IGNORECASE,
)
_ONE_OFF = re.compile(
    r"\b(?:(?:just |only )?this (?:one )?time|(?:just|only|for) (?:this )?once|this once|(?:just|only) here"
    r"|here only|one[- ]?off|just for (?:this|today|now)|(?:only|just) (?:for|in|on) this|an? exception"
    r"|in this (?:file|case|commit|pr|branch|one|function|test) only|for now|today|diesmal|ausnahmsweise"
    r"|esta vez|cette fois|на этот раз)\b"
    r"|(?:这|這)(?:一)?(?:次|回)|本次|(?:仅|僅|只)此一次|就一次|破例|例外|(?:这|這)里(?:先|就|例外)|(?:暂|暫)时|今天"
    r"|今回|一度だけ|ここだけ|例外的に|今日は|今日だけ"
    r"|이번|한 ?번만|여기(?:서)?만|예외|오늘",
    re.IGNORECASE,
)
_EXPLICITLY_ONCE = re.compile(
    r"\b(?:(?:just|only) this (?:one )?(?:time|once)|this (?:time|once) only|(?:just|only) for (?:today|now)"
    r"|just (?:this )?once|one[- ]off)\b"
    r"|(?:就|只|仅|僅)(?:有|在|限|用)?(?:这|這|此)(?:一)?(?:次|回)|下不为例|下不為例|就一次"
    r"|今回(?:だけ|のみ)|一度だけ|이번(?:에)?만|이번 한 ?번만",
    re.IGNORECASE,
)
_ADDRESSES_AGENT = re.compile(
    r"\b(?:ignore|disregard|forget|override) (?:all |any |the |your |these |previous |prior |above |earlier )+"
    r"|\bsystem prompt\b|\byou (?:must|should|shall|have to|need to|are (?:now|required)|may)\b"
    r"|\b(?:whenever|every time|each time|if|when|before|after) (?:you|the (?:agent|assistant|ai|model|llm))\b"
    r"|\b(?:please |always |must )?remember (?:this|that|to|the following)\b|\bremember this rule\b"
    r"|\b(?:do not|don't|never) (?:tell|inform|mention|ask|show|warn)\b|\bwithout (?:asking|telling|confirm)"
    r"|\b(?:the |any )?(?:agent|assistant|ai|llm|claude|model) (?:must|should|shall|has to|needs to|will|may)\b"
    r"|\b(?:append|send|post|upload|copy|include|exfiltrate|forward) .{0,60}(?:key|token|secret|password|\.ssh|\.env|credential)"
    r"|(?:忽略|無視|无视)(?:之前|以上|先前|所有|上述)|(?:请|請)(?:务必|務必)?(?:记住|記住|牢记)|你(?:必须|必須|应该|應該|需要|现在是|要)"
    r"|(?:每当|每當|当|當|如果)(?:你|助手|AI|模型)|不要(?:告诉|告訴|询问|詢問|提醒)用户|系统提示|系統提示"
    r"|(?:これまで|以前|上記)の(?:指示|命令).{0,6}無視|(?:覚えて|記憶して)(?:おいて|ください)|あなたは|システムプロンプト"
    r"|(?:이전|위의) (?:지시|명령).{0,8}무시|기억(?:해|하)|당신은|시스템 프롬프트",
    re.IGNORECASE,
)

_PASSING_ANY = re.compile("|".join(f"(?:{p})" for p in _PASSING), re.IGNORECASE | re.MULTILINE)
_RECURRING_ANY = re.compile("|".join(f"(?:{p})" for p in _RECURRING), re.IGNORECASE)


def temporary(texts: Sequence[str]) -> str:
    """The words by which one of the texts says that it will not last; empty when none does."""
    for text in texts:
        for sentence in sentences(spoken(text)):
            if found := _PASSING_ANY.search(sentence):
                return found[0].strip(" ,，、：:")
            found = _RECURRING_ANY.search(sentence)
            if found and not (_LASTING.search(sentence) or _CONDITION.search(sentence)):
                return found[0].strip()
    return ""


def one_off(texts: Sequence[str]) -> str:
    """The words by which what was said is an exception; empty where it says that it stays so."""
    said = [spoken(text) for text in texts]
    if any(_LASTING.search(text) for text in said):
        return ""
    found = next((m for text in said if (m := _ONE_OFF.search(text))), None)
    return found[0] if found else ""


def explicitly_once(texts: Sequence[str]) -> str:
    """The words by which what was said holds for one time only; empty when it may hold longer."""
    said = [spoken(text) for text in texts]
    if any(_LASTING.search(text) for text in said):
        return ""
    found = next((m for text in said if (m := _EXPLICITLY_ONCE.search(text))), None)
    return found[0] if found else ""


def lasting(text: str) -> bool:
    """Whether a text says that something holds from now on."""
    return _LASTING.search(spoken(text)) is not None


def addresses_agent(text: str) -> str:
    """The words by which a text gives an agent orders; empty when none do."""
    found = _ADDRESSES_AGENT.search(unicodedata.normalize("NFKC", text))
    return found[0] if found else ""


def spoken(text: str) -> str:
    """A text without its code and quotations, compatibility forms made plain."""
    flat = unicodedata.normalize("NFKC", text).replace("’", "'")
    return _QUOTED.sub(" ", _CODE.sub(" ", flat))


def sentences(text: str) -> list[str]:
    """A text's sentences, roughly; a dot inside of a word or number ends none."""
    return [s for found in _SENTENCE.finditer(text) if (s := found[0].strip())]
