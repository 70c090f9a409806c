"""Real processes, killed with SIGKILL at every operation of real files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_a_process_killed_anywhere_leaves_what_it_acknowledged(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("kill_everywhere.py")), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > 15, "so many operations there are; a child was killed at each"
