"""Readers of recorded sessions, one file a tool; `sniff` chooses among them."""
