"""Leases as small local files, for processes of one machine or of machines that share a folder."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import msgspec

from wayfare.backends.disk import Disk, Held, reading, storing
from wayfare.backends.durable import (
    in_thread,
    write_whole,
)
from wayfare.backends.names import lease_held, safe_name
from wayfare.backends.os_disk import OsDisk
from wayfare.backends.process import ProcessMark, is_gone, this_process
from wayfare.backends.store_folder import StoreFolder
from wayfare.clock import Clock, SystemClock
from wayfare.json_text import UNREADABLE
from wayfare.store import Leases
from wayfare.store.ref import digest

LONGEST_LEASE_SECONDS = 86_400.0
"""No lease is believed for longer than a day without a renewal, whatever its file says."""

_LOCK_WAIT_SECONDS = 10.0


class _Lease(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    holder: str
    pid: int
    host: str
    started: str
    heartbeat: float
    seconds: float

    @property
    def process(self) -> ProcessMark:
        return ProcessMark(pid=self.pid, host=self.host, started=self.started)

    @property
    def expires_at(self) -> float:
        return self.heartbeat + min(self.seconds, LONGEST_LEASE_SECONDS)


class FileLeases:
    """One file `<folder>/<name>.lease` per lease, with its holder, process, machine and heartbeat.

    A lease ends when it is released, when its process has ended (or its number belongs to another
    process now), or when it was not renewed for its `seconds`. A heartbeat that lies further ahead
    than that, as after a clock was set back, counts as none.

    Args:
        folder: Made (mode 0700) when the first lease is taken.
        inside: The folder that `folder` must stand in when every link is followed; None: the one
            above it.
        sleep: Awaited with seconds between two looks; a test passes one that moves its clock.
        poll_seconds: How often a waiting caller looks.
        process: Who takes leases; None: the process that asks.
    """

    def __init__(
        self,
        folder: Path,
        *,
        inside: Path | None = None,
        disk: Disk | None = None,
        clock: Clock | None = None,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
        poll_seconds: float = 0.1,
        gitignore_in: Path | None = None,
        process: ProcessMark | None = None,
    ) -> None:
        self.folder = folder
        self._disk = disk or OsDisk()
        self._clock = clock or SystemClock()
        self._sleep = sleep
        self._poll_seconds = poll_seconds
        self._home = StoreFolder(
            folder,
            disk=self._disk,
            clock=self._clock,
            inside=inside or folder.parent,
            ignored=gitignore_in,
            flush=False,
        )
        self._process = process

    async def acquire(self, name: str, *, holder: str, seconds: float, wait_seconds: float) -> None:
        """Take the lease or renew one's own; see `Leases.acquire`.

        The same holder's name in another process is another holder.

        Raises:
            LeaseHeld: somebody else still holds it after `wait_seconds`.
            WriteFailed: the folder cannot be written.
        """
        deadline = self._clock.monotonic() + wait_seconds
        while other := await in_thread(self._try, name, holder, seconds):
            left = deadline - self._clock.monotonic()
            if left <= 0:
                raise lease_held(name, other.holder, other.expires_at, process=str(other.process))
            await self._sleep(min(self._poll_seconds, left))

    async def release(self, name: str, *, holder: str) -> None:
        """Give it back; releasing what one does not hold does nothing.

        Raises:
            WriteFailed: the file cannot be removed; the lease ends when it runs out.
        """
        # A cancelled session still gives back what it holds.
        with anyio.CancelScope(shield=True):
            await in_thread(self._release, name, holder)

    async def holder(self, name: str) -> str | None:
        """Who holds it now, or None.

        Raises:
            NotFound: the folder is there and cannot be read.
        """
        path = self._path_of(name)
        with reading(path):
            lease = self._read(path)
        return lease.holder if lease is not None and self._holds(lease) else None

    def _try(self, name: str, holder: str, seconds: float) -> _Lease | None:
        """Take the lease; returns the one that stands in the way, if one does."""
        path = self._path_of(name)
        with storing(path):
            self._home.ready()
            process = self._process or this_process()
            held = self._alone()
            try:
                lease = self._read(path)
                own = lease is not None and (lease.holder, lease.process) == (holder, process)
                if lease is not None and not own and self._holds(lease):
                    return lease
                lease = _Lease(
                    name=name.encode(errors="replace").decode(),
                    holder=holder,
                    pid=process.pid,
                    host=process.host,
                    started=process.started,
                    heartbeat=self._clock.now(),
                    seconds=seconds,
                )
                # Not flushed: a lease means nothing after a power cut.
                write_whole(
                    self._disk, path, msgspec.json.encode(lease), clock=self._clock, sync=False
                )
            finally:
                held.release()
        return None

    def _release(self, name: str, holder: str) -> None:
        path = self._path_of(name)
        with storing(path):
            if self._disk.stat(path) is None:
                return
            held = self._alone()
            try:
                lease = self._read(path)
                process = self._process or this_process()
                if lease is not None and (lease.holder, lease.process) == (holder, process):
                    self._disk.unlink(path)
            finally:
                held.release()

    def _alone(self) -> Held:
        held = self._disk.lock(
            self.folder / ".leases.lock", this_process().note(), wait_seconds=_LOCK_WAIT_SECONDS
        )
        if held is None:
            raise TimeoutError(f"the leases' lock was not free for {_LOCK_WAIT_SECONDS:g} seconds")
        return held

    def _read(self, path: Path) -> _Lease | None:
        """The lease as its file tells it; what cannot be understood is nobody's."""
        found = self._disk.stat(path)
        if found is None or found.kind != "file":
            return None
        with suppress(FileNotFoundError, *UNREADABLE):
            return msgspec.json.decode(self._disk.read(path, 0, 65_536), type=_Lease)
        return None

    def _holds(self, lease: _Lease) -> bool:
        now = self._clock.now()
        longest = min(lease.seconds, LONGEST_LEASE_SECONDS)
        return abs(now - lease.heartbeat) < longest and not is_gone(lease.process)

    def _path_of(self, name: str) -> Path:
        safe = safe_name(name, fallback="lease")
        if safe != name:
            safe = f"{safe}-{digest(name.encode(errors='surrogatepass'))[:8]}"
        return self.folder / f"{safe}.lease"


if TYPE_CHECKING:
    _: Leases = FileLeases(Path())
