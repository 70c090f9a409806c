"""The agent: its loop, its tools, and what they may do (permissions, hooks, sandbox, trust)."""
