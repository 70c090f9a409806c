"""The SQLite file of the search index: opened, made, emptied when it is damaged."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from threading import RLock

from wayfare.errors import StoreError

VERSION = 1
"""Of the tables and of how text is split; a file with another one is emptied on opening."""

_TABLES = ("postings", "totals", "words", "counts", "documents")


class IndexFile:
    """One connection, used by one thread at a time.

    Args:
        path: The file, made with its folder when missing; `":memory:"` for none.
        busy_seconds: How long a write waits for another process before it fails.

    Raises:
        StoreError: The file cannot be opened or made.
    """

    def __init__(self, path: Path | str, *, busy_seconds: float) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._lock = RLock()
        try:
            self._db = self._open()
        except (sqlite3.Error, OSError) as failure:
            raise StoreError(f"The search index {path} cannot be opened: {failure}") from failure

    def close(self) -> None:
        """Close the connection for good."""
        with self._lock:
            self._db.close()

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection, None, None]:
        """A view of the file that no writer changes meanwhile.

        Raises:
            StoreError: The file is damaged, and was emptied, or cannot be read now.
        """
        with self._transaction("BEGIN") as db:
            yield db

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection, None, None]:
        """All or nothing of what is written inside.

        Raises:
            StoreError: As for `reading`; or another process held the file too long.
        """
        with self._transaction("BEGIN IMMEDIATE") as db:
            yield db

    def compact(self) -> None:
        """Write the file anew, without what was deleted from it.

        Raises:
            StoreError: The file is damaged, and was emptied, or another process is using it.
        """
        with self._lock:
            try:
                self._db.execute("VACUUM")
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.Error as failure:
                raise self._failed(failure) from failure

    @contextmanager
    def _transaction(self, begin: str) -> Generator[sqlite3.Connection, None, None]:
        with self._lock:
            try:
                self._db.execute(begin)
                try:
                    yield self._db
                except BaseException:
                    self._db.execute("ROLLBACK")
                    raise
                self._db.execute("COMMIT")
            except sqlite3.Error as failure:
                raise self._failed(failure) from failure

    def _failed(self, failure: sqlite3.Error) -> StoreError:
        """What to raise; a damaged file is emptied, one that is busy or full is not."""
        if not _damaged(failure):
            return StoreError(f"The search index {self.path} cannot be used now: {failure}")
        self._db.close()
        self._discard()
        self._db = self._connect()
        return StoreError(
            f"The search index {self.path} was damaged and is now empty; fill it again: {failure}"
        )

    def _open(self) -> sqlite3.Connection:
        if not self._is_in_memory:
            Path(self.path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._touch()
        try:
            return self._connect()
        except sqlite3.Error as failure:
            if not _damaged(failure):
                raise
            self._discard()
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(
            self.path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
        )
        try:
            db.execute("PRAGMA journal_mode = WAL")
            # Derived data: a power cut may lose the last writes, which `stale` then names.
            db.execute("PRAGMA synchronous = NORMAL")
            if _version(db) != VERSION:
                _create(db)
            db.execute("SELECT documents FROM totals").fetchone()
        except BaseException:
            db.close()
            raise
        return db

    def _discard(self) -> None:
        if not self._is_in_memory:
            for suffix in ("", "-wal", "-shm"):
                Path(f"{self.path}{suffix}").unlink(missing_ok=True)
            self._touch()

    def _touch(self) -> None:
        """Make the file before SQLite does, so that nobody else may read it."""
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))

    @property
    def _is_in_memory(self) -> bool:
        return str(self.path) == ":memory:"


def _damaged(failure: sqlite3.Error) -> bool:
    """Not a database, or malformed: SQLite gives these the plain class, and all others a subclass."""
    return type(failure) is sqlite3.DatabaseError


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _create(db: sqlite3.Connection) -> None:
    """Make the tables, unless another process was faster."""
    db.execute("BEGIN IMMEDIATE")
    try:
        if _version(db) != VERSION:
            for table in _TABLES:
                db.execute(f"DROP TABLE IF EXISTS {table}")
            schema = files("wayfare.lexical").joinpath("schema.sql").read_text(encoding="utf-8")
            for statement in schema.split(";\n"):
                if statement.strip():
                    db.execute(statement)
            db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
