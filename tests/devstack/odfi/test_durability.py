"""A kill loses nothing and does nothing twice."""

from __future__ import annotations

import json
import signal
import sqlite3
import threading
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from devstack.odfi import client, days, intake, sending, store
from devstack.odfi.bank import Bank
from tests.devstack.odfi.conftest import START
from tests.devstack.odfi.paper import Batch, Entry, File, answers

END = datetime.fromisoformat(START) + timedelta(days=80)
LIVES = ("10001", "20010", "60001", "555", "30001", "12003")


def a_file() -> bytes:
    return File([Batch([Entry(account, 1000) for account in LIVES])]).bytes()


class TestTheClock:
    def test_is_told_to_the_copy_that_it_belongs_to(self, bank):
        def told():
            return json.loads((bank.home / client.CLOCK).read_text())

        before = told()
        bank.ask("terms", day_seconds=2.5)
        bank.days(1)

        assert told()["day_seconds"] == 2.5
        assert told()["ahead_seconds"] == pytest.approx(before["ahead_seconds"] + 86_400, abs=60)

        bank.end(signal.SIGKILL)
        (bank.home / client.CLOCK).unlink()
        bank.start()
        assert told()["ahead_seconds"] >= before["ahead_seconds"] + 86_000


class TestAKilledBank:
    def test_knows_all_that_it_knew(self, bank):
        bank.deliver("a.ach", a_file())
        bank.ask("scan")
        bank.days(1)
        before = bank.ask("book"), bank.ask("postings"), bank.ask("files")
        connection = client.connection(bank.home)
        bank.end(signal.SIGKILL)

        bank.start()

        assert (bank.ask("book"), bank.ask("postings"), bank.ask("files")) == before
        assert client.connection(bank.home) == connection
        assert bank.ask("scan") == 0
        assert bank.names("ack") == ["a.ach.1.jsonl"]

    @pytest.mark.slow
    def test_takes_a_file_once_whenever_it_dies(self, bank):
        """Killed at any moment of a file and of the days after it, twenty times."""
        content = File([Batch([Entry(LIVES[n % len(LIVES)], 1000) for n in range(3000)])]).bytes()
        bank.deliver("a.ach", content)
        for attempt in range(20):
            killer = threading.Timer(0.01 + attempt * 0.04, bank.end, [signal.SIGKILL])
            killer.start()
            try:
                for _ in range(30):
                    bank.ask("clock", banking_days=1)
            except (client.Unavailable, OSError, ValueError):
                pass
            killer.join()
            bank.start()
        bank.days(60)

        assert [each["verdict"] for each in bank.ask("files")] == ["accepted"]
        book = bank.ask("book")["entries"]
        assert len(book) == 3000
        owed = sum(
            each["effect"] + sum(answer["effect"] for answer in each["answers"]) for each in book
        )
        assert bank.balance == 100_000_000 + owed
        traces = [answer.trace for content in bank.fetch().values() for answer in answers(content)]
        assert len(traces) == len(set(traces)) == sum(len(each["answers"]) for each in book)


def live(bank: Bank) -> None:
    bank.work()
    bank.move_clock(END)


class Died(Exception):
    pass


def dies(*_arguments, **_named):
    raise Died


class TestAStep:
    """The same, at each seam between two writes, in this process."""

    @pytest.fixture
    def home(self, tmp_path):
        return tmp_path / "home"

    def open(self, home) -> Bank:
        return Bank(home, clock=datetime.fromisoformat(START))

    def deliver(self, bank: Bank, content: bytes) -> None:
        (bank.outbound / "a.ach").write_bytes(content)

    @pytest.mark.parametrize(
        ("module", "name"),
        [
            (intake, "_finish"),
            (intake, "_plan_ack"),
            (sending, "write_whole"),
            (days, "_run_instant"),
            (days, "post"),
        ],
    )
    def test_is_done_again_as_if_it_had_not_begun(self, home, monkeypatch, module, name):
        content = a_file()
        first = self.open(home)
        self.deliver(first, content)
        with monkeypatch.context() as patch:
            patch.setattr(module, name, dies)
            with pytest.raises(Died):
                live(first)
        first.db.close()

        second = self.open(home)
        live(second)

        reference = self.open(home.with_name("reference"))
        self.deliver(reference, content)
        live(reference)
        assert self.books(second) == self.books(reference)

    def books(self, bank: Bank) -> list[list[tuple[object, ...]]]:
        tables = (
            "SELECT trace, status, effect, settles_at FROM entry",
            "SELECT kind, code, amount, effect, original_trace, posts_at FROM answer",
            "SELECT day, kind, amount, balance FROM posting",
            "SELECT folder, published FROM sent ORDER BY folder, name",
        )
        return [[tuple(row) for row in bank.db.execute(table)] for table in tables]

    def test_is_written_at_once_or_not_at_all(self, home):
        bank = self.open(home)

        def count_twice():
            with store.transaction(bank.db):
                bank.db.execute("INSERT INTO counter VALUES ('x', 1)")
                bank.db.execute("INSERT INTO counter VALUES ('x', 2)")

        with pytest.raises(sqlite3.IntegrityError):
            count_twice()

        assert bank.db.execute("SELECT count(*) FROM counter").fetchone()[0] == 0


class TestAStart:
    def test_takes_what_came_while_it_was_away(self, bank):
        bank.end()
        (bank.home / "sftp" / "outbound" / "a.ach").write_bytes(a_file())

        bank.start()
        bank.wait_for(lambda: bank.names("ack") == ["a.ach.1.jsonl"])

    def test_and_a_stop_are_quick_and_idle_costs_nothing(self, bank):
        def ticks() -> int:
            stat = Path(f"/proc/{bank.process.pid}/stat").read_text().split()
            return int(stat[13]) + int(stat[14])

        bank.ask("status")
        before = ticks()
        time.sleep(3)

        assert ticks() - before <= 1
        assert bank.end() == 0
