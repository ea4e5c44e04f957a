"""Banks correct accounts while money goes out, and while accounts are removed."""

from __future__ import annotations

import pytest

from balance import invariants
from common.clock import utc_now
from funding.models import FundingSource, FundingSourceVersion, FundingTransaction
from funding.services import sources
from funding.transfer import FUNDING
from networks.base import Correction, EventKind
from networks.sandbox.bank import SandboxBank
from tenants.actors import SYSTEM
from tests.builders import make_source, make_tenant
from tests.funding.builders import top_up
from tests.networks.scripted import ScriptedNetwork, message
from tests.races.together import rounds, together
from transfers import submission
from transfers.inbox import arrivals, corrections, messages
from transfers.inbox.models import InboundEvent

WORKERS = 6
NUMBER, OTHER = "000123456789", "000777000123"

pytestmark = pytest.mark.django_db(transaction=True)


class Bank(SandboxBank):
    """Corrects each account to the number that the message's id ends with."""

    def __init__(self):
        self.handed_over = {}

    def submit_many(self, instructions, *, now):
        for each in instructions:
            self.handed_over.setdefault(each.id, []).append(each.account)
        return super().submit_many(instructions, now=now)

    def correction(self, event_id):
        return Correction(
            code="C03",
            routing_number="011000015",
            account_number=event_id.rpartition("-")[2],
        )


@pytest.fixture
def acme(transactional_db):
    return make_tenant(name="Acme")


@pytest.fixture
def bank(connect):
    bank = Bank()
    connect(bank)
    return bank


def sent(acme, number=NUMBER):
    source = make_source(acme, account_number=number)
    row = top_up(acme, source=source, now=utc_now())
    submission.submit_due(FUNDING, now=utc_now())
    return row


def say(row, *numbers):
    events = [
        message(row, EventKind.CORRECTED, id=f"nev-{place}-{number}", code="C03")
        for place, number in enumerate(numbers)
    ]
    network = ScriptedNetwork(*events)
    arrivals.collect(network=network, id_prefix="ftx_", now=utc_now())


def apply(_worker=0):
    return corrections.apply_new(FUNDING, now=utc_now())


def no_errors(outcomes):
    assert [each for each in outcomes if isinstance(each, Exception)] == []


def books_agree():
    assert invariants.check(now=utc_now(), full=True).findings == []


@rounds(8, quick=2)
def test_one_message_is_applied_once(acme, bank, round_):
    row = sent(acme)
    say(row, OTHER)

    outcomes = together(apply, workers=WORKERS)

    no_errors(outcomes)
    assert sum(outcomes) == 1
    assert FundingSource.objects.get().version == 2
    assert FundingSourceVersion.objects.count() == 2
    books_agree()


@rounds(8, quick=2)
def test_of_two_that_differ_one_is_applied_and_a_person_sees_the_other(acme, bank, round_):
    row = sent(acme)
    say(row, OTHER, "000888000456")

    no_errors(together(apply, workers=WORKERS))
    apply()

    assert FundingSource.objects.get().version == 2
    found = InboundEvent.objects.filter(kind="corrected").values_list("outcome", flat=True)
    assert sorted(found) == ["applied", "review"]
    books_agree()


@rounds(8, quick=2)
def test_what_goes_out_meanwhile_is_one_version_or_the_other_and_never_a_mixture(
    acme, bank, round_
):
    row = sent(acme)
    source = FundingSource.objects.get()
    later = [top_up(acme, source=source, now=utc_now()) for _ in range(WORKERS)]
    say(row, OTHER)

    def act(worker):
        if worker == 0:
            return apply()
        return submission.submit_due(FUNDING, now=utc_now(), only=later[worker].pk)

    no_errors(together(act, workers=WORKERS))
    submission.submit_due(FUNDING, now=utc_now())

    whole = {("021000021", NUMBER): 1, ("011000015", OTHER): 2}
    for each in FundingTransaction.objects.all():
        (account,) = bank.handed_over[each.pk]
        assert whole[account.routing_number, account.account_number] == each.account_version
    books_agree()


@rounds(8, quick=2)
def test_against_removal(acme, bank, round_):
    row = sent(acme)
    messages.process(FUNDING, now=utc_now())
    row.refresh_from_db()
    assert row.status == "completed"
    say(row, OTHER)
    source = FundingSource.objects.get()

    def act(worker):
        if worker == 0:
            return apply()
        return sources.remove(tenant_id=acme.pk, source_id=source.pk, actor=SYSTEM, now=utc_now())

    no_errors(together(act, workers=2))

    source.refresh_from_db()
    event = InboundEvent.objects.get(kind="corrected")
    assert source.status == "removed"
    assert (source.version, event.note) in {(2, ""), (1, "the account was removed")}
    books_agree()


@rounds(8, quick=2)
def test_two_accounts_do_not_become_the_same(acme, bank, round_):
    rows = [sent(acme, number) for number in (NUMBER, "000123456000")]
    for row in rows:
        say(row, OTHER) if row is rows[0] else arrivals.collect(
            network=ScriptedNetwork(
                message(row, EventKind.CORRECTED, id=f"nev-second-{OTHER}", code="C03")
            ),
            id_prefix="ftx_",
            now=utc_now(),
        )

    together(apply, workers=2)
    later = utc_now() + corrections.ASK_AGAIN_AFTER
    corrections.apply_new(FUNDING, now=later)
    InboundEvent.objects.filter(outcome="new").update(next_attempt_at=utc_now())
    apply()

    assert sorted(FundingSource.objects.values_list("version", flat=True)) == [1, 2]
    found = InboundEvent.objects.filter(kind="corrected").values_list("outcome", flat=True)
    assert sorted(found) == ["applied", "review"]
    books_agree()
