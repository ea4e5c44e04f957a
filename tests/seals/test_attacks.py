"""Somebody owns the database, switches every trigger off, and has no key."""

from __future__ import annotations

import hashlib
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models import (
    BigAutoField,
    DateField,
    DateTimeField,
    IntegerField,
    SmallIntegerField,
    TimeField,
)

from balance import invariants, proofs
from common import database_clock, sealed
from common.clock import utc_now
from seals import checks
from seals.models import SealRound
from tests.corruption import tamper
from tests.database import owner
from tests.seals.conftest import ROWS_OF_TENANTS, found, seal
from webhooks.services import retention

pytestmark = pytest.mark.slow  # each of them seals a whole past

KINDS = {**sealed.dated(), "ledger": sealed.lines()}
COLUMNS = [(name, column) for name, kind in KINDS.items() for column in kind.layouts[-1].split()]


def another(kind, column):
    """SQL of something else that fits the column."""
    field = next(each for each in kind.model._meta.concrete_fields if each.column == column)
    sort = field.get_internal_type()
    if isinstance(field, DateTimeField):
        return f"coalesce({column}, now()) - interval '1 microsecond'"
    if isinstance(field, TimeField):
        return f"{column} + interval '1 second'"
    if isinstance(field, DateField):
        return f"coalesce({column}, '2026-11-24') + 1"
    if isinstance(field, SmallIntegerField):
        return f"{column} + 1"
    if isinstance(getattr(field, "target_field", field), IntegerField | BigAutoField):
        return f"coalesce({column}, 0) + 100000"
    return {
        "ArrayField": f"{column} || 'eve@evil.example'::varchar",
        "JSONField": """'{"forged": true}'""",
        "BinaryField": f"{column} || ' '::bytea",
        "BooleanField": f"NOT {column}",
    }.get(sort, f"'x' || left(coalesce({column}, ''), {(field.max_length or 30) - 1})")


def first(kind):
    """One that is sealed."""
    there = f"{kind.at} IS NOT NULL" if isinstance(kind, sealed.DatedRows) else "true"
    return f"{kind.key} = (SELECT min({kind.key}) FROM {kind.table} WHERE {there})"


def lift(kind):
    """Take away every rule of the table but its key and the types of its columns."""
    with owner.as_owner(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT format('ALTER TABLE %%s DROP CONSTRAINT %%I CASCADE',"
            " conrelid::regclass, conname)"
            " FROM pg_constraint WHERE contype IN ('c', 'u') AND conrelid = %s::regclass",
            [kind.table],
        )
        for (statement,) in cursor.fetchall():
            cursor.execute(statement)
        cursor.execute(
            "SELECT format('DROP INDEX %%s', indexrelid::regclass) FROM pg_index"
            " WHERE indisunique AND NOT indisprimary AND indrelid = %s::regclass",
            [kind.table],
        )
        for (statement,) in cursor.fetchall():
            cursor.execute(statement)


def after(*statements, **options):
    """What a proof says after these; then they are undone."""
    with transaction.atomic():
        for statement in statements:
            tamper(statement)
        lines = found(**options)
        transaction.set_rollback(True)
    return lines


def codes(**options):
    """The seal's codes among what an audit finds; what it would remember is forgotten."""
    with transaction.atomic():
        report = invariants.check(now=utc_now(), **options)
        transaction.set_rollback(True)
    return {each.code for each in report.findings if each.code.startswith("seal_")}


@pytest.fixture
def sealed_past(past):
    seal()
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    assert found() == []
    return past


class TestRows:
    @pytest.mark.long
    def test_any_changed_column_is_found(self, sealed_past):
        for name, column in COLUMNS:
            kind = KINDS[name]
            lift(kind)
            change = f'UPDATE {kind.table} SET "{column}" = {another(kind, column)}'

            lines = after(f"{change} WHERE {first(kind)}")

            assert [line for line in lines if kind.label in line], (name, column)

    def test_a_removed_row_is_found(self, sealed_past):
        for kind in KINDS.values():
            lines = after(f"DELETE FROM {kind.table} WHERE {first(kind)}")

            assert [line for line in lines if kind.label in line and "were sealed" in line], kind

    def test_a_row_that_is_dated_back_is_found(self, sealed_past):
        for kind in sealed.dated().values():
            lift(kind)
            columns = [str(field.column) for field in kind.model._meta.concrete_fields]
            is_number = isinstance(kind.model._meta.pk, IntegerField)
            forged = f"{kind.key} + 1000" if is_number else f"left({kind.key}, 4) || 'forged'"
            given = [forged if column == kind.key else f'"{column}"' for column in columns]
            into = ", ".join(f'"{column}"' for column in columns)

            lines = after(
                f"INSERT INTO {kind.table} ({into})"
                f" SELECT {', '.join(given)} FROM {kind.table} WHERE {first(kind)}"
            )

            assert [line for line in lines if kind.label in line and "were sealed" in line], kind

    def test_a_line_before_the_first_is_found(self, sealed_past):
        columns = KINDS["ledger"].layouts[-1].replace("id ", "", 1)
        columns = columns.replace(" ", ", ")
        given = columns.replace("sequence", "0").replace("source_id", "'x'")

        (line,) = after(
            f"INSERT INTO balance_transaction (id, {columns})"
            f" SELECT 'btx_forged', {given} FROM balance_transaction"
            f" WHERE tenant_id = '{sealed_past.pk}' AND sequence = 1"
        )

        assert "ledger lines 1 to" in line

    def test_what_a_row_of_before_the_first_round_says_is_found(self, sealed_past):
        tamper(
            "INSERT INTO tenants_auditevent (id, tenant_id, actor_type, actor_id, action,"
            " subject_id, details, request_id, created_at) SELECT 'aud_old', tenant_id,"
            " actor_type, actor_id, action, subject_id, details, request_id, '2020-01-01'"
            " FROM tenants_auditevent WHERE tenant_id IS NOT NULL LIMIT 1"
        )

        assert "audit log from the beginning" in found()[0]


class TestChains:
    def test_recomputed_digests_do_not_fit_the_key(self, sealed_past):
        tamper("UPDATE tenants_auditevent SET action = 'x' WHERE tenant_id IS NOT NULL")
        forged = hashlib.sha256(b"whatever fits").hexdigest()
        tamper(
            f"UPDATE seals_seal SET covers = jsonb_set(covers, '{{audit,1}}', '\"{forged}\"')"
            " WHERE covers ? 'audit'"
        )

        assert "was changed, or SEAL_KEYS has another key" in found()[0]

    def test_a_changed_chain_is_found(self, sealed_past):
        seal(ahead=timedelta(hours=2))
        acme, first_round = sealed_past.pk, "WHERE number = 1"

        for said, *statements in (
            ("3 seals were made, and the 2 here", f"DELETE FROM seals_seal WHERE chain = '{acme}'"),
            ("3 seals were made, and the 2 here", "DELETE FROM seals_seal WHERE chain = ''"),
            ("was changed", f"UPDATE seals_seal SET chain = 'ten_x' WHERE chain = '{acme}'"),
            ("was changed", "UPDATE seals_seal SET sequence = sequence + 1"),
            ("was changed", f"UPDATE seals_sealround SET made_at = now() {first_round}"),
            (
                "was changed",
                f"UPDATE seals_sealround SET windows = windows - 'audit' {first_round}",
            ),
            ("was changed", f"UPDATE seals_sealround SET seals = 2 {first_round}"),
            ("round 1: is gone", f"DELETE FROM seals_sealround {first_round}"),
            (
                "round 1: is gone",
                "DELETE FROM seals_seal",
                f"DELETE FROM seals_sealround {first_round}",
            ),
        ):
            assert said in "\n".join(after(*statements)), statements

    def test_a_round_of_another_time_does_not_fit_in(self, sealed_past):
        """Genuine ones, in another order: their links say so."""
        seal(ahead=timedelta(hours=2))
        seal(ahead=timedelta(hours=3))
        tamper("DELETE FROM seals_sealround WHERE number = 2")
        tamper("UPDATE seals_sealround SET number = 2 WHERE number = 3")

        assert "was changed" in "\n".join(found())

    def test_a_tenant_that_was_taken_out_is_found(self, sealed_past, rival):
        """Every row of it that there is, with its seals."""
        mine = f"'{rival.pk}'"
        lines = after(
            f"DELETE FROM seals_seal WHERE chain = {mine}",
            *(f"DELETE FROM {table} WHERE tenant_id = {mine}" for table in ROWS_OF_TENANTS),
            f"DELETE FROM tenants_tenant WHERE id = {mine}",
        )

        assert lines == [
            "seal_missing: operator round 1: 3 seals were made, and the 2 here are not they"
        ]


CONSISTENT = (
    "UPDATE balance_transaction SET available_delta = available_delta + 100, amount = amount + 100,"
    " available_after = available_after + 100 WHERE tenant_id = '{t}' AND sequence = 1",
    "UPDATE balance_transaction SET available_after = available_after + 100"
    " WHERE tenant_id = '{t}' AND sequence > 1",
    "UPDATE balance SET available = available + 100 WHERE tenant_id = '{t}'",
    "UPDATE funding_fundingtransaction SET amount = amount + 100 WHERE id IN ("
    " SELECT source_id FROM balance_transaction WHERE tenant_id = '{t}' AND sequence = 1)",
)


CASES = {
    "04": [*CONSISTENT, "DELETE FROM balance_checkpoint"],
    "07": [
        "DELETE FROM balance_transaction WHERE tenant_id = '{t}'",
        "DELETE FROM balance WHERE tenant_id = '{t}'",
    ],
    "26": ["UPDATE balance_transaction SET description = 'x' WHERE tenant_id = '{t}'"],
    "27": [
        "UPDATE balance_transaction SET created_at = created_at - interval '1 second'"
        " WHERE tenant_id = '{t}' AND sequence = 1"
    ],
    "35": ["UPDATE tenants_auditevent SET action = 'x' WHERE tenant_id = '{t}'"],
    "21": [
        "UPDATE webhooks_webhookevent SET body = convert_to(replace(convert_from(body, 'UTF8'),"
        " '\"amount\":', '\"amount\":9'), 'UTF8') WHERE tenant_id = '{t}'"
    ],
    "24": ["UPDATE payments_payment SET recipient_id = 'rcp_x' WHERE tenant_id = '{t}'"],
    "32": ["UPDATE funding_fundingtransaction SET source_id = 'fs_x' WHERE tenant_id = '{t}'"],
}


class TestAudit:
    """The rows of the 38 corruptions that only a key can find, by the usual check and the full."""

    @pytest.mark.parametrize("full", [False, True])
    def test_finds_what_only_a_key_can_find(self, sealed_past, full):
        invariants.check(now=utc_now())
        assert codes(full=full) == codes(full=full, tenant_id=sealed_past.pk) == set()

        for number, statements in CASES.items():
            with transaction.atomic():
                for statement in statements:
                    tamper(statement.format(t=sealed_past.pk))

                assert codes(full=full) == {"seal_rows"}, number
                assert codes(full=full, tenant_id=sealed_past.pk) == {"seal_rows"}, number
                transaction.set_rollback(True)

    def test_a_recomputed_checkpoint_does_not_help(self, sealed_past):
        invariants.check(now=utc_now())
        tamper("UPDATE balance_transaction SET description = 'x'")
        digest = f"(SELECT sum({proofs.DIGEST}) FROM balance_transaction AS posted"
        digest += " WHERE posted.tenant_id = balance_checkpoint.tenant_id)"
        tamper(f"UPDATE balance_checkpoint SET digest = {digest}")

        assert codes(full=True) == {"seal_rows"}

    def test_another_tenants_check_says_nothing(self, sealed_past, rival):
        tamper(f"UPDATE tenants_auditevent SET action = 'x' WHERE tenant_id = '{sealed_past.pk}'")

        assert codes(full=True, tenant_id=rival.pk) == set()


class TestRetention:
    def test_forgotten_events_are_no_finding(self, sealed_past):
        later = utc_now() + timedelta(days=31)

        assert retention.forget_old(now=later) > 0

        assert found(now=later) == []
        assert [line for line in found() if "webhook events" in line]

    def test_what_is_left_of_an_old_window_is_still_judged_by_age(self, past):
        """An event of day 1 goes on day 31, when one of day 29 may not."""
        seal()
        events = sealed.dated()["events"].table

        gone = after(f"DELETE FROM {events}", now=utc_now() + timedelta(days=29))

        assert [line for line in gone if "webhook events" in line]


class TestSlices:
    def test_each_round_has_its_turn_once_a_day(self, db):
        midnight = utc_now().replace(hour=0, minute=0, second=0, microsecond=0)
        for last in (1, 7, 96, 2_000):
            seen = set()
            most = 0
            for tick in range(96):
                turn = checks._slice(last, midnight + timedelta(minutes=15 * tick + 3))
                seen |= turn
                most = max(most, len(turn))
            assert seen == set(range(1, last + 1))
            assert most <= last / 24 + 2

    def test_an_old_round_is_proven_in_its_turn(self, sealed_past):
        for hour in range(2, 14):
            seal(ahead=timedelta(hours=hour))
        assert SealRound.objects.count() > checks.NEWEST + 1
        tamper("UPDATE tenants_auditevent SET action = 'x'")
        midnight = utc_now().replace(hour=0, minute=5, second=0) - timedelta(days=1)

        with database_clock.at(midnight + timedelta(hours=12)):
            at_noon = codes()
        with database_clock.at(midnight):
            after_midnight = codes()

        assert (at_noon, after_midnight) == (set(), {"seal_rows"})

    def test_what_was_found_is_found_again_until_it_is_gone(self, sealed_past):
        for hour in range(2, 14):
            seal(ahead=timedelta(hours=hour))
        tamper("UPDATE tenants_auditevent SET action = action || 'x'")
        with database_clock.at(utc_now().replace(hour=12, minute=5) - timedelta(days=1)):
            assert codes() == set()

            invariants.check(now=utc_now(), full=True)

            assert codes() == {"seal_rows"}
            tamper("UPDATE tenants_auditevent SET action = left(action, -1)")
            assert codes() == set()
