"""Staff hold what a worker is about to send: one of them comes first, and the other sees it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import transaction

from approvals import sweeps
from funding.models import FundingTransaction
from funding.services import auto_funding
from funding.services.approval_policy import POLICY
from funding.transfer import FUNDING
from networks.sandbox.models import SandboxInstruction
from tenants.actors import SYSTEM
from tests.builders import NOW, make_auto_funding, make_source
from tests.funding.builders import top_up
from tests.races.together import rounds, together, wait_for_a_lock
from transfers import holds, submission
from transfers.holds import NotHeld, NotHoldable

pytestmark = pytest.mark.django_db(transaction=True)


def attempt(act, funding):
    try:
        act(FUNDING, funding.pk, reason="look", actor=SYSTEM, now=NOW)
    except (NotHeld, NotHoldable) as refusal:
        return type(refusal).__name__
    return "done"


@rounds(10)
def test_a_held_one_is_never_sent_and_a_sent_one_never_held(acme, round_):
    funding = top_up(acme)
    acts = [
        lambda: attempt(holds.hold, funding),
        lambda: submission.submit_due(FUNDING, now=NOW),
    ]

    held, claimed = together(lambda worker: acts[worker](), workers=2)

    funding.refresh_from_db()
    if held == "done":
        assert (claimed, funding.status, funding.attempts) == (0, "reserved", 0)
        assert not SandboxInstruction.objects.exists()
    else:
        assert (held, claimed, funding.held_at) == ("NotHoldable", 1, None)


@rounds(10)
def test_a_release_and_a_stop_at_once_have_one_winner(acme, round_):
    funding = top_up(acme)
    attempt(holds.hold, funding)
    acts = [holds.release, holds.stop]

    released, stopped = together(lambda worker: attempt(acts[worker], funding), workers=2)

    funding.refresh_from_db()
    assert (released, funding.held_at) == ("done", None)
    assert (stopped, funding.status) in {("done", "failed"), ("NotHeld", "reserved")}


def test_what_is_held_while_a_sweep_is_at_it_does_not_lapse(acme):
    make_source(acme)
    make_auto_funding(acme, confirmation_threshold=0)
    auto_funding.evaluate(tenant_id=acme.pk, now=NOW)
    funding = FundingTransaction.objects.get()
    late = NOW + timedelta(days=4)

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            assert attempt(holds.hold, funding) == "done"
            sweep = pool.submit(together, lambda _: sweeps.expire_due(POLICY, now=late), workers=1)
            wait_for_a_lock()
        assert sweep.result() == [0]

    funding.refresh_from_db()
    assert (funding.status, funding.held_at) == ("awaiting_confirmation", NOW)
