"""Authorizations of debits that several use, or that end while they are used."""

from __future__ import annotations

from datetime import timedelta
from threading import Event

import pytest

from common.audits import Scope
from funding import invariants
from funding.errors import AuthorizationRequired
from funding.models import AuthorizedDebit, DebitAuthorization, FundingTransaction
from funding.services import sources, topups
from funding.services.lifecycle import TopUp
from funding.transfer import FUNDING
from tenants.actors import api_key
from tenants.models import Mode
from tests.builders import NOW, make_tenant
from tests.funding.agreeing import agree, make_individual, revoke
from tests.funding.live_network import LiveNetwork, connected
from tests.races.together import together
from transfers import submission

pytestmark = [pytest.mark.django_db(transaction=True)]
LATER = NOW + timedelta(minutes=5)


@pytest.fixture
def live():
    with connected() as network:
        yield network


@pytest.fixture
def source(live):
    return make_individual(make_tenant(mode=Mode.LIVE))


def ask(source):
    return topups.request(
        tenant_id=source.tenant_id,
        mode="live",
        topup=TopUp(source_id=source.pk, amount=25_000),
        actor=api_key("key_1"),
        now=NOW,
    )


def findings():
    return [one.message for one in invariants.check_authorizations(Scope(full=True))]


def test_of_many_top_ups_with_one_single_authorization_one_is_made(source):
    agree(source, "single")

    def attempt(_):
        try:
            return ask(source).pk
        except AuthorizationRequired:
            return None

    made = [pk for pk in together(attempt, workers=6) if pk]

    assert len(made) == FundingTransaction.objects.count() == 1
    assert AuthorizedDebit.objects.get().funding_id == made[0]


def test_each_of_many_single_ones_is_used_once(source):
    for _ in range(6):
        agree(source, "single")

    made = together(lambda _: ask(source).pk, workers=6)

    assert len(set(made)) == AuthorizedDebit.objects.values("authorization").distinct().count() == 6


@pytest.mark.parametrize("ends", ["revoked", "R07"])
def test_an_end_against_a_send_leaves_nothing_sent_after_it(source, live, ends):
    kept = agree(source)
    made = [ask(source).pk for _ in range(8)]

    def step(number):
        if number:
            return [submission.submit_due(FUNDING, now=LATER, limit=1) for _ in range(8)]
        if ends == "revoked":
            return revoke(kept, now=NOW)
        return sources.note_return(source=source, return_code="R07", now=NOW)

    results = together(step, workers=2)

    assert not [one for one in results if isinstance(one, Exception)]
    kept.refresh_from_db()
    assert kept.ended_because == ends
    statuses = dict(FundingTransaction.objects.values_list("pk", "status"))
    assert {pk for pk in made if statuses[pk] == "pending"} == set(live.instructions)
    assert {statuses[pk] for pk in made} <= {"pending", "failed"}
    assert not findings()


def test_what_was_seen_in_force_before_the_end_is_dated_before_it(source):
    """The worker has looked, and its call takes a while: the end that comes meanwhile is later."""
    kept, is_called, is_revoked = agree(source), Event(), Event()

    class Slow(LiveNetwork):
        def submit_many(self, instructions, *, now):
            is_called.set()
            assert is_revoked.wait(10)
            return super().submit_many(instructions, now=now)

    funding = ask(source)

    def step(number):
        if number:
            return submission.submit_due(FUNDING, now=LATER)
        assert is_called.wait(10)
        revoke(kept, now=NOW)
        return is_revoked.set()

    with connected(Slow()):
        assert together(step, workers=2) == [None, 1]

    funding.refresh_from_db()
    kept = DebitAuthorization.objects.get()
    assert (funding.status, kept.ended_at) == ("pending", LATER)
    assert not findings()
