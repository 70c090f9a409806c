"""Four narrow storage protocols, and `Ref`, the address that leads back to every byte.

Nothing above this layer may assume a local file: files, memory and later a database and an
object store serve the same four protocols, under one contract suite.
"""

from wayfare.store.protocols import Blobs, Docs, Leases, Line, Log, Opened
from wayfare.store.ref import Ref

__all__ = ["Blobs", "Docs", "Leases", "Line", "Log", "Opened", "Ref"]
