"""Cases from practice: a small input after a report of people who run long agents, and the right
outcome. `python -m tests.cases [FOLDER]` runs a folder of them."""
