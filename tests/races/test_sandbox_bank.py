"""Many workers hand the same instruction to the bank at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from functools import partial

import pytest

from networks.base import InstructionConflict, NetworkUnavailable, Withdrawal
from networks.sandbox import control
from networks.sandbox.bank import SandboxBank
from networks.sandbox.models import SandboxEvent, SandboxInstruction
from tests.database import owner
from tests.networks.asking import submit
from tests.networks.sandbox.builders import instruction
from tests.races.together import rounds, together

NOW = datetime(2026, 11, 20, 17, 0, tzinfo=UTC)
WORKERS = 8

bank = SandboxBank()
race = partial(together, workers=WORKERS)
pytestmark = pytest.mark.django_db(transaction=True)


@rounds(5)
def test_one_instruction_is_posted_once(round_):
    receipts = race(lambda _: submit(bank, instruction(), now=NOW))

    assert set(receipts) == {bank.find("ftx_1")}
    assert SandboxInstruction.objects.get().submissions == WORKERS
    assert [event.kind for event in bank.poll(now=NOW, limit=99)] == ["accepted", "final"]


@rounds(5)
def test_what_is_withdrawn_while_it_moves_either_moves_or_does_not(round_, settings):
    settings.SANDBOX_PACE = "seconds"
    submit(bank, instruction(), now=NOW)
    acts = [
        lambda: bank.withdraw("ftx_1", now=NOW),
        lambda: control.complete("ftx_1", now=NOW),
    ]

    outcomes = race(lambda worker: acts[worker % 2]())

    answers = set(outcomes[::2])
    told = [event.kind for event in bank.poll(now=NOW, limit=99)]
    assert (answers, told) in [
        ({Withdrawal.WITHDRAWN}, ["rejected"]),
        ({Withdrawal.TOO_LATE}, ["accepted", "final"]),
    ]


@rounds(5)
def test_of_two_terms_under_one_id_only_the_first_stands(round_):
    outcomes = race(lambda worker: submit(bank, instruction(amount=100 + worker % 2), now=NOW))

    receipts = [outcome for outcome in outcomes if not isinstance(outcome, Exception)]
    conflicts = [outcome for outcome in outcomes if isinstance(outcome, InstructionConflict)]
    assert (len(receipts), len(conflicts)) == (WORKERS // 2, WORKERS // 2)
    assert set(receipts) == {bank.find("ftx_1")}
    assert SandboxInstruction.objects.get().submissions == WORKERS // 2
    assert SandboxEvent.objects.count() == 2


@rounds(5)
def test_the_same_instructions_in_any_order_wait_for_each_other(round_):
    many = [instruction(id=f"ftx_{number}") for number in range(40)]

    def hand_over(worker):
        return bank.submit_many(many if worker % 2 else many[::-1], now=NOW)

    answers = race(hand_over)

    assert all(each == answers[0] for each in answers)
    assert set(SandboxInstruction.objects.values_list("submissions", flat=True)) == {WORKERS}
    assert SandboxEvent.objects.count() == 80


def test_an_outage_hits_exactly_two_calls():
    outcomes = race(lambda _: submit(bank, instruction("30002"), now=NOW))

    kinds = Counter(type(outcome).__name__ for outcome in outcomes)
    assert kinds == {"NetworkUnavailable": 2, "Accepted": WORKERS - 2}
    assert sum(isinstance(outcome, NetworkUnavailable) for outcome in outcomes) == 2
    assert SandboxEvent.objects.count() == 2


def test_one_return_wins():
    submit(bank, instruction("30001"), now=NOW)

    outcomes = race(lambda _: control.return_entry("ftx_1", now=NOW))

    assert sum(isinstance(outcome, control.ControlRefused) for outcome in outcomes) == WORKERS - 1
    assert [event.kind for event in bank.poll(now=NOW, limit=99)] == ["accepted", "returned"]


def test_a_receipt_outlives_the_process_that_got_it():
    """Killed between the bank's commit and its own: the next process gets the same receipt."""
    code = (
        "import os, signal, django; django.setup();"
        "from tests.races.test_sandbox_bank import NOW, bank, instruction, submit;"
        "submit(bank, instruction(), now=NOW);"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"DATABASE_URL": owner.address()},
        check=False,
    )

    assert killed.returncode == -signal.SIGKILL
    receipt = bank.find("ftx_1")
    assert receipt is not None
    assert submit(bank, instruction(), now=NOW) == receipt
    assert SandboxInstruction.objects.get().submissions == 2
    assert SandboxEvent.objects.count() == 2
