"""Transfers handed to their network in one call: each is answered, and recorded, for itself."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from structlog.testing import capture_logs

from balance import invariants
from common import leases
from networks.base import Capabilities, InstructionConflict, NetworkUnavailable
from networks.sandbox.bank import SandboxBank
from networks.sandbox.models import SandboxInstruction
from tests.builders import NOW
from tests.transfers.directions import DIRECTIONS
from tests.transfers.noting_bank import Bank, read, states_of, submit
from transfers import submission
from transfers.batches import OURS
from transfers.submission import LEASE, RETRY_AFTER

SECOND = timedelta(seconds=1)


@pytest.fixture(params=DIRECTIONS)
def money(request):
    return DIRECTIONS[request.param]


@pytest.fixture(autouse=True)
def books_balance(db):
    """After every story the books agree with it."""
    yield
    assert invariants.check(now=NOW, full=True).findings == []


@pytest.mark.parametrize("count", [1, 2, 200])
def test_a_set_is_one_call(acme, money, connect, count):
    bank = connect(Bank())
    rows = [money.make(acme, 100) for _ in range(count)]

    assert submit(money) == count

    assert bank.calls == [sorted(row.pk for row in rows)]
    assert set(states_of(rows)) == {money.sent}
    assert {(read(row).attempts, read(row).lease_version) for row in rows} == {(1, 2)}
    assert SandboxInstruction.objects.filter(submissions=1).count() == count


def test_each_gets_its_own_answer(acme, money, connect):
    """Of seven, two are taken, and every other one has a trouble of its own."""
    fine, refused, silent, forgotten, contradicted, closed, last = (
        money.make(acme, amount, to=to)
        for amount, to in [
            (100, "000123456789"),
            (99, "000123456700"),
            (100, "30002"),
            (100, "000123456711"),
            (100, "000123456722"),
            (100, "000123456733"),
            (100, "000123456789"),
        ]
    )
    account = money.transfer.account(closed)
    accounts = type(account).objects.filter(pk=account.pk)
    accounts.update(account_number_token="dev:gone")

    def what_else(answers):
        answers.pop(forgotten.pk)
        other_terms = InstructionConflict("used before with other terms")
        return {**answers, contradicted.pk: other_terms, "ftx_unheard_of": answers[fine.pk]}

    bank = connect(Bank(what_else))
    methods = {
        name: replace(terms, amount_min=100)
        for name, terms in SandboxBank.capabilities.methods.items()
    }
    bank.capabilities = Capabilities(methods=methods)

    assert submit(money) == 7

    accounts.update(account_number_token=account.account_number_token)
    assert states_of([fine, last, refused]) == [money.sent, money.sent, "failed"]
    troubled = [silent, forgotten, contradicted, closed]
    assert states_of(troubled) == [money.unsent] * 4
    assert {read(row).next_attempt_at for row in troubled} == {NOW + RETRY_AFTER[0]}
    assert len(bank.calls) == 1
    assert closed.pk not in bank.calls[0]


def test_what_has_no_answer_is_sent_again_under_its_id(acme, money, connect):
    def nobody_answers(answers):
        raise NetworkUnavailable("no answer")

    bank = connect(Bank(nobody_answers))
    rows = [money.make(acme, 100) for _ in range(3)]
    submit(money)
    bank.what_else = lambda answers: answers

    submit(money, NOW + RETRY_AFTER[0])

    assert bank.calls[0] == bank.calls[1]
    assert set(states_of(rows)) == {money.sent}
    assert list(SandboxInstruction.objects.values_list("submissions", flat=True)) == [2] * 3


def test_a_network_is_handed_no_more_than_it_takes_together(acme, money, connect):
    bank = connect(Bank(together=2))
    rows = [money.make(acme, 100) for _ in range(5)]

    assert submit(money) == 5

    assert sorted(map(len, bank.calls)) == [1, 2, 2]
    assert set(states_of(rows)) == {money.sent}


def test_another_worker_is_woken_while_the_run_goes_on(acme, money, connect):
    bank = connect(Bank(together=2))
    for _ in range(5):
        money.make(acme, 100)
    calls_before = []

    submission.run(money.transfer, now=NOW, wake=lambda: calls_before.append(len(bank.calls)))

    assert calls_before == [1]
    assert len(bank.calls) == 3


def test_nobody_is_woken_for_a_silent_network(acme, money, connect):
    def nobody_answers(answers):
        raise NetworkUnavailable("no answer")

    connect(Bank(nobody_answers, together=2))
    for _ in range(5):
        money.make(acme, 100)
    woken = []

    submission.run(money.transfer, now=NOW, wake=lambda: woken.append(True))

    assert woken == []


def test_an_adapter_that_breaks_over_one_holds_up_no_other(acme, money, connect):
    first, poison, last = (money.make(acme, 100) for _ in range(3))

    def break_over_one(answers):
        if poison.pk in answers:
            raise ValueError("a bug of the adapter")
        return answers

    connect(Bank(break_over_one))
    submit(money)

    assert states_of([first, poison, last]) == [money.sent, money.unsent, money.sent]
    assert read(poison).next_attempt_at == NOW + RETRY_AFTER[0]


def test_of_a_set_without_an_answer_all_are_put_off_in_one_go(acme, money, connect):
    def no_answer(answers):
        raise NetworkUnavailable("no answer")

    connect(Bank(no_answer))
    rows = [money.make(acme, 100) for _ in range(3)]

    with capture_logs() as logged:
        submit(money)

    assert {line["event"] for line in logged} == {"network_unavailable"}
    assert states_of(rows) == [money.unsent] * 3
    assert {read(row).next_attempt_at for row in rows} == {NOW + RETRY_AFTER[0]}


class Killed(SystemExit):
    """This worker is no more."""


class TestAWorkerThatDies:
    @pytest.fixture(autouse=True)
    def three(self, acme, money):
        self.rows = [money.make(acme, 100) for _ in range(3)]

    def next_worker(self, money):
        submit(money, NOW + LEASE - SECOND)
        assert states_of(self.rows) == [money.unsent] * 3
        submit(money, NOW + LEASE)

        assert states_of(self.rows) == [money.sent] * 3
        assert SandboxInstruction.objects.count() == 3
        assert {read(row).history_length for row in self.rows} == {2}

    def test_before_the_call_leaves_all_to_the_next(self, money):
        class Dying(type(money.transfer)):  # type: ignore[misc]
            def short(self, rows):
                raise Killed

        with pytest.raises(Killed):
            submission.submit_due(Dying(), now=NOW)
        assert not SandboxInstruction.objects.exists()

        self.next_worker(money)

    def test_after_the_call_has_sent_nothing_under_another_id(self, money, connect):
        def die(answers):
            raise Killed

        bank = connect(Bank(die))
        with pytest.raises(Killed):
            submit(money)
        assert SandboxInstruction.objects.count() == 3
        bank.what_else = lambda answers: answers

        self.next_worker(money)

    def test_while_it_records_has_recorded_nothing(self, money):
        class Dying(type(money.transfer)):  # type: ignore[misc]
            def accepted_together(self, answers, now):
                super().accepted_together(list(answers)[:2], now)
                raise Killed

        with pytest.raises(Killed):
            submission.submit_due(Dying(), now=NOW)

        self.next_worker(money)


def test_what_lost_its_lease_falls_out_of_the_record(acme, money, connect):
    lost, kept = money.make(acme, 100), money.make(acme, 100)

    def somebody_claims_one(answers):
        (claimed,) = leases.claim(
            type(lost).objects.filter(pk=lost.pk), now=NOW + LEASE, limit=1, lease=LEASE
        )
        assert claimed.lease_version == 2
        return answers

    connect(Bank(somebody_claims_one))
    submit(money)

    assert states_of([lost, kept]) == [money.unsent, money.sent]
    assert (read(lost).lease_version, read(lost).next_attempt_at) == (2, NOW)


def test_what_cannot_be_recorded_holds_up_no_other(acme, money):
    first, broken, last = (money.make(acme, 100) for _ in range(3))

    class Broken(type(money.transfer)):  # type: ignore[misc]
        def accepted_together(self, answers, now):
            answers = list(answers)
            super().accepted_together(answers, now)
            if broken in [row for row, _ in answers]:
                raise RuntimeError("a bug")

    submission.submit_due(Broken(), now=NOW)

    assert states_of([first, broken, last]) == [money.sent, money.unsent, money.sent]
    assert read(broken).next_attempt_at == NOW + RETRY_AFTER[0]
    assert read(broken).history_length == 1


class TestALease:
    def test_outlasts_the_call_of_a_slow_network(self, acme, money, connect):
        row, ends = money.make(acme, 100), []

        def look(answers):
            ends.append(read(row).leased_until)
            return answers

        connect(Bank(look, answers_within=timedelta(minutes=1)))
        submit(money)

        assert ends == [NOW + OURS + timedelta(minutes=1)]

    def test_that_may_run_out_begins_no_call(self, acme, money, connect, monkeypatch):
        """Whatever comes before the call takes longer than the lease leaves it."""
        bank, clock = connect(Bank()), [time.monotonic()]
        row = money.make(acme, 100)
        monkeypatch.setattr(time, "monotonic", lambda: clock[0])

        class Slow(type(money.transfer)):  # type: ignore[misc]
            def instruction(self, row):
                clock[0] += OURS.total_seconds() / 2 + 0.1
                return super().instruction(row)

        submission.submit_due(Slow(), now=NOW)

        assert (bank.calls, read(row).status) == ([], money.unsent)
        assert read(row).next_attempt_at == NOW + RETRY_AFTER[0]

    def test_of_a_late_batch_is_as_long_as_an_early_ones(self, acme, money, connect, monkeypatch):
        """Each call takes 2 s here."""
        rows = [money.make(acme, 100) for _ in range(3)]
        ends: list[datetime] = []
        begun = round(time.monotonic())
        monkeypatch.setattr(time, "monotonic", lambda: begun + 2 * len(ends))

        def look(answers):
            (pk,) = answers
            ends.append(type(rows[0]).objects.get(pk=pk).leased_until)
            return answers

        connect(Bank(look, together=1))
        submit(money)

        assert ends == [NOW + 2 * number * SECOND + LEASE for number in range(3)]
