"""Staff hold what a worker is about to send: one of them comes first, and the other sees it."""

from __future__ import annotations

import pytest

from funding.services import holds, submission
from networks.holds import NotHeld, NotHoldable
from networks.sandbox.models import SandboxInstruction
from tenants.actors import SYSTEM
from tests.builders import NOW
from tests.funding.builders import top_up
from tests.races.together import together

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = range(10)


def attempt(act, funding):
    try:
        act(funding_id=funding.pk, reason="look", actor=SYSTEM, now=NOW)
    except (NotHeld, NotHoldable) as refusal:
        return type(refusal).__name__
    return "done"


@pytest.mark.parametrize("round_", ROUNDS)
def test_a_held_one_is_never_sent_and_a_sent_one_never_held(acme, round_):
    funding = top_up(acme)
    acts = [lambda: attempt(holds.hold, funding), lambda: submission.submit_due(now=NOW)]

    held, claimed = together(lambda worker: acts[worker](), workers=2)

    funding.refresh_from_db()
    if held == "done":
        assert (claimed, funding.status, funding.attempts) == (0, "reserved", 0)
        assert not SandboxInstruction.objects.exists()
    else:
        assert (held, claimed, funding.held_at) == ("NotHoldable", 1, None)


@pytest.mark.parametrize("round_", ROUNDS)
def test_a_release_and_a_stop_at_once_have_one_winner(acme, round_):
    funding = top_up(acme)
    attempt(holds.hold, funding)
    acts = [holds.release, holds.stop]

    released, stopped = together(lambda worker: attempt(acts[worker], funding), workers=2)

    funding.refresh_from_db()
    assert (released, funding.held_at) == ("done", None)
    assert (stopped, funding.status) in {("done", "failed"), ("NotHeld", "reserved")}
