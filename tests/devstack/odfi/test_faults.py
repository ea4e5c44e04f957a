"""What can be made to go wrong on the line, and that it does."""

from __future__ import annotations

import time

import asyncssh
import pytest

from devstack.odfi import client
from tests.devstack.odfi.paper import Batch, Entry, File

BROKEN = (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection, asyncssh.ConnectionLost)


def big_file() -> bytes:
    return File([Batch([Entry() for _ in range(1000)])]).bytes()


async def nothing(_sftp):
    pass


class TestTheLine:
    def test_breaks_inside_an_upload(self, bank):
        content = big_file()
        bank.ask("fault", name="drop_upload", value=40_000, times=1)

        with pytest.raises(BROKEN):
            bank.deliver("a.ach", content)

        assert bank.names("outbound") == ["a.ach.tmp"]
        assert len(bank.read("outbound", "a.ach.tmp")) <= 40_000
        bank.deliver("a.ach", content)  # once only
        assert bank.ack("a.ach")[0]["verdict"] == "accepted"

    def test_breaks_inside_a_download(self, bank):
        bank.deliver("a.ach", big_file())
        bank.ask("fault", name="drop_download", value=40_000, times=1)

        with pytest.raises(BROKEN):
            bank.read("outbound", "a.ach")

        assert bank.read("outbound", "a.ach") == big_file_of(bank)

    def test_breaks_after_a_rename(self, bank):
        bank.ask("fault", name="lost_answer", times=1)

        with pytest.raises(BROKEN):
            bank.deliver("a.ach", File().bytes())

        assert bank.names("outbound") == ["a.ach"]
        assert bank.ack("a.ach")[0]["verdict"] == "accepted"

    def test_is_not_there(self, bank):
        bank.ask("fault", name="refuse_connection")
        with pytest.raises(OSError, match=r"refused|Connect call failed"):
            bank.visit(nothing)

        bank.ask("fault", name="refuse_connection", on=False)

        bank.visit(nothing)

    def test_shows_another_host_key(self, bank):
        bank.ask("fault", name="wrong_host_key")
        with pytest.raises(asyncssh.HostKeyNotVerifiable):
            bank.visit(nothing)

        bank.ask("fault", name="all", on=False)

        bank.visit(nothing)

    def test_is_slow(self, bank):
        bank.ask("fault", name="stall", value=300, times=1)
        begun = time.monotonic()

        bank.deliver("a.ach", File().bytes())

        assert time.monotonic() - begun >= 0.3

    def test_fails_twice_for_a_test_account(self, bank):
        content = File([Batch([Entry("30002", 55)])]).bytes()

        for _ in range(2):
            with pytest.raises(BROKEN):
                bank.deliver("a.ach", content)
            assert "a.ach" not in bank.names("outbound")
        bank.deliver("a.ach", content)
        bank.days(2)

        assert bank.balance == 100_000_055


def big_file_of(bank):
    return (bank.home / "sftp" / "outbound" / "a.ach").read_bytes()


class TestTheDisk:
    def test_is_full(self, bank):
        bank.ask("fault", name="full_disk")
        with pytest.raises(asyncssh.SFTPFailure, match="no space"):
            bank.deliver("a.ach", File().bytes())

        bank.ask("fault", name="full_disk", on=False)

        bank.deliver("a.ach", File().bytes())


class TestInboundFiles:
    def test_are_cut_in_half(self, bank):
        bank.ask("fault", name="half_file", times=1)
        bank.ask("credit", amount=5)
        ((name, half),) = bank.fetch().items()

        bank.ask("fault", name="half_file", on=False)

        whole = bank.read("inbound", name)
        assert half == whole[: len(whole) // 2]

    def test_are_handed_out_twice(self, bank):
        bank.ask("fault", name="hand_out_twice", times=1)
        bank.ask("credit", amount=5)
        first, second = bank.fetch().items()

        assert second[0] == first[0].replace("again_", "") or first[0] == f"again_{second[0]}"
        assert first[1] == second[1]
        bank.ask("credit", amount=6)
        assert len(bank.fetch()) == 1


class TestAcknowledgements:
    def test_come_late(self, bank):
        bank.ask("fault", name="late_ack", value=1800, times=1)
        bank.deliver("a.ach", File().bytes())
        bank.ask("scan")
        bank.ask("clock", seconds=1790)
        assert bank.names("ack") == []

        bank.ask("clock", seconds=20)

        assert bank.names("ack") == ["a.ach.1.jsonl"]

    def test_do_not_come(self, bank):
        bank.ask("fault", name="no_ack", times=1)
        bank.deliver("a.ach", File().bytes())
        bank.days(2)
        assert bank.names("ack") == []
        assert bank.balance == 100_012_345

        bank.ask("acknowledge", file=1)

        assert bank.names("ack") == ["a.ach.1.jsonl"]

    def test_may_name_every_entry(self, bank):
        bank.ask("terms", ack_every_entry=True)

        found = bank.send(File([Batch([Entry(), Entry()])]).bytes())

        assert [each["status"] for each in found if each["type"] == "entry"] == ["accepted"] * 2


class TestSwitches:
    def test_are_known_by_name(self, shared):
        with pytest.raises(client.ControlError, match="there is no fault 'rain'"):
            shared.ask("fault", name="rain")

    def test_survive_a_restart(self, bank):
        bank.ask("fault", name="refuse_connection")
        bank.end()
        bank.start()

        with pytest.raises(OSError, match=r"refused|Connect call failed"):
            bank.visit(nothing)
        assert bank.ask("status")["faults"] == {"refuse_connection": {"times": None, "value": 0}}
