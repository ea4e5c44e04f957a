"""Instructions go to the stand-in bank, a process of its own, and come back by its files."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import Sum

from networks.ach import building, connecting, freezing, replying, sending
from networks.ach.connecting import AtBank
from networks.ach.connection_terms import Folders
from networks.ach.inbound import deciding, fetching, reading
from networks.ach.models import AchEntry, AchEvent, AchReply, Correction, InFile, InRecord, OutFile
from networks.ach.sftp.bank import connected
from networks.base import Method, Purpose
from tests.devstack.odfi.conftest import bank  # noqa: F401
from tests.networks.ach.builders import BANK, RAIL, account, instruction
from tests.networks.ach.inbound.builders import told
from tests.networks.ach.standin import connect_rail

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

# Monday, 9:40 Eastern, as the bank's clock: five minutes before the first cut-off is frozen.
NOW = datetime(2035, 12, 3, 14, 40, tzinfo=UTC)
FREEZE = NOW + timedelta(minutes=10)
RELEASED = {"dual_release": False, "auto_release_below": 1_000_000_000}


class Rail:
    """Our side of the line, with the bank at its other end."""

    def __init__(self, bank) -> None:  # noqa: F811
        self.bank = bank
        self.now = NOW
        connect_rail(bank, **RELEASED)

    def take(self, *instructions):
        answers = BANK.submit_many(instructions, now=self.now)
        assert [each for each in answers.values() if isinstance(each, Exception)] == []

    def send(self, freeze=freezing.freeze_due):
        """Freeze, build and send what there is, and let the bank take it."""
        self.now = self.now + timedelta(minutes=10)
        for file_id in freeze(RAIL, now=self.now):
            assert building.build(file_id, now=self.now)
            file = OutFile.objects.get(pk=file_id)
            assert (file.status, file.faults) == ("released", [])
        while sending.send_next(RAIL, AtBank(RAIL), now=self.now):
            pass
        self.bank.ask("scan")

    def days(self, number, moment):
        """Let banking days pass at both ends."""
        self.bank.days(number)
        self.now = moment

    def read(self):
        """Fetch what is there and read it; how many files were new."""
        with connected(connecting.settings(RAIL)) as line:
            found = fetching.fetch(line, rail_id=RAIL, folders=Folders(), now=self.now)
        reading.read_due(now=self.now)
        return found.new


@pytest.fixture
def rail(bank):  # noqa: F811
    return Rail(bank)


def debit(number, **columns):
    return instruction(
        id=f"ftx_{number}", account=account(f"1000{number}", **columns), amount=10_000 + int(number)
    )


def entry(number):
    return AchEntry.objects.get(instruction_id=f"ftx_{number}", replaced_by=None)


def ends():
    """What became of each account, by the last five digits of its number."""
    rows = AchEntry.objects.exclude(status="requeued").values_list(
        "instruction_id", "status", "code"
    )
    return {name.removeprefix("ftx_"): (status, code) for name, status, code in rows}


TUESDAY, WEDNESDAY = NOW + timedelta(days=1), NOW + timedelta(days=2)


class TestTheWholeWay:
    def test_ends_as_the_bank_says(self, rail):
        numbers = ["10001", "12002", "13001", "14001", "60001", "61007", "62005", "71000", "00099"]
        rail.take(*map(debit, numbers))
        rail.send()

        assert rail.read() == 1
        assert set(ends().values()) == {("accepted", "")}
        rail.days(3, WEDNESDAY)
        assert rail.read() > 2
        assert rail.read() == 0

        assert ends() == {
            "10001": ("returned", "R01"),
            "12002": ("returned", "R02"),
            "13001": ("accepted", ""),
            "14001": ("accepted", ""),
            "60001": ("accepted", ""),
            "61007": ("accepted", ""),
            "62005": ("accepted", ""),
            "71000": ("accepted", ""),
            "00099": ("accepted", ""),
        }
        left = InRecord.objects.filter(status="review").values_list("kind", "code", "amount")
        assert sorted(left) == [
            ("noc", "C05", 0),
            ("received", "", 10_000 + 71_000),
            ("return", "R01", 10_000 + 13_000),
            ("return", "R01", 10_000 + 14_001),
            ("return", "R02", 10_000 + 12_002),
        ]
        corrected = Correction.objects.order_by("code").values_list("code", "status")
        assert list(corrected) == [("C01", "applied"), ("C05", "open"), ("C07", "applied")]
        told_of = AchEvent.objects.get(kind="corrected", code="C01")
        said = BANK.correction(told_of.event_id)
        assert said is not None
        assert said.account_number == "100070001"
        statements = InFile.objects.filter(folder="statements")
        assert set(statements.values_list("status", flat=True)) <= {"stored"}

    def test_counts_a_refusal_of_the_operator_once(self, rail):
        rail.take(debit("10001"), debit("00099", routing_number="061000133"))
        rail.send()
        rail.read()
        assert ends() == {"10001": ("accepted", ""), "00099": ("rejected", "R13")}

        rail.days(3, WEDNESDAY)
        rail.read()

        assert ends() == {"10001": ("returned", "R01"), "00099": ("rejected", "R13")}
        assert told(entry("00099")) == [("rejected", "R13")]
        record = InRecord.objects.get(entry=entry("00099"))
        assert (record.status, record.note) == ("applied", "the acknowledgment said so before")

    def test_leads_to_the_banks_own_books(self, rail):
        rail.take(*map(debit, ["10001", "10002", "20003", "00001", "00002", "12001"]))
        rail.take(
            replace(debit("00007"), method=Method.ACH_CREDIT, purpose=Purpose.PAYMENT, id="pay_7")
        )
        rail.send()
        rail.read()
        rail.days(3, WEDNESDAY)
        rail.read()

        kept = AchEntry.objects.filter(status__in=("accepted", "final"))
        ours = sum(row.amount if row.is_debit else -row.amount for row in kept)
        second = InRecord.objects.filter(kind="return", status="review")
        twice = second.aggregate(total=Sum("amount"))["total"]
        assert rail.bank.ask("totals")["balance"] - 100_000_000 == ours - twice

    def test_brings_back_what_was_dishonored_and_contested(self, rail):
        rail.bank.ask("terms", late_return_days=4)
        rail.take(debit("20001"), debit("21002"), debit("13003"), debit("62005"))
        rail.send()
        rail.read()
        rail.days(7, NOW + timedelta(days=9))
        rail.read()
        assert ends()["20001"] == ("returned", "R01")
        late = InRecord.objects.filter(may_dishonor=True).order_by("code")
        assert [record.code for record in late] == ["R01", "R02"]
        who = {"staff": "anna", "why": "as agreed", "now": rail.now}
        for record in late:
            deciding.dishonor(record_id=record.pk, code="R68", **who)
        short = InRecord.objects.get(kind="return", status="review")
        impossible = InRecord.objects.get(kind="noc")
        deciding.refuse_change(record_id=impossible.pk, code="C69", **who)

        rail.send(replying.freeze_due)
        rail.read()

        assert set(AchReply.objects.values_list("status", flat=True)) == {"accepted"}
        assert told(entry("20001"))[-1] == ("return_dishonored", "R68")
        rail.days(5, rail.now + timedelta(days=7))
        rail.read()
        assert told(entry("20001"))[-1] == ("return_dishonored", "R68")
        assert told(entry("21002"))[-2:] == [
            ("return_dishonored", "R68"),
            ("return_contested", "R73"),
        ]
        corrected = Correction.objects.order_by("created_at").values_list("code", "status")
        assert list(corrected) == [("C05", "refused"), ("C05", "applied")]
        assert short.status == "review"


class TestAFaultyLine:
    def test_hands_out_a_file_twice(self, rail):
        rail.take(debit("10001"))
        rail.send()
        rail.read()
        rail.bank.ask("fault", name="hand_out_twice", on=True)
        rail.days(3, WEDNESDAY)

        rail.read()

        assert ends() == {"10001": ("returned", "R01")}
        assert [kind for kind, _ in told(entry("10001"))].count("returned") == 1
        assert InFile.objects.filter(folder="inbound").count() == 1
        assert rail.bank.names("inbound") == []

    def test_hands_out_half_a_file_first(self, rail):
        rail.take(debit("10001"))
        rail.send()
        rail.read()
        rail.bank.ask("fault", name="half_file", on=True)
        rail.days(3, WEDNESDAY)
        rail.read()
        assert ends() == {"10001": ("accepted", "")}
        assert InFile.objects.get(folder="inbound").status == "review"

        rail.bank.ask("fault", name="half_file", on=False)
        rail.read()

        assert ends() == {"10001": ("returned", "R01")}

    def test_breaks_while_a_file_is_read(self, rail):
        rail.take(debit("10001"))
        rail.send()
        rail.bank.ask("fault", name="drop_download", on=True, value=100, times=1)

        rail.read()
        assert not InFile.objects.exists()
        rail.read()

        assert ends() == {"10001": ("accepted", "")}
