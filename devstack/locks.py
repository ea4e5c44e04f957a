"""Advisory file locks: who owns a profile, and since the kernel drops them, never a stale one."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from types import TracebackType

POLL_SECONDS = 0.05


class FileLock:
    """A lock on a file that its holder can write a note into.

    Released by `release()` or when every process that inherited the descriptor has ended.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def acquire(self, *, shared: bool = False, timeout: float | None = None) -> bool:
        """Take the lock; wait for ever without a timeout. False when it was not free in time."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        try:
            taken = _flock(descriptor, kind, timeout)
        except BaseException:
            os.close(descriptor)
            raise
        if not taken:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @property
    def descriptor(self) -> int:
        if self._descriptor is None:
            raise RuntimeError(f"{self.path} is not locked by this process")
        return self._descriptor

    def write_note(self, text: str) -> None:
        """Replace the note in the locked file."""
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, text.encode(), 0)

    def __enter__(self) -> FileLock:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    @staticmethod
    def is_held(path: Path) -> bool:
        """Whether some process holds the lock right now."""
        probe = FileLock(path)
        free = probe.acquire(timeout=0)
        probe.release()
        return not free


def _flock(descriptor: int, kind: int, timeout: float | None) -> bool:
    if timeout is None:
        fcntl.flock(descriptor, kind)
        return True
    deadline = time.monotonic() + timeout
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(POLL_SECONDS)
        else:
            return True
