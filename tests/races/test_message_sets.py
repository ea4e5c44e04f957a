"""Sets of messages beside other workers, locked rows and a server that ends in the middle."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from balance import invariants
from balance import selectors as ledger
from balance import services as balances
from funding.models import FundingEvent, FundingTransaction
from funding.transfer import FUNDING, FundingTransfer
from networks.base import EventKind
from tests.builders import NOW, make_endpoint, make_source, make_tenant
from tests.database import owner
from tests.funding.builders import top_up
from tests.networks.scripted import ScriptedNetwork, message
from tests.races.together import rounds, together
from transfers import submission
from transfers.inbox import arrivals, messages
from transfers.inbox.models import InboundEvent, InboundOutcome
from webhooks.models import WebhookEvent

pytestmark = pytest.mark.django_db(transaction=True)


def backlog(*tenants, each, kinds=(EventKind.ACCEPTED, EventKind.FINAL)):
    """Fundings that the bank has, all of them settled there."""
    rows = []
    for tenant in tenants:
        make_endpoint(tenant)
        source = make_source(tenant)
        rows += [top_up(tenant, amount=100, source=source) for _ in range(each)]
    submission.submit_due(FUNDING, now=NOW)
    for kind in kinds:
        said = [message(row, kind, id=f"{kind}-{row.pk}") for row in rows]
        arrivals.collect(network=ScriptedNetwork(*said), id_prefix="ftx_", now=NOW)
    return rows


def assert_settled_once(rows):
    ids = [row.pk for row in rows]
    assert set(FundingTransaction.objects.values_list("status", flat=True)) == {"completed"}
    assert set(InboundEvent.objects.values_list("outcome", "note")) == {("applied", "")}
    steps = FundingEvent.objects.filter(funding__in=ids).order_by("funding_id", "sequence")
    assert list(steps.values_list("to_status", flat=True)) == [
        "reserved",
        "pending",
        "in_transit",
        "completed",
    ] * len(ids)
    assert WebhookEvent.objects.filter(type="payment.completed").count() == len(ids)
    for tenant_id in {row.tenant_id for row in rows}:
        paid_in = sum(row.amount for row in rows if row.tenant_id == tenant_id)
        funds = ledger.summary(tenant_id)
        assert (funds.available, funds.pending) == (paid_in, 0)
    found = invariants.check(now=NOW, full=True).findings
    assert {finding.code for finding in found} <= {"funding_bank"}


def rows_read(act):
    """What `act` returns, and how many messages its statements found to be applied next."""
    read = []

    def count(execute, statement, *rest):
        result = execute(statement, *rest)
        if statement.lstrip().startswith("SELECT") and "inboundevent" in statement:
            is_about_others = "GROUP BY" in statement
            read.append(0 if is_about_others else max(rest[-1]["cursor"].rowcount, 0))
        return result

    with CaptureQueriesContext(connection), connection.execute_wrapper(count):
        return act(), sum(read)


@rounds(5)
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_no_worker_reads_what_another_one_applies(acme, rival, settings, workers, round_):
    """Also where there is less than a set for each of them, and two messages of each row."""
    settings.NETWORK_MESSAGES_PER_SET = 7
    rows = backlog(acme, rival, each=20)

    def act(worker):
        return rows_read(lambda: sum(messages.apply_new(FUNDING, now=NOW) for _ in range(3)))

    results = together(act, workers=workers)

    assert [applied for applied, read in results] == [read for applied, read in results]
    assert sum(applied for applied, _ in results) + messages.apply_new(FUNDING, now=NOW) == 80
    assert_settled_once(rows)


@rounds(3)
def test_no_worker_reads_what_another_one_applies_alone(acme, rival, settings, round_):
    settings.NETWORK_MESSAGES_PER_SET = 1
    rows = backlog(acme, rival, each=6)

    def act(worker):
        return rows_read(lambda: sum(messages.apply_new(FUNDING, now=NOW) for _ in range(3)))

    results = together(act, workers=4)

    assert [applied for applied, read in results] == [read for applied, read in results]
    assert sum(applied for applied, _ in results) + messages.apply_new(FUNDING, now=NOW) == 24
    assert_settled_once(rows)


class TestABalanceThatStaysLocked:
    """Somebody keeps the balance of one tenant; the others of its set need not wait for that."""

    @pytest.fixture(autouse=True)
    def busy_between_others(self, settings):
        self.tenants = [make_tenant(name=name) for name in ("one", "busy", "three")]
        self.rows = backlog(*self.tenants, each=2, kinds=[EventKind.ACCEPTED])
        messages.apply_new(FUNDING, now=NOW)
        said = [message(row, EventKind.FINAL, id=f"settled-{row.pk}") for row in self.rows]
        arrivals.collect(network=ScriptedNetwork(*said), id_prefix="ftx_", now=NOW)

    def test_keeps_back_its_own_messages_only(self):
        sizes = []

        class Watched(FundingTransfer):
            def apply(self, effects, now):
                sizes.append(len(effects))
                super().apply(effects, now)

        with transaction.atomic():
            balances.lock_row(tenant_id=self.tenants[1].pk)
            assert together(partial(self.apply, transfer=Watched()), workers=1) == [4]

        assert sizes == [6, 4, 2]
        kept = InboundEvent.objects.filter(outcome=InboundOutcome.NEW)
        assert {event.instruction_id for event in kept} == {row.pk for row in self.rows[2:4]}
        assert set(kept.values_list("attempts", "next_attempt_at")) == {(0, NOW)}
        assert messages.apply_new(FUNDING, now=NOW) == 2
        steps = FundingTransaction.objects.values_list("status", flat=True)
        assert list(steps) == ["completed"] * 6

    def test_keeps_nobody_else_waiting_at_the_balances_of_the_set(self):
        """Whoever posts to one of them waits for a moment, not for as long as a lock may last."""
        first = self.tenants[0]

        def post(worker):
            longest = 0.0
            for number in range(40):
                begun = time.monotonic()
                balances.credit(
                    tenant_id=first.pk,
                    amount=1,
                    source_type="test",
                    source_id=str(number),
                    description="Test",
                    now=NOW,
                )
                longest = max(longest, time.monotonic() - begun)
                time.sleep(0.05)
            return longest

        def act(worker):
            return post(worker) if worker else self.apply(worker)

        with transaction.atomic():
            balances.lock_row(tenant_id=self.tenants[1].pk)
            applied, longest = together(act, workers=2)

        assert applied == 4
        assert longest < 1

    def apply(self, _, transfer=FUNDING):
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '1500ms'")
        return messages.apply_new(transfer, now=NOW)


@rounds(5)
@pytest.mark.parametrize("size", [2, 7, 200])
def test_workers_share_a_backlog_and_apply_each_message_once(acme, rival, settings, size, round_):
    settings.NETWORK_MESSAGES_PER_SET = size
    rows = backlog(acme, rival, each=12)

    def act(worker):
        return sum(messages.apply_new(FUNDING, now=NOW) for _ in range(3))

    results = together(act, workers=3)

    assert not any(isinstance(result, Exception) for result in results), results
    assert sum(results) + messages.apply_new(FUNDING, now=NOW) == 2 * len(rows)
    assert_settled_once(rows)


def test_a_set_that_its_server_ends_leaves_nothing_and_is_applied_by_the_next(acme, rival):
    rows = backlog(acme, rival, each=3)
    ended: list[Any] = []

    class Dying(FundingTransfer):
        def apply(self, effects, now):
            super().apply(effects, now)
            if not ended:
                ended.append(len(effects))
                end_our_server()

    assert messages.apply_new(Dying(), now=NOW) <= 2 * len(rows)
    connection.close()
    for _ in range(2):
        messages.apply_new(FUNDING, now=NOW)

    assert ended == [len(rows)]
    assert set(InboundEvent.objects.values_list("attempts", flat=True)) == {0}
    assert_settled_once(rows)


def test_a_row_that_somebody_holds_falls_out_and_the_others_do_not_wait(acme):
    rows = backlog(acme, each=4, kinds=[EventKind.ACCEPTED])
    held = rows[1]

    def by_a_worker():
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '200ms'")
            return messages.apply_new(FUNDING, now=NOW)
        finally:
            connection.close()

    with transaction.atomic():
        FundingTransaction.objects.select_for_update().get(pk=held.pk)
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(by_a_worker).result() == 3

    late = InboundEvent.objects.get(instruction_id=held.pk)
    assert (late.outcome, late.attempts) == (InboundOutcome.NEW, 0)
    assert messages.apply_new(FUNDING, now=NOW) == 1


def test_a_message_that_somebody_has_in_hand_is_left_alone(acme):
    rows = backlog(acme, each=4, kinds=[EventKind.ACCEPTED])

    with transaction.atomic():
        InboundEvent.objects.select_for_update().get(instruction_id=rows[2].pk)
        with ThreadPoolExecutor(1) as pool:
            theirs = pool.submit(_apply_and_leave)
            assert theirs.result() == 3


def test_sets_of_one_tenants_rows_and_top_ups_do_not_deadlock(settings):
    """A busy tenant: three workers settle, two people top up, all at once."""
    settings.NETWORK_MESSAGES_PER_SET = 5
    tenants = [make_tenant(name=name) for name in ("one", "two", "three")]
    rows = backlog(*tenants, each=8)
    sources = [row.source for row in rows[::8]]

    def act(worker):
        if worker < 3:
            return sum(messages.apply_new(FUNDING, now=NOW) for _ in range(4))
        return [top_up(source.tenant, amount=1, source=source).pk for source in sources * 3]

    results = together(act, workers=5)

    assert not any(isinstance(result, Exception) for result in results), results
    messages.apply_new(FUNDING, now=NOW)
    settled = FundingTransaction.objects.filter(pk__in=[row.pk for row in rows])
    assert set(settled.values_list("status", flat=True)) == {"completed"}
    assert set(InboundEvent.objects.values_list("outcome", "attempts")) == {("applied", 0)}


def _apply_and_leave():
    try:
        return messages.apply_new(FUNDING, now=NOW)
    finally:
        connection.close()


def end_our_server():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        (pid,) = cursor.fetchone()
    other = owner.another_connection()
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    finally:
        other.close()
