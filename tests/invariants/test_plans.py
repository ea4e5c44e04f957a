"""The audit's sums find their rows in partial indexes, also when a plan is made for any values."""

from __future__ import annotations

import pytest
from django.db import connection

from common import audits, sealed
from funding import invariants as funding
from funding.models import Confirmation
from payments import invariants as payments
from seals import ahead
from tests.database import owner
from transfers import check_rules as rules

pytestmark = pytest.mark.django_db


def generic_plan(statement):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN (GENERIC_PLAN) {statement}")
        return "\n".join(line for (line,) in cursor.fetchall())


def keep_only(index, *, table):
    """Of a small table any index is cheap to read: leave the planner one, and the constraints'."""
    with owner.as_owner(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexrelid::regclass FROM pg_index"
            " WHERE indrelid = %s::regclass AND indexrelid <> %s::regclass"
            " AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)",
            [table, index],
        )
        for (name,) in cursor.fetchall():
            cursor.execute(f"DROP INDEX {name}")


@pytest.mark.parametrize(
    ("movements", "index"),
    [(funding.CHECKS, "funding_in_flight"), (payments.CHECKS, "payment_open")],
)
@pytest.mark.parametrize("rule", [rules.TOTAL, rules.NEVER_DUE])
def test_the_sum_of_what_is_on_its_way(movements, index, rule):
    keep_only(index, table=movements.table)
    statement = movements.text(rule).replace("%(tenant_ids)s", "$1")

    assert f" {index} " in generic_plan(statement)  # "on" a bitmap, "using" an index scan


def test_the_approvals_answered_since_yesterday():
    table = Confirmation._meta.db_table

    plan = generic_plan(f"SELECT id FROM {table} WHERE decided_at IS NULL OR decided_at > $1")

    assert plan.count("confirmation_decided") == 2


# Few: two people settle one by hand.
SMALL = {"hand_settlements"}


@pytest.mark.parametrize("name", sorted(sealed.dated().keys() - SMALL))
def test_rows_from_the_future_are_looked_for_by_index(name):
    kind = sealed.dated()[name]

    plan = generic_plan(ahead.statement(kind).replace("%(tenant_ids)s", "$1"))

    assert f"Seq Scan on {kind.table}" not in plan


# Tables whose rows are few for each tenant are left out.
BIG = {
    "api_idempotencykey",
    "balance_transaction",
    "funding_fundingevent",
    "funding_fundingtransaction",
    "network_inbox_inboundevent",
    "payments_payment",
    "payments_paymentevent",
    "tenants_auditevent",
    "webhooks_webhookdelivery",
    "webhooks_webhookevent",
}


# An index of those that a person is to look at: all of it is read.
FEW = {"inbound_review"}


@pytest.mark.parametrize("name", sorted(each.name for each in audits.slices()))
def test_no_rule_about_given_rows_reads_a_whole_table(name):
    (slices,) = (each for each in audits.slices() if each.name == name)

    assert read_whole(lambda: list(slices.judge(["ftx_0", "pay_0"]))) & BIG == set()


@pytest.mark.parametrize("check", audits.checks(), ids=lambda check: check.__module__)
def test_what_a_rule_compares_with_the_audit_log_is_looked_up_there(check):
    read = read_whole(lambda: list(check(audits.Scope(full=True))))

    assert read & {"network_inbox_inboundevent", "tenants_auditevent"} == set()


def read_whole(judge):
    """The tables of which `judge` reads everything, though it may not where an index serves."""
    asked: list[tuple[str, dict[str, object]]] = []

    def note(execute, statement, values, many, context):
        asked.append((statement, values))
        return execute(statement, values, many, context)

    with connection.execute_wrapper(note):
        judge()
    assert asked
    with connection.cursor() as cursor:
        for choice in ("seqscan", "hashjoin", "mergejoin", "material"):
            cursor.execute(f"SET LOCAL enable_{choice} = off")
        return {table for each in asked for table in without_condition(plan_of(cursor, *each))}


def plan_of(cursor, statement, values):
    cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}", values)
    (((plan,),),) = cursor.fetchall()
    return plan["Plan"]


def without_condition(node):
    is_found = "Index Cond" in node or node["Node Type"] == "Bitmap Heap Scan"
    if "Relation Name" in node and not is_found and node.get("Index Name") not in FEW:
        yield node["Relation Name"]
    for part in node.get("Plans", ()):
        yield from without_condition(part)
