"""Long-term memory: what is worth keeping after a task, and when it is brought back.

Records are Markdown files a person can read, edit and commit. `MemoryStore` keeps them, with every
change in a journal first; the gate (`judge`) is the one door for every write; `Recall` brings
records back, `Extractor`, `consolidate` and `dream` keep them up. What needs a model asks a
`SideQuery`; what needs storage takes a `MemoryStorage`; both are filled by the session.
"""

from wayfare.memory.candidate import Candidate, Evidence, Verdict
from wayfare.memory.consolidate import Consolidated, apply_plan, consolidate
from wayfare.memory.dream import DreamGate, Dreamt, dream, take_report
from wayfare.memory.extract import Extracted, Extractor
from wayfare.memory.gate import Existing, GateContext, judge
from wayfare.memory.history import Happening, diff, forget, history, log, redact, undo
from wayfare.memory.likeness import Utterance
from wayfare.memory.limits import MemoryLimits
from wayfare.memory.memory_store import AskFirst, MemoryStore
from wayfare.memory.notices import Offered
from wayfare.memory.recall import Prefetch, Recall, Recalled
from wayfare.memory.recall_source import RecallSource
from wayfare.memory.record import Record, RecordFile, read_record
from wayfare.memory.review import approve, decline
from wayfare.memory.scopes import project_memory, project_root, user_memory
from wayfare.memory.search import MemorySearch
from wayfare.memory.side_query import SideQuery
from wayfare.memory.storage import MemoryStorage
from wayfare.memory.tools import OWN_PREFIX, memory_tools
from wayfare.memory.transaction import Change, Written
from wayfare.memory.waiting import Waiting, drop_waiting, waiting

__all__ = [
    "OWN_PREFIX",
    "AskFirst",
    "Candidate",
    "Change",
    "Consolidated",
    "DreamGate",
    "Dreamt",
    "Evidence",
    "Existing",
    "Extracted",
    "Extractor",
    "GateContext",
    "Happening",
    "MemoryLimits",
    "MemorySearch",
    "MemoryStorage",
    "MemoryStore",
    "Offered",
    "Prefetch",
    "Recall",
    "RecallSource",
    "Recalled",
    "Record",
    "RecordFile",
    "SideQuery",
    "Utterance",
    "Verdict",
    "Waiting",
    "Written",
    "apply_plan",
    "approve",
    "consolidate",
    "decline",
    "diff",
    "dream",
    "drop_waiting",
    "forget",
    "history",
    "judge",
    "log",
    "memory_tools",
    "project_memory",
    "project_root",
    "read_record",
    "redact",
    "take_report",
    "undo",
    "user_memory",
    "waiting",
]
