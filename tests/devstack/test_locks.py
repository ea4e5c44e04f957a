from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from devstack.locks import FileLock

HOLD_AND_DIE = """
import os, sys
from pathlib import Path
from devstack.locks import FileLock
FileLock(Path(sys.argv[1])).acquire()
os.kill(os.getpid(), 9)
"""


class TestFileLock:
    def test_has_one_holder(self, tmp_path: Path):
        first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")

        assert first.acquire(timeout=0)
        assert not second.acquire(timeout=0)
        assert FileLock.is_held(tmp_path / "lock")
        first.release()
        assert second.acquire(timeout=0)
        second.release()

    def test_may_be_shared_by_borrowers(self, tmp_path: Path):
        first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")

        assert first.acquire(shared=True, timeout=0)
        assert second.acquire(shared=True, timeout=0)
        assert not FileLock(tmp_path / "lock").acquire(timeout=0)
        first.release()
        second.release()

    def test_is_free_again_when_its_holder_is_killed(self, tmp_path: Path):
        killed = subprocess.run(
            [sys.executable, "-c", HOLD_AND_DIE, str(tmp_path / "lock")], check=False
        )

        assert killed.returncode == -9
        assert not FileLock.is_held(tmp_path / "lock")

    def test_carries_a_note_that_is_replaced_whole(self, tmp_path: Path):
        with FileLock(tmp_path / "lock") as lock:
            lock.write_note("a long note")
            lock.write_note("short")

            assert lock.path.read_text() == "short"
