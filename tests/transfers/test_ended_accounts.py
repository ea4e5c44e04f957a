"""Transfers to accounts that ended after a first try: asked for, and not sent again."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from balance import invariants
from funding.models import FundingSource
from funding.services import sources
from networks.base import NetworkUnavailable
from tests.builders import NOW
from tests.transfers.directions import DIRECTIONS
from tests.transfers.noting_bank import Bank, read, states_of, submit
from transfers.batches import OURS
from transfers.submission import RETRY_AFTER


@pytest.fixture(autouse=True)
def books_balance(db):
    """After every story the books agree with it."""
    yield
    assert invariants.check(now=NOW, full=True).findings == []


class TestWhatMayNotBeSentAnyMore:
    """Fundings whose first try got no answer, and whose bank account has ended since."""

    @pytest.fixture
    def money(self):
        return DIRECTIONS["in"]

    @pytest.fixture(autouse=True)
    def unanswered(self, acme, money, connect):
        def no_answer(answers):
            raise NetworkUnavailable("no answer")

        self.bank = connect(Bank(no_answer))
        self.ended = [money.make(acme, 100, to="000123456700") for _ in range(3)]
        self.fine = money.make(acme, 100)
        submit(money)
        source = FundingSource.objects.get(pk=self.ended[0].source_id)
        sources.note_return(source=source, return_code="R02", now=NOW)
        self.bank.what_else = lambda answers: answers

    def test_is_asked_for_beside_what_is_sent(self, money):
        submit(money, NOW + RETRY_AFTER[0])

        assert self.bank.calls[1:] == [[self.fine.pk]]
        assert sorted(self.bank.asked) == sorted(row.pk for row in self.ended)
        assert set(states_of([*self.ended, self.fine])) == {"pending"}

    def test_is_asked_no_more_once_the_network_is_silent(self, money):
        self.bank.is_deaf = True

        submit(money, NOW + RETRY_AFTER[0])

        assert len(self.bank.asked) == 1
        assert states_of([*self.ended, self.fine]) == ["reserved"] * 3 + ["pending"]
        again = NOW + RETRY_AFTER[0] + RETRY_AFTER[1]
        assert {read(row).next_attempt_at for row in self.ended} == {again}

    def submit_as_often_as_may_be(self, acme, money):
        """Until they were tried so often that the answer to a question settles them; each time
        beside one that is sent. Returns when that was."""
        now = NOW
        for wait in RETRY_AFTER:
            now += wait
            assert self.bank.asked == []
            money.make(acme, 100)
            submit(money, now)
        return now

    def test_is_asked_for_in_the_end_however_slow_the_calls_are(self, acme, money, monkeypatch):
        clock = self.stop_the_clock(monkeypatch)

        def slow(answers):
            clock[0] += OURS.total_seconds() / 2 + 0.1
            return answers

        self.bank.what_else = slow
        self.submit_as_often_as_may_be(acme, money)

        assert sorted(self.bank.asked) == sorted(row.pk for row in self.ended)
        assert set(type(self.fine).objects.values_list("status", flat=True)) == {"pending"}

    def test_is_asked_for_once_a_run_however_silent_the_network_is(self, acme, money):
        self.bank.is_deaf = True
        now = NOW
        for wait in RETRY_AFTER:
            now += wait
            self.bank.asked.clear()
            submit(money, now)

        assert sorted(self.bank.asked) == sorted(row.pk for row in self.ended)
        assert states_of([*self.ended, self.fine]) == ["reserved"] * 3 + ["pending"]

    def test_is_not_asked_for_batch_by_batch_by_a_run_that_met_silence(self, acme, money):
        self.bank.is_deaf = True
        now = NOW
        for number, wait in enumerate(RETRY_AFTER, start=1):
            now += wait
            if number == len(RETRY_AFTER):
                self.bank.capabilities = replace(self.bank.capabilities, together=1)
            self.bank.asked.clear()
            submit(money, now)

        assert len(self.bank.asked) == 1

    def test_and_the_others_are_sent_however_slow_the_questions_are(self, acme, money, monkeypatch):
        """Each leaves no time for a call, so the others are sent by a later run."""
        clock = self.stop_the_clock(monkeypatch)

        def slow(answers):
            clock[0] += OURS.total_seconds() / 2 + 0.1
            return answers

        self.bank.what_else = self.bank.what_else_found = slow
        now = self.submit_as_often_as_may_be(acme, money)
        assert len(self.bank.asked) == 1

        for wait in (RETRY_AFTER[0], RETRY_AFTER[-1], RETRY_AFTER[0], RETRY_AFTER[-1]):
            now += wait
            submit(money, now)

        assert sorted(self.bank.asked) == sorted(row.pk for row in self.ended)
        assert set(type(self.fine).objects.values_list("status", flat=True)) == {"pending"}

    def stop_the_clock(self, monkeypatch):
        clock = [time.monotonic()]
        monkeypatch.setattr(time, "monotonic", lambda: clock[0])
        return clock
