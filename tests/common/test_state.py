"""Status machines, tried on every pair of a small one and of every real one."""

from __future__ import annotations

import itertools

import pytest
from django.db import IntegrityError, transaction

from common.state import IllegalTransition, StateTable, Step
from tenants.models import Tenant
from tests.database import owner

MOVES = {
    "active": frozenset({"suspended"}),
    "suspended": frozenset({"active"}),
}


def table(**changes):
    arguments = {"initial": frozenset({"active"}), "moves": MOVES, "states": set(MOVES), **changes}
    return StateTable(**arguments)


class TestTable:
    def test_needs_a_row_for_every_status(self):
        with pytest.raises(ValueError, match=r"every status needs a row: .'closed'."):
            table(states={"active", "suspended", "closed"})

    def test_needs_every_status_to_be_reachable(self):
        moves = {**MOVES, "closed": frozenset()}

        with pytest.raises(ValueError, match=r"unreachable: .'closed'."):
            table(moves=moves, states=set(moves))

    def test_knows_every_pair(self):
        allowed = {pair for pair in itertools.product(MOVES, repeat=2) if table().allows(*pair)}
        assert allowed == {("active", "suspended"), ("suspended", "active")}


@pytest.mark.django_db
class TestAdvance:
    def test_moves_the_row_and_changes_what_else_is_said(self, acme):
        table().advance(acme, "suspended", name="Acme, closed")

        assert (acme.status, acme.name) == ("suspended", "Acme, closed")
        assert Tenant.objects.get(pk=acme.pk).status == "suspended"

    def test_refuses_a_move_the_table_does_not_have(self, acme):
        with pytest.raises(IllegalTransition) as refusal:
            table().advance(acme, "active")

        assert refusal.value.detail == f"{acme.pk} cannot go from active to active."
        assert acme.status == "active"

    def test_refuses_when_another_worker_was_first(self, acme):
        other = Tenant.objects.get(pk=acme.pk)
        table().advance(other, "suspended")

        with pytest.raises(IllegalTransition):
            table().advance(acme, "suspended", name="late")

        assert Tenant.objects.get(pk=acme.pk).name == "Acme"
        assert (acme.status, acme.name) == ("active", "Acme")


@pytest.mark.django_db
class TestAdvanceMany:
    def test_moves_rows_that_change_different_columns(self, acme, rival):
        Tenant.objects.filter(pk=rival.pk).update(status="suspended")
        rival.refresh_from_db()

        table().advance_many(
            [Step(acme, "suspended", {"name": "closed"}), Step(rival, "active", {})]
        )

        assert [(row.status, row.name) for row in (acme, rival)] == [
            ("suspended", "closed"),
            ("active", "Rival"),
        ]
        kept = Tenant.objects.in_bulk([acme.pk, rival.pk])
        assert (kept[acme.pk].status, kept[acme.pk].name) == ("suspended", "closed")
        assert (kept[rival.pk].status, kept[rival.pk].name) == ("active", "Rival")

    def test_refuses_all_where_another_worker_was_first_with_one(self, acme, rival):
        Tenant.objects.filter(pk=rival.pk).update(status="suspended")

        with pytest.raises(IllegalTransition) as refusal, transaction.atomic():
            table().advance_many([Step(row, "suspended", {}) for row in (acme, rival)])

        assert refusal.value.detail == f"{rival.pk} cannot go from active to suspended."
        assert (acme.status, Tenant.objects.get(pk=acme.pk).status) == ("active", "active")

    def test_asks_the_table_before_it_changes_anything(self, acme, rival):
        with pytest.raises(IllegalTransition):
            table().advance_many([Step(acme, "suspended", {}), Step(rival, "active", {})])

        assert Tenant.objects.get(pk=acme.pk).status == "active"


def install(states):
    with owner.as_owner():
        states.trigger("moves").install(Tenant)


@pytest.mark.django_db
class TestTrigger:
    @pytest.mark.parametrize("source", MOVES)
    @pytest.mark.parametrize("target", [*MOVES, "closed"])
    def test_refuses_every_change_but_the_moves_of_the_table(self, acme, source, target):
        rows = Tenant.objects.filter(pk=acme.pk)
        rows.update(status=source)
        install(table())

        if source == target or target in MOVES[source]:
            assert rows.update(status=target) == 1
            return
        with pytest.raises(IntegrityError), transaction.atomic():
            rows.update(status=target)
        assert rows.get().status == source

    def test_says_which_move_it_refused(self, acme):
        install(table(moves={"active": frozenset({"suspended"}), "suspended": frozenset()}))
        rows = Tenant.objects.filter(pk=acme.pk)
        rows.update(status="suspended")

        with pytest.raises(IntegrityError, match="status cannot go from suspended to active"):
            rows.update(status="active")

    def test_leaves_other_columns_alone(self, acme):
        install(table())

        assert Tenant.objects.filter(pk=acme.pk).update(name="Acme 2") == 1
