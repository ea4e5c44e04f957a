"""What the database itself says about rails and routes, whoever writes them."""

from __future__ import annotations

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from networks.rails.models import Rail, RailKind, Route
from tests.builders import NOW
from tests.database import owner

pytestmark = pytest.mark.django_db


def rail(name="bank", kind=RailKind.REAL):
    return Rail.objects.create(name=name, kind=kind, driver="sandbox", created_at=NOW)


def route(to, mode="live", method="ach_debit", **terms):
    with transaction.atomic():
        made = Route.objects.create(
            mode=mode,
            method=method,
            rail=to,
            **{"rail_kind": to.kind, "changed_at": NOW} | terms,
        )
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    return made


def test_the_sandbox_bank_carries_every_method_of_sandbox_tenants():
    routes = Route.objects.values_list("mode", "method", "rail_id", "development", "is_open")

    assert set(routes) == {
        *(
            ("sandbox", method, "sandbox", False, True)
            for method in ("ach_debit", "ach_credit", "rtp_request")
        ),
        ("sandbox", "rtp_credit", "sandbox_rtp", False, True),
    }
    assert set(Rail.objects.values_list("name", "kind", "driver")) == {
        ("sandbox", "stand_in", "sandbox"),
        ("sandbox_rtp", "stand_in", "sandbox"),
    }


@pytest.mark.parametrize(
    ("mode", "kind", "terms", "refused"),
    [
        ("live", RailKind.REAL, {}, ""),
        ("live", RailKind.STAND_IN, {"development": True}, ""),
        ("sandbox", RailKind.STAND_IN, {"method": "wire"}, ""),
        ("live", RailKind.STAND_IN, {}, "route_of_live_is_real"),
        ("sandbox", RailKind.REAL, {"method": "wire"}, "route_of_sandbox_moves_no_money"),
        (
            "sandbox",
            RailKind.REAL,
            {"method": "wire", "development": True},
            "route_of_sandbox_moves_no_money",
        ),
        ("test", RailKind.REAL, {}, "route_mode_known"),
        ("live", RailKind.REAL, {"method": ""}, "route_has_a_method"),
        # The kind is told by the rail, not by who writes the route.
        ("live", RailKind.STAND_IN, {"rail_kind": "real"}, "route_has_the_kind_of_its_rail"),
        (
            "sandbox",
            RailKind.REAL,
            {"method": "wire", "rail_kind": "stand_in"},
            "route_has_the_kind_of_its_rail",
        ),
    ],
)
def test_money_goes_where_it_may(mode, kind, terms, refused):
    bank = rail(kind=kind)

    if not refused:
        assert route(bank, mode, **terms).rail == bank
        return
    with pytest.raises(IntegrityError, match=refused):
        route(bank, mode, **terms)


def test_a_method_of_a_mode_has_one_route():
    route(rail())

    with pytest.raises(IntegrityError, match="one_route_per_method"):
        route(rail("other"))


@pytest.mark.parametrize("name", ["", "Bank", "1st", "a-b", "a b"])
def test_a_rail_has_a_plain_name(name):
    with pytest.raises(IntegrityError, match="rail_name_is_a_word"), transaction.atomic():
        rail(name)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE rails_rail SET kind = 'real'",
        "UPDATE rails_rail SET driver = 'another'",
        "DELETE FROM rails_rail",
        "UPDATE rails_route SET mode = 'live', development = true",
        "UPDATE rails_route SET method = 'wire'",
        "DELETE FROM rails_route",
        "TRUNCATE rails_route",
        "TRUNCATE rails_rail CASCADE",
    ],
)
def test_nobody_rewrites_them(statement):
    with (
        owner.as_owner(),
        pytest.raises(DatabaseError, match=r"Cannot (update|delete|truncate)"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)
