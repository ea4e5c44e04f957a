"""A backup from before the last files is restored: what the bank has is found, and nothing of it is
sent again."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from balance import invariants
from networks.ach import building, freezing, releasing
from networks.ach.models import AchEntry, OutFile, TraceCounter
from networks.base import Method, Purpose
from tenants.models import AuditEvent
from tests.database import backup
from tests.devstack.odfi.conftest import bank  # noqa: F401
from tests.networks.ach import life
from tests.networks.ach.builders import RAIL, account, instruction, make_rail
from tests.networks.ach.standin import TERMS, line_to
from tests.networks.ach.test_whole_way import FREEZE, NOW, RELEASED, Rail

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.timeout(300)]

WHO = ("--take-over", "--operator", "Olga", "--reason", "Restored the backup of nine o'clock")
NEXT_DAY = timedelta(days=1)


class Restored(Rail):
    """Our side, whose terms and key a command finds as well."""

    def __init__(self, bank) -> None:  # noqa: F811
        super().__init__(bank)
        self.connect()

    def connect(self, **terms):
        line = line_to(self.bank, archive=terms.pop("archive", ""))
        make_rail(**TERMS | RELEASED | terms, connection=line)

    def compare(self, *options):
        """What the command says, and whether it ends well."""
        out = StringIO()
        try:
            call_command("ach_compare", RAIL, "--json", *options, stdout=out)
        except CommandError:
            return json.loads(out.getvalue()), False
        return json.loads(out.getvalue()), True

    def at_bank(self):
        """Whose entries the bank has, each as often as it has it."""
        return sorted(each["individual_id"] for each in self.bank.entries())


@pytest.fixture
def rail(bank):  # noqa: F811
    return Restored(bank)


def order(number, *, method=Method.ACH_DEBIT):
    purpose = Purpose.TOPUP if method == Method.ACH_DEBIT else Purpose.PAYMENT
    return instruction(
        id=f"ftx_{number}",
        account=account(f"1000{number}"),
        amount=10_000 + int(number),
        individual_id=f"ID{number}",
        method=method,
        purpose=purpose,
    )


def statuses():
    rows = AchEntry.objects.values_list("instruction_id", "status")
    return {name.removeprefix("ftx_"): status for name, status in rows}


def test_nothing_is_missing_after_an_ordinary_day(rail):
    rail.take(order("00001"))
    rail.send()
    rail.read()

    told, is_well = rail.compare()

    assert is_well
    assert (told["ok"], told["unknownFiles"], told["unreadFiles"]) == (True, [], [])
    assert told["nextTrace"] == {"is": 2, "setTo": None}
    assert told["knownUntil"]["sent"] == FREEZE.isoformat()


@pytest.mark.parametrize("archives", [False, True])
def test_what_the_bank_has_is_found_and_not_sent_again(rail, archives):
    if archives:
        rail.connect(archive="outbound/archive")
        rail.bank.ask("terms", archives=True)
    rail.take(order("00001"))
    rail.send()
    rail.read()
    rail.take(order("00002"), order("00003", method=Method.ACH_CREDIT))
    kept = backup.make()
    rail.take(order("00004"))
    tomorrow(rail)
    rail.send()
    sent = OutFile.objects.get(status="sent")
    traces = dict(AchEntry.objects.values_list("instruction_id", "trace_number"))
    backup.restore(kept)
    assert statuses() == {"00001": "accepted", "00002": "waiting", "00003": "waiting"}

    told, is_well = rail.compare()

    assert not is_well
    (file,) = told["unknownFiles"]
    folder = "outbound/archive" if archives else "outbound"
    assert (file["folder"], file["name"]) == (folder, sent.remote_name)
    assert (file["size"], file["sha256"]) == (sent.size, sent.sha256)
    assert (file["entries"], file["debit"], file["credit"]) == (3, 20_006, 10_003)
    again = {each["instructionId"]: each["trace"] for each in told["mustNotBeSentAgain"]}
    assert again == {name: traces[name] for name in ("ftx_00002", "ftx_00003")}
    (lost,) = told["lost"]
    assert (lost["trace"], lost["individualId"]) == (traces["ftx_00004"], "ID00004")
    assert (lost["type"], lost["amount"], lost["accountLast4"]) == ("debit", 10_004, "0004")
    (unread,) = [each for each in told["unreadFiles"] if each["folder"] == "ack"]
    content = rail.bank.read("ack", unread["name"])
    assert unread["size"] == len(content)
    assert unread["sha256"] == hashlib.sha256(content).hexdigest()
    assert told["nextTrace"] == {"is": 2, "setTo": 5}
    assert statuses() == {"00001": "accepted", "00002": "waiting", "00003": "waiting"}

    taken, _ = rail.compare(*WHO)

    assert len(taken["takenOver"]) == 1
    row = OutFile.objects.get(pk=taken["takenOver"][0])
    assert (row.status, row.remote_name, row.sha256) == ("sent", sent.remote_name, sent.sha256)
    assert (row.size, row.built_by) == (sent.size, "Olga")
    assert TraceCounter.objects.get().next == 5
    done = AuditEvent.objects.filter(actor_type="system").values_list("action", flat=True)
    assert {"rail.traces_set", "ach_file.taken_over"} <= set(done)
    rail.read()
    assert rail.compare()[1]
    assert set(statuses().values()) == {"accepted"}
    rail.take(order("00005"))
    tomorrow(rail)
    rail.send()
    assert rail.at_bank() == ["ID00001", "ID00002", "ID00003", "ID00004", "ID00005"]
    found = [each["trace"] for each in rail.bank.entries()]
    assert len(set(found)) == len(found)
    assert invariants.check(now=rail.now, full=True).findings == []


@pytest.mark.parametrize("is_built", [False, True])
def test_a_file_that_was_made_before_the_backup_is_not_sent_again(rail, is_built):
    rail.connect(dual_release=True, auto_release_below=0)
    rail.take(order("00001"), order("00002"))
    (file_id,) = freezing.freeze_due(RAIL, now=FREEZE)
    if is_built:
        building.build(file_id, now=FREEZE)
    kept = backup.make()
    building.build(file_id, now=FREEZE)
    file = OutFile.objects.get(pk=file_id)
    life.release(file, FREEZE)
    rail.send(lambda *_args, **_named: [])
    sha256 = OutFile.objects.get(status="sent").sha256
    backup.restore(kept)

    told, is_well = rail.compare()
    assert not is_well
    assert [each["fileId"] for each in told["unknownFiles"]] == [file_id]
    assert (told["lost"], len(told["mustNotBeSentAgain"])) == ([], 2)
    rail.compare(*WHO)

    file = OutFile.objects.get()
    assert (file.status, file.sha256) == ("sent", sha256)
    rail.read()
    assert statuses() == {"00001": "accepted", "00002": "accepted"}
    assert releasing.give_up_missed(RAIL, now=rail.now + NEXT_DAY) == []
    assert rail.at_bank() == ["ID00001", "ID00002"]
    assert invariants.check(now=rail.now, full=True).findings == []


def test_an_entry_that_went_in_another_file_leaves_the_one_of_the_backup(rail):
    """Its file was taken apart after the backup, and it went with the next one."""
    rail.connect(dual_release=True, auto_release_below=0)
    rail.take(order("00001"), order("00002"))
    (file_id,) = freezing.freeze_due(RAIL, now=FREEZE)
    kept = backup.make()
    building.build(file_id, now=FREEZE)
    releasing.take_out("ftx_00002", by="ada", why="a mistake", now=FREEZE)
    rail.connect()
    rail.send()
    backup.restore(kept)

    taken, _ = rail.compare(*WHO)

    assert OutFile.objects.get(pk=file_id).status == "withdrawn"
    assert [each["instructionId"] for each in taken["mustNotBeSentAgain"]] == ["ftx_00001"]
    assert statuses() == {"00001": "sent", "00002": "waiting"}
    assert rail.compare()[1] is False  # its acknowledgment is not read
    rail.read()
    assert rail.compare()[1]


def test_our_own_accounts_side_of_a_file_is_nobodys_loss(rail):
    rail.connect(offset="balanced", offset_routing="124000313", offset_account="4000123456")
    rail.take(order("00001"))
    kept = backup.make()
    rail.send()
    assert len(rail.bank.entries()) == 2
    backup.restore(kept)

    told, _ = rail.compare(*WHO)

    assert [each["instructionId"] for each in told["mustNotBeSentAgain"]] == ["ftx_00001"]
    assert (told["lost"], told["nextTrace"]["setTo"]) == ([], 3)
    rail.read()
    assert statuses() == {"00001": "accepted"}
    assert rail.compare()[1]


def tomorrow(rail):
    rail.now = rail.now.replace(hour=NOW.hour, minute=NOW.minute) + NEXT_DAY
    rail.bank.ask("clock", to=rail.now.isoformat())


def test_what_is_no_file_of_ours_is_not_taken_over(rail):
    rail.bank.deliver("odd.ach", b"101 nothing that we would write\n")

    told, is_well = rail.compare()
    assert not is_well
    assert told["unknownFiles"][0]["faults"]
    out = StringIO()
    with pytest.raises(CommandError, match="has faults"):
        call_command("ach_compare", RAIL, *WHO, stdout=out)
    assert not OutFile.objects.exists()


def test_take_over_wants_a_name_and_a_reason():
    make_rail()
    with pytest.raises(CommandError, match="needs --operator and --reason"):
        call_command("ach_compare", RAIL, "--take-over", "--operator", "Olga")
