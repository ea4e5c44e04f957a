"""Messages in sets: what is stored is what one by one would have stored, at the cost of a few."""

from __future__ import annotations

from copy import copy

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase as Rollback
from psycopg.errors import LockNotAvailable

from balance import invariants
from balance import selectors as ledger
from funding.models import AutoFundingDecision
from funding.transfer import FUNDING, FundingTransfer
from networks.base import EventKind
from tests.builders import NOW, make_auto_funding, make_endpoint, make_tenant
from tests.networks.scripted import ScriptedNetwork, message
from tests.transfers.directions import DIRECTIONS
from transfers import submission
from transfers.inbox import arrivals, messages
from transfers.inbox.judging import WAITS_AT_MOST
from transfers.inbox.models import InboundEvent, InboundOutcome
from webhooks.models import WebhookDelivery, WebhookEvent

LATER = NOW + messages.RETRY_AFTER[0]


@pytest.fixture(params=list(DIRECTIONS.values()), ids=list(DIRECTIONS))
def money(request):
    return request.param


def store(prefix, *said):
    arrivals.collect(network=ScriptedNetwork(*said), id_prefix=prefix, now=NOW)


def sent(money, tenant, count):
    """Rows of the tenant that its bank has, each of another amount."""
    rows = [money.make(tenant, amount=1_000 + number) for number in range(count)]
    submission.submit_due(money.transfer, now=NOW)
    return rows


def report(money, rows, kind, **changes):
    store(
        money.transfer.id_prefix,
        *(message(row, kind, id=f"{kind}-{row.pk}", **changes) for row in rows),
    )


def statuses(rows):
    model = type(rows[0])
    return set(model.objects.filter(pk__in=[r.pk for r in rows]).values_list("status", flat=True))


class TestCost:
    def counted(self, money, rows, kind):
        report(money, rows, kind)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert messages.apply_new(money.transfer, now=NOW) == len(rows)
        return len(queries)

    @pytest.mark.parametrize("kind", [EventKind.ACCEPTED, EventKind.FINAL])
    def test_is_that_of_a_few_statements_however_many_messages(self, acme, rival, money, kind):
        make_endpoint(acme)
        few = sent(money, acme, 1) + sent(money, rival, 1)
        many = sent(money, rival, 30) + sent(money, acme, 10)

        costs = [self.counted(money, rows, kind) for rows in (few, many)]

        assert costs[0] == costs[1]
        # A settlement that implies its acceptance makes two moves; two more looks at the queue, one
        # at corrections of accounts, and one for the operator's lines.
        assert costs[1] <= 30


def test_rows_of_many_tenants_are_settled_at_once(acme, rival, money):
    make_endpoint(acme)
    rows = sent(money, acme, 3) + sent(money, rival, 3)
    report(money, rows, EventKind.ACCEPTED)
    report(money, rows, EventKind.FINAL)

    assert messages.apply_new(money.transfer, now=NOW) == 12

    assert statuses(rows) == {money.completed}
    assert set(InboundEvent.objects.values_list("outcome", "note")) == {("applied", "")}
    completed = WebhookEvent.objects.filter(type="payment.completed")
    assert {event.payment_id for event in completed} == {row.pk for row in rows}
    assert WebhookDelivery.objects.filter(event__in=completed).count() == 3
    found = invariants.check(now=NOW, full=True).findings
    assert {finding.code for finding in found} <= {"funding_bank", "payment_bank"}


def test_what_is_not_plain_falls_out_and_keeps_nothing_back(acme, money):
    rows = sent(money, acme, 6)
    unsent = money.make(acme, amount=77)
    settled, other_amount, rejected, elsewhere, *fine = rows
    report(money, [settled], EventKind.FINAL)
    report(money, [other_amount], EventKind.FINAL, amount=5)
    report(money, [rejected], EventKind.REJECTED, code="AC03")
    report(money, [elsewhere], EventKind.FINAL, network="elsewhere")
    report(money, [unsent, *fine], EventKind.FINAL)
    twice = message(settled, EventKind.FINAL, id="again")
    store(money.transfer.id_prefix, twice)

    assert messages.apply_new(money.transfer, now=NOW) == 4

    outcomes = dict(InboundEvent.objects.values_list("event_id", "outcome"))
    assert outcomes.pop("again") == InboundOutcome.REVIEW
    assert outcomes == {
        f"final-{settled.pk}": "applied",
        f"final-{other_amount.pk}": "review",
        f"rejected-{rejected.pk}": "applied",
        f"final-{elsewhere.pk}": "review",
        f"final-{unsent.pk}": "new",
        **{f"final-{row.pk}": "applied" for row in fine},
    }
    assert statuses([settled, *fine]) == {money.completed}
    assert statuses([other_amount, elsewhere]) == {money.sent}


class TestBroken:
    @pytest.mark.parametrize("bad", [{3}, {0, 9}, set(range(10))])
    def test_messages_are_found_and_the_others_applied(self, acme, bad):
        rows = sent(DIRECTIONS["in"], acme, 10)
        report(DIRECTIONS["in"], rows, EventKind.FINAL)
        broken = {rows[number].pk for number in bad}

        class Broken(FundingTransfer):
            def apply(self, effects, now):
                super().apply(effects, now)
                if broken & {effect.row.pk for effect in effects}:
                    raise RuntimeError("a bug")

        assert messages.apply_new(Broken(), now=NOW) == 10 - len(bad)

        failed = InboundEvent.objects.filter(outcome="new")
        assert {event.instruction_id for event in failed} == broken
        assert {event.attempts for event in failed} == {1}
        assert {event.next_attempt_at for event in failed} == {LATER}
        assert ledger.summary(acme.pk).available == sum(
            row.amount for number, row in enumerate(rows) if number not in bad
        )

    def test_ones_are_tried_alone_from_then_on(self, acme):
        rows = sent(DIRECTIONS["in"], acme, 4)
        report(DIRECTIONS["in"], rows, EventKind.FINAL)
        InboundEvent.objects.update(attempts=1)
        sizes = []

        class Watched(FundingTransfer):
            def apply(self, effects, now):
                sizes.append(len(effects))
                super().apply(effects, now)

        assert messages.apply_new(Watched(), now=NOW) == 4
        assert sizes == [1, 1, 1, 1]

    def test_databases_are_not_asked_for_each_half(self, acme):
        """A set that waited for a locked balance in vain: each message then waits once."""
        rows = sent(DIRECTIONS["in"], acme, 4)
        report(DIRECTIONS["in"], rows, EventKind.FINAL)
        sizes = []

        class Interrupted(FundingTransfer):
            def apply(self, effects, now):
                sizes.append(len(effects))
                raise OperationalError("locked")

        assert messages.apply_new(Interrupted(), now=NOW) == 0
        assert sizes == [4, 1, 1, 1, 1]
        assert set(InboundEvent.objects.values_list("outcome", "attempts")) == {("new", 0)}


def test_what_goes_alone_has_its_turn_however_large_a_set_may_be(acme, money, settings):
    settings.NETWORK_MESSAGES_PER_SET = 200
    first, *others = sent(money, acme, 9)
    report(money, [first], EventKind.REJECTED, code="AC04")
    report(money, others, EventKind.FINAL)

    messages.apply_new(money.transfer, now=NOW, limit=4)

    assert statuses([first]) == {"failed"}
    assert money.completed in statuses(others)


@pytest.mark.parametrize("size", [1, 200])
def test_a_lock_does_not_turn_the_order_of_old_messages_round(acme, money, settings, size):
    """They wait no more for each other (judging.WAITS_AT_MOST), so only the queue says which is
    first: whoever had the balance lets go of it between the settlement and the return."""
    settings.NETWORK_MESSAGES_PER_SET = size
    rows = sent(money, acme, 1)
    report(money, rows, EventKind.ACCEPTED)
    messages.apply_new(money.transfer, now=NOW)
    report(money, rows, EventKind.FINAL)
    report(money, rows, EventKind.RETURNED, code="R01")

    def meets_a_lock(effects, now):
        if any(event.kind == EventKind.FINAL for _, _, event in effects):
            raise OperationalError("locked") from LockNotAvailable()
        money.transfer.apply(effects, now)

    unlucky = copy(money.transfer)
    vars(unlucky)["apply"] = meets_a_lock
    late = NOW + 2 * WAITS_AT_MOST
    assert messages.apply_new(unlucky, now=late) == 0
    assert messages.apply_new(money.transfer, now=late) == 2

    row = type(rows[0]).objects.get()
    assert row.completed_at is not None
    assert row.returned
    assert not InboundEvent.objects.filter(outcome=InboundOutcome.REVIEW).exists()


class TestAutoFunding:
    def test_looks_at_a_tenant_once_when_all_credits_of_a_set_are_there(self, acme):
        rows = sent(DIRECTIONS["in"], acme, 3)
        make_auto_funding(acme, source=rows[0].source, low_balance_threshold=1_000_000)
        report(DIRECTIONS["in"], rows, EventKind.FINAL)

        assert messages.apply_new(FUNDING, now=NOW) == 3

        decision = AutoFundingDecision.objects.get()
        assert decision.outcome == "fired"
        assert decision.available == sum(row.amount for row in rows)


KINDS = st.sampled_from(list(EventKind))
ODDITIES = st.sampled_from([{}, {}, {}, {}, {"amount": 5}, {"network": "elsewhere"}])
SAID = st.lists(st.tuples(st.integers(0, 4), KINDS, ODDITIES), min_size=2, max_size=14)


class TestSameRows(Rollback):
    """Whatever is said, and whatever the size of the sets: the same is stored, but for ids."""

    @examples(max_examples=20)
    @given(said=SAID, size=st.sampled_from([2, 3, 200]), way=st.sampled_from(sorted(DIRECTIONS)))
    def test_as_one_by_one(self, said, size, way):
        alone = self.stored_after(said, 1, DIRECTIONS[way])
        together = self.stored_after(said, size, DIRECTIONS[way])

        assert together == alone

    def stored_after(self, said, size, money):
        """What becomes of five rows of two tenants, the last of which was not handed over."""
        tenants = [make_tenant(name=name) for name in ("first", "second")]
        for tenant in tenants:
            make_endpoint(tenant)
        rows = [money.make(tenants[number % 2], amount=1_000 + number) for number in range(4)]
        submission.submit_due(money.transfer, now=NOW)
        rows.append(money.make(tenants[0], amount=2_000))
        told = [
            message(rows[index], kind, id=f"{rows[0].pk[-8:]}-{number}", **self.coded(kind), **odd)
            for number, (index, kind, odd) in enumerate(said)
        ]
        with self.settings(NETWORK_MESSAGES_PER_SET=size):
            store(money.transfer.id_prefix, *told)
            for _ in range(3):
                messages.apply_new(money.transfer, now=NOW)
        return [described(row) for row in rows], [balance_of(tenant) for tenant in tenants]

    def coded(self, kind):
        return {"code": "R01"} if kind in {EventKind.REJECTED, EventKind.RETURNED} else {}


def described(row):
    """All that is stored of a row but ids: columns, history, events with deliveries, postings and
    what became of its messages."""
    row.refresh_from_db()
    ids = {"id", "tenant_id", "source_id", "recipient_id", "network_reference", "trace_number"}
    columns = {f.attname: getattr(row, f.attname) for f in row._meta.concrete_fields}
    steps = row.history.order_by("sequence")
    said = InboundEvent.objects.filter(instruction_id=row.pk).order_by("pk")
    events = WebhookEvent.objects.filter(payment_id=row.pk).order_by("sequence")
    postings = ledger.transactions(row.tenant_id).filter(source_id=row.pk).order_by("sequence")
    return {
        "columns": {name: value for name, value in columns.items() if name not in ids},
        "history": list(
            steps.values_list(
                "sequence",
                "from_status",
                "to_status",
                "actor_type",
                "actor_id",
                "reason",
                "created_at",
            )
        ),
        "events": [
            (event.type, event.sequence, list(event.deliveries.values_list("status", "sequence")))
            for event in events
        ],
        "postings": [(line["type"], line["amount"], line["description"]) for line in postings],
        "messages": list(
            said.values_list("outcome", "note", "decided_at", "attempts", "next_attempt_at")
        ),
    }


def balance_of(tenant):
    funds = ledger.summary(tenant.pk)
    return funds.available, funds.pending, funds.locked
