"""Where the four storage protocols are served: local files (the default) and memory."""

from wayfare.backends.disk import Disk
from wayfare.backends.durable import Sync
from wayfare.backends.file_blobs import FileBlobs
from wayfare.backends.file_docs import FileDocs
from wayfare.backends.file_leases import FileLeases
from wayfare.backends.file_log import FileLog, is_json_line
from wayfare.backends.in_memory import (
    InMemoryBlobs,
    InMemoryDocs,
    InMemoryLeases,
    InMemoryLog,
    LogShelf,
)
from wayfare.backends.os_disk import OsDisk

__all__ = [
    "Disk",
    "FileBlobs",
    "FileDocs",
    "FileLeases",
    "FileLog",
    "InMemoryBlobs",
    "InMemoryDocs",
    "InMemoryLeases",
    "InMemoryLog",
    "LogShelf",
    "OsDisk",
    "Sync",
    "is_json_line",
]
