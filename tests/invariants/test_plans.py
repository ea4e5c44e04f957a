"""The audit's sums find their rows in partial indexes, also when a plan is made for any values."""

from __future__ import annotations

from functools import partial

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


# Few: people make them, one by one.
SMALL = {
    "hand_settlements",
    "rails",
    "ach_rails",
    "ach_versions",
    "ach_keys",
    "instant_key_ends",
    "instant_keys",
    "instant_participant_lists",
    "instant_position_moves",
    "instant_rails",
    "instant_return_asks",
    "instant_versions",
    "ach_key_ends",
    "ach_switches",
    "ach_switch_ends",
    "ach_originators",
    "ach_replies",
    "ach_reversals",
    "ach_spoken_answers",
    "ach_proposals",
    "powers",
    "power_ends",
    "access",
    "access_ends",
    "item_notes",
    "item_assignments",
    "return_dishonors",
    "settlement_accounts",
    "booked_lines",
    "clearings",
    "transit_notes",
}


@pytest.mark.parametrize("name", sorted(sealed.dated().keys() - SMALL))
def test_rows_from_the_future_are_looked_for_by_index(name):
    kind = sealed.dated()[name]

    plan = generic_plan(ahead.statement(kind).replace("%(tenant_ids)s", "$1"))

    assert f"Seq Scan on {kind.table}" not in plan


# What the audit compares rows with, by ids of another collation than theirs.
COMPARED = {"network_inbox_inboundevent", "tenants_auditevent"}
# Which messages were made by hand is found by reading all of them, however old they say they are.
READ_ALL = {"transfers.inbox.invariants.check": {"network_inbox_inboundevent"}}
# An index of those that a person is to look at: all of it is read.
FEW = {"inbound_review"}


_MESSAGES = """
INSERT INTO network_inbox_inboundevent (network, event_id, instruction_id, kind, amount, currency,
    code, reason, reference, occurred_at, received_at, outcome, note, attempts, original,
    resolution, resolved_by, decided_at)
SELECT 'sandbox', 'e' || n, 'ftx_' || n, 'settled', 1, 'USD', '', '', '', now(), now(), 'applied',
    '', 0, '', '', '', now()
FROM generate_series(1, 3000) AS n
"""
_LINES = """
INSERT INTO tenants_auditevent (id, actor_type, actor_id, action, subject_id, details, request_id,
    created_at)
SELECT 'aud_' || n, 'system', '', 'a.b', 'ftx_' || n, '{}', '', now()
FROM generate_series(1, 3000) AS n
"""


def test_what_the_audit_compares_a_row_with_is_looked_up():
    """The tables are so long that this costs less than reading them."""
    with owner.as_owner(), connection.cursor() as cursor:
        cursor.execute(_MESSAGES)
        cursor.execute(_LINES)
        cursor.execute("ANALYZE network_inbox_inboundevent, tenants_auditevent")
    rules = {each.name: partial(each.judge, ["ftx_0", "pay_0"]) for each in audits.slices()}
    for each in audits.checks():
        rules[f"{each.__module__}.{each.__qualname__}"] = partial(each, audits.Scope(full=True))

    read = {name: read_whole(rule) & COMPARED for name, rule in rules.items()}

    assert {name: tables for name, tables in read.items() if tables} == READ_ALL


def read_whole(judge):
    """The tables of which `judge` reads everything, though it may not where an index serves."""
    asked: list[tuple[str, dict[str, object]]] = []

    def note(execute, statement, values, many, context):
        asked.append((statement, values))
        return execute(statement, values, many, context)

    with connection.execute_wrapper(note):
        list(judge())
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
