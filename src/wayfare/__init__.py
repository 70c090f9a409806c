"""wayfare keeps a long-running LLM agent on course in a finite context window."""

__version__ = "0.1.0"
