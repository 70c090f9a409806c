"""`python -m tests.cases [FOLDER]`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.cases.run import HANDED, main

if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else HANDED))
