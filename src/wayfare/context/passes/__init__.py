"""The passes, cheap first, one file each: `plan(view, ...) -> edits`. Pure: no model, no I/O.

A pass never changes a list. It returns edits; the governor commits them to the log and the next
fold applies them.
"""
