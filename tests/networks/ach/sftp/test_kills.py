"""Whoever delivers is killed at every request, answer and mark. The next attempt ends it: one file
of the name, the right bytes, nothing left behind."""

from __future__ import annotations

import itertools
import json
import os
import signal

import pytest
from asyncssh.sftp import SFTPClientHandler

from networks.ach.sftp.bank import connected
from tests.devstack.odfi.conftest import shared  # noqa: F401
from tests.networks.ach.sftp.standin import OUTBOUND, paper, settings_for

KILLS_MIN = 40
numbers = itertools.count(10_000)
pytestmark = pytest.mark.slow


class Attempt:
    """One attempt in a process of its own, which counts its steps and dies at one of them."""

    def __init__(self, settings, file, marks, dies_at):
        self.settings, self.file, self.marks, self.dies_at = settings, file, marks, dies_at
        self.steps = 0

    def run(self):
        """The steps that were counted; None if it was killed."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            self._work(writing)
        os.close(writing)
        with os.fdopen(reading) as told:
            answer = told.read()
        _child, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            assert os.WTERMSIG(status) == signal.SIGKILL
            return None
        assert os.waitstatus_to_exitcode(status) == 0
        return int(answer)

    def _work(self, writing):
        try:
            self._count_requests()
            with connected(self.settings) as line:
                line.deliver(
                    OUTBOUND,
                    self.file.name,
                    self._chunks(),
                    before_rename=self._mark,
                    in_doubt=remembered(self.marks),
                    **self.file.told,
                )
            os.write(writing, str(self.steps).encode())
            os._exit(0)
        finally:
            os._exit(1)

    def _step(self):
        self.steps += 1
        if self.steps == self.dies_at:
            os.kill(os.getpid(), signal.SIGKILL)

    def _chunks(self):
        for start in range(0, len(self.file.content), 40_000):
            self._step()
            yield self.file.content[start : start + 40_000]

    def _mark(self, temporary):
        self._step()
        unfinished = self.marks.with_suffix(".unfinished")
        unfinished.write_text(json.dumps(temporary))
        unfinished.replace(self.marks)
        self._step()

    def _count_requests(self):
        send, take = SFTPClientHandler.send_packet, SFTPClientHandler._process_packet

        def counted_send(handler, *given):
            self._step()
            send(handler, *given)
            self._step()

        async def counted_take(handler, *given):
            self._step()
            await take(handler, *given)

        watched = {"send_packet": counted_send, "_process_packet": counted_take}
        for name, counted in watched.items():
            setattr(SFTPClientHandler, name, counted)


def remembered(marks):
    return json.loads(marks.read_text()) if marks.exists() else ""


@pytest.mark.parametrize("archives", [False, True])
def test_a_killed_delivery_is_ended_by_the_next_one(shared, tmp_path, archives):  # noqa: F811
    shared.ask("terms", archives=archives)
    settings = settings_for(shared, archive="outbound/archive")
    steps = Attempt(settings, paper(next(numbers)), tmp_path / "first", 0).run()
    assert steps >= KILLS_MIN

    for dies_at in range(1, steps + 1):
        file, marks = paper(next(numbers)), tmp_path / f"marks-{dies_at}"
        assert Attempt(settings, file, marks, dies_at).run() is None
        file.in_doubt = remembered(marks)

        file.deliver(settings)

        assert file.taken(shared) == [len(file.content)], dies_at
        place = f"{OUTBOUND}/archive" if archives else OUTBOUND
        assert shared.read(place, file.name) == file.content
        assert [name for name in shared.names(OUTBOUND) if name.endswith(".tmp")] == []


def test_one_that_is_killed_again_and_again_ends_as_well(shared, tmp_path):  # noqa: F811
    """Every attempt dies a few steps later than the one before."""
    settings = settings_for(shared)
    file, marks = paper(next(numbers)), tmp_path / "marks"
    steps = Attempt(settings, paper(next(numbers)), tmp_path / "first", 0).run()

    for dies_at in range(3, steps, 4):
        Attempt(settings, file, marks, dies_at).run()
    file.in_doubt = remembered(marks)
    file.deliver(settings)

    assert file.taken(shared) == [len(file.content)]
    assert [name for name in shared.names(OUTBOUND) if name.endswith(".tmp")] == []
