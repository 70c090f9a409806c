"""Session notes: the hand-over to the next compaction, session and self."""
