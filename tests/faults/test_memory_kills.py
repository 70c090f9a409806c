"""Real processes, killed with SIGKILL at every operation of a consolidation on real files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_a_process_killed_anywhere_leaves_the_old_set_or_the_new(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("memory_kill.py")), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    kills, *seen = ran.stdout.split()
    assert int(kills) > 20
    assert seen == ["new", "old"]
