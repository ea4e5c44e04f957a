"""The desk's login says nothing in a network's name: what two people do there leaves by messages of
ours."""

from __future__ import annotations

import pytest
from django.db import ProgrammingError, transaction

from common.database import job_doors, jobs
from networks.base import Withdrawal
from networks.instant.models import Conversation, InstantEvent, Message
from tests.networks.instant.builders import RAIL, payment, waiting
from tests.networks.instant.life import hear, kinds, the

pytestmark = pytest.mark.django_db


@pytest.fixture
def paid(operator, bank, now):
    told = payment()
    bank.submit_many([told], now=now)
    operator.say(operator.transfer(now=now))
    hear()
    return told


def refused(row):
    denied = pytest.raises(ProgrammingError, match="row-level security")
    with job_doors.of(jobs.DESK), denied, transaction.atomic():
        row.save(force_insert=True)


@pytest.mark.parametrize("kind", ["final", "returned", "received", "rejected"])
def test_tells_nothing_of_a_payment(paid, bank, now, kind):
    told = {"rail_id": RAIL, "conversation": the(paid.id), "instruction_id": paid.id}
    refused(InstantEvent(**told, kind=kind, amount=1_234, occurred_at=now, due_at=now, code="AC04"))

    assert kinds(bank) == []


def test_brings_no_message_and_no_money(paid):
    message = Message.objects.filter(direction="in").get()
    message.pk, message.message_id = None, f"{message.message_id[:-1]}X"
    refused(message)
    credit = Conversation.objects.get(kind="credit")
    credit.pk = "inc_00000000000000000000000001"
    refused(credit)


def test_takes_back_what_waits(operator, bank, now):
    told = payment()
    waiting(told, now)
    with job_doors.of(jobs.DESK):
        assert bank.withdraw(told.id, now=now) == Withdrawal.WITHDRAWN

    assert kinds(bank) == ["rejected withdrawn"]
