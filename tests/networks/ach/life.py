"""All that workers and staff do with entries, from a cut-off until their money is final; and what
the bank must have in the end."""

from __future__ import annotations

from datetime import datetime, timedelta
from io import BytesIO

from django.db import IntegrityError, transaction

from desk import doers
from desk.doers import Doer
from desk.files import acts
from networks.ach import acknowledging, building, freezing
from networks.ach.acknowledgments import Verdict
from networks.ach.errors import FileInAnotherStatus
from networks.ach.long_work import LEASE
from networks.ach.models import AchEntry, OutFile
from networks.ach.nacha.items import Item
from networks.ach.nacha.reader import read
from networks.ach.nacha.records import EntryDetail
from networks.ach.sending import send_next
from networks.base import Instruction
from tenants import actors
from tests.builders import make_staff
from tests.networks.ach.builders import FREEZE, RAIL, account, instruction
from tests.networks.ach.folder import Folder

ADA, BOB = "ada@ballast.example", "bob@ballast.example"
LONG_AFTER = FREEZE + timedelta(days=20)


def an_instruction(id: str) -> Instruction:
    """A debit of an account of its own, by which the bank's files can be compared with ours."""
    return instruction(id=id, account=account(id[-15:]))


def go_through(folder: Folder, *, after_leases: bool = False) -> None:
    """Whatever can be done now is done."""
    now = FREEZE + LEASE if after_leases else FREEZE
    freezing.freeze_due(RAIL, now=now)
    while building.build_next(RAIL, now=now):
        pass
    for file in OutFile.objects.filter(status="built"):
        release(file, now)
    while send_next(RAIL, folder, now=now):
        pass
    for file in OutFile.objects.filter(status="sent"):
        acknowledging.acknowledged(
            file.pk,
            verdict=Verdict.ACCEPTED,
            rejected_batches={},
            rejected_entries={},
            now=now,
        )
    acknowledging.finish_final(now=LONG_AFTER)


def release(file: OutFile, now: datetime) -> None:
    """By two people, one of whom may have done so before a death."""
    try:
        if not file.first_released_by:
            acts.release_first(file=file, doer=_doer(ADA), now=now)
        total = file.debit_total + file.credit_total
        acts.release(file=file, total=total, doer=_doer(BOB), now=now)
    except FileInAnotherStatus:
        pass  # another worker was faster


def hire() -> None:
    """Make the two who release files. To be called before steps or calls are counted."""
    for email in (ADA, BOB):
        _doer(email)


def _doer(email: str) -> Doer:
    """The member of staff with this address, made once whichever worker asks first."""
    try:
        with transaction.atomic():
            person = make_staff(email)
    except IntegrityError:
        person = make_staff(email)
    return doers.person(actors.staff(person.pk))


def assert_each_went_once(folder: Folder) -> None:
    """The bank's files hold our entries, each once, as `assert_same` says; each is of an account of
    its own."""
    numbers = assert_same(folder)
    assert len(set(numbers)) == len(numbers)


def assert_same(folder: Folder) -> list[str]:
    """The bank's files hold exactly the entries that are ours, under their traces and for their
    amounts. Gives their account numbers."""
    at_bank = [
        (item.record.trace_number, item.record.dfi_account_number, item.record.amount)
        for content in folder.content()
        for item in read(BytesIO(content))
        if isinstance(item, Item) and isinstance(item.record, EntryDetail)
    ]
    ours = [
        (row.trace_number, row.account_number, row.amount)
        for row in AchEntry.objects.exclude(status__in=("waiting", "withdrawn"))
    ]
    assert sorted(at_bank) == sorted(ours)
    return [number for _, number, _ in at_bank]
