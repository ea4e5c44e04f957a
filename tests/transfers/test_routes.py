"""Nothing leaves by a closed route: what is claimed is judged by the rows, whatever is known."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from balance import invariants
from common import database_clock
from networks import registry
from networks.base import Method
from networks.rails.known import knowledge
from networks.rails.models import Rail, RailKind, Route
from networks.sandbox.models import SandboxInstruction
from tenants.actors import SYSTEM
from tenants.models import AuditEvent
from tests.builders import NOW
from tests.database import owner
from tests.transfers.directions import DIRECTIONS
from transfers import holds, route_changes, submission
from transfers.route_changes import RouteRefused

LATER = NOW + timedelta(minutes=1)
STAFF: dict[str, Any] = {"reason": "the bank asked for it", "actor": SYSTEM, "now": NOW}


@pytest.fixture(params=DIRECTIONS)
def money(request):
    return DIRECTIONS[request.param]


@pytest.fixture
def route(db, money):
    method = Method.ACH_DEBIT if money is DIRECTIONS["in"] else Method.ACH_CREDIT
    return Route.objects.get(mode="sandbox", method=method)


def elsewhere(change):
    """Another process makes the change: this one goes on believing what it read."""
    known = knowledge.current()
    change()
    knowledge._known = known


def close(route):
    route_changes.close_route(mode=route.mode, method=route.method, **STAFF)


def reopen(route, rail="sandbox"):
    route_changes.open_route(mode=route.mode, method=route.method, rail=rail, **STAFF)


def second_rail():
    Rail.objects.create(name="second", kind=RailKind.STAND_IN, driver="sandbox", created_at=NOW)
    return "second"


def submit(money, now=NOW):
    return submission.submit_due(money.transfer, now=now)


def read(row):
    return type(row).objects.get(pk=row.pk)


def never_due():
    """The ids of what the audit says would never be sent."""
    found = invariants.check(now=NOW).findings
    return [finding.subject for finding in found if finding.code.endswith("_never_due")]


class TestAClosedRoute:
    def test_keeps_what_is_due_although_this_process_does_not_know_yet(self, acme, money, route):
        row = money.make(acme)
        elsewhere(lambda: close(route))
        assert registry.for_method(route.mode, route.method) is not None

        assert submit(money) == 0

        kept = read(row)
        assert (kept.status, kept.parked_for, kept.attempts) == (money.unsent, route.pk, 0)
        assert not SandboxInstruction.objects.exists()

    def test_lets_it_go_on_when_it_is_open_again(self, acme, money, route):
        row = money.make(acme)
        close(route)
        submit(money)

        reopen(route)

        assert submit(money, LATER) == 1
        assert (read(row).status, read(row).parked_for) == (money.sent, "")

    def test_is_read_by_no_later_sweep(self, acme, money, route, django_assert_num_queries):
        for _ in range(3):
            money.make(acme, 100)
        close(route)
        submit(money)

        with django_assert_num_queries(3):  # the time; which reasons are over; what is to be sent
            assert submit(money, LATER) == 0

    def test_keeps_what_was_made_for_the_rail_it_led_to_before(self, acme, money, route):
        """Another bank may not have the same money asked of it."""
        row = money.make(acme)
        reopen(route, second_rail())

        assert (submit(money), submit(money, LATER)) == (0, 0)
        assert read(row).parked_for == route.pk
        new = money.make(acme, 500)
        assert submit(money, LATER) == 1
        assert SandboxInstruction.objects.get().network == read(new).network == "second"

        reopen(route)
        assert submit(money, LATER) == 1
        assert read(row).network == "sandbox"

    def test_keeps_the_one_that_is_sent_by_its_id(self, acme, money, route):
        row = money.make(acme)
        close(route)

        submission.submit_due(money.transfer, now=NOW, only=row.pk)

        assert (read(row).status, read(row).parked_for) == (money.unsent, "")

    def test_keeps_nothing_of_other_methods(self, acme, money, route):
        row = money.make(acme)
        others = Route.objects.exclude(pk=route.pk)
        for other in others:
            close(other)

        assert submit(money) == 1
        assert read(row).status == money.sent

    def test_lets_staff_hold_and_stop_what_it_keeps(self, acme, money, route):
        row = money.make(acme)
        close(route)
        submit(money)

        holds.hold(money.transfer, row.pk, **STAFF)
        holds.stop(money.transfer, row.pk, **STAFF)

        assert (read(row).status, read(row).parked_for) == ("failed", "")

    def test_is_no_finding_and_an_open_one_that_keeps_something_is(self, acme, money, route):
        row = money.make(acme)
        close(route)
        submit(money)
        assert never_due() == []

        reopen(route)
        with database_clock.at(NOW + timedelta(minutes=9)):
            assert never_due() == []
        with database_clock.at(NOW + timedelta(minutes=11)):
            assert never_due() == [row.pk]


def test_a_route_that_is_for_development_only_leads_nowhere_without_the_setting(
    acme, money, route, settings
):
    row = money.make(acme)
    Route.objects.filter(pk=route.pk).update(development=True)

    assert submit(money) == 0
    assert read(row).parked_for == route.pk
    settings.DEVELOPMENT_ROUTES = True
    assert submit(money, LATER) == 1


def test_what_has_no_route_at_all_is_kept_and_a_finding(acme, money, route):
    row = money.make(acme)
    with owner.as_superuser(triggers=False):
        Route.objects.filter(pk=route.pk).delete()

    assert (submit(money), submit(money, LATER)) == (0, 0)

    assert read(row).parked_for == "no route"
    assert never_due() == [row.pk]


class TestChanges:
    def test_are_audited_once_with_their_reason(self, db):
        terms: dict[str, Any] = {"mode": "sandbox", "method": "ach_debit"}
        for _ in range(2):
            closed = route_changes.close_route(**terms, **STAFF)
        for _ in range(2):
            route_changes.open_route(rail="sandbox", **terms, **STAFF)

        lines = AuditEvent.objects.filter(subject_id=closed.pk).order_by("created_at", "pk")
        assert sorted(line.action for line in lines) == ["route.closed", "route.opened"]
        assert {line.staff_note for line in lines} == {STAFF["reason"]}
        assert lines[0].details == {**terms, "rail": "sandbox", "development": False}
        assert lines[0].tenant_id is None

    @pytest.mark.parametrize(
        ("terms", "words"),
        [
            ({"rail": "gone"}, "There is no rail gone."),
            ({"mode": "test"}, "The mode is sandbox or live."),
            ({"mode": "live"}, "only a development route leads live tenants there"),
            ({"mode": "live", "development": True}, "DEVELOPMENT_ROUTES is off here"),
            ({"method": "wire"}, "sandbox has no wire."),
            ({"rail": "real"}, "real moves money, and sandbox tenants have none."),
            ({"mode": "live", "rail": "real"}, "Nothing here speaks to real: no elsewhere."),
            ({"reason": " "}, "A reason of 1 to 200 characters is needed."),
        ],
    )
    def test_that_are_not_possible_say_why(self, db, terms, words):
        Rail.objects.create(name="real", kind=RailKind.REAL, driver="elsewhere", created_at=NOW)
        asked = {"mode": "sandbox", "method": "ach_debit", "rail": "sandbox", **STAFF}

        with pytest.raises(RouteRefused) as refusal:
            route_changes.open_route(**asked | terms)

        assert words in str(refusal.value.detail)
        assert not AuditEvent.objects.exists()

    def test_close_no_route_that_is_not_there(self, db):
        with pytest.raises(RouteRefused, match="no route for wire"):
            route_changes.close_route(mode="live", method="wire", **STAFF)

    def test_let_live_tenants_use_a_stand_in_in_development(self, db, settings):
        settings.DEVELOPMENT_ROUTES = True
        terms = {"mode": "live", "method": "ach_debit", "rail": "sandbox", **STAFF}

        made = route_changes.open_route(development=True, **terms)

        assert (made.development, made.rail_kind) == (True, "stand_in")
        assert registry.for_method("live", Method.ACH_DEBIT) is registry.get("sandbox")
