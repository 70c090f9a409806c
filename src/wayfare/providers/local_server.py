"""The process that serves a local model: `python -m wayfare.providers.local_server PATH …`.

A process of its own, because a fault in native code must not take a session with it, and because
the library writes to the terminal as it likes. It prints one line of JSON with its address and
serves until its standard input ends, which it does when the session is gone, however it went.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import Any


def serve(path: str, window_tokens: int, threads: int) -> None:
    """Load the model, print the address, serve until standard input ends."""
    # Threads that spin while they wait make the model 100 times slower beside other work.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    library: Any = import_module("xllamacpp")
    params = library.CommonParams()
    params.model.path = path
    params.n_ctx = window_tokens
    params.n_parallel = 1
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.use_jinja = params.endpoint_metrics = params.endpoint_slots = params.offline = True
    params.ui = False
    server = library.Server(params)
    print(json.dumps({"address": server.listening_address}), flush=True)
    sys.stdin.read()
    del server


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
