"""Every action of staff on instant rails. Each story has a rail of its own."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from common.clock import utc_now
from desk.doers import Doer
from desk.rails.instant import acts
from desk.rails.instant.forms import InstantTermsForm
from networks.instant import rails
from networks.instant.models import InstantLine, InstantVersion
from tests.crashes import instant_rails
from tests.crashes.bank_stories import ann, at, values_of
from tests.crashes.desk_stories import send
from tests.crashes.every_call import Story
from tests.crashes.world import Act, World

Begin = Callable[[World], Act]


def change(world: World) -> Act:
    rail = instant_rails.in_force().pk
    form = InstantTermsForm(None, base=rails.current(rail).version.terms)
    return send(world, at("instant_change", rail), **values_of(form, creditor_name="Other Inc."))


def proposed(doer: Doer) -> InstantVersion:
    rail = instant_rails.in_force()
    changed: dict[str, Any] = {"terms": instant_rails.terms(rail.pk, active=True), "account": ""}
    return acts.propose(rail=rail, **changed, reason="Begin", doer=doer, now=utc_now())


def decide(decision: str) -> Begin:
    def begin(world: World) -> Act:
        row = proposed(ann())
        return send(world, at("instant_decide", row.rail_id, row.number), decision=decision)

    return begin


def withdraw(world: World) -> Act:
    """Of what the same person types first."""
    rail = instant_rails.in_force().pk
    form = InstantTermsForm(None, base=rails.current(rail).version.terms)
    send(world, at("instant_change", rail), **values_of(form, creditor_name="Other Inc."))({})
    return send(world, at("instant_withdraw", rail, 2))


def look_again(world: World) -> Act:
    rail = instant_rails.in_force().pk
    later = utc_now() + timedelta(hours=1)
    InstantLine.objects.filter(pk=rail).update(
        trouble="unreachable", trouble_since=utc_now(), next_attempt_at=later
    )
    return send(world, at("instant_again", rail))


BEGINNINGS: dict[str, Begin] = {
    "instant_change": change,
    "instant_decide approve": decide("approve"),
    "instant_decide reject": decide("reject"),
    "instant_withdraw": withdraw,
    "instant_again": look_again,
}

STORIES = [Story(f"instant {name}", begin, leads_on=True) for name, begin in BEGINNINGS.items()]


def actions() -> set[str]:
    """What has a story, as `desk_stories.actions` calls it."""
    return {f"desk {name.split()[0]}" for name in BEGINNINGS}
