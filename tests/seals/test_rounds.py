"""What gets a seal, and when."""

from __future__ import annotations

import time
from contextlib import nullcontext
from datetime import timedelta

import pgtrigger
import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from balance import services as ledger
from common import sealed
from common.clock import utc_now
from seals import macs, reading, rounds
from seals.models import Seal, SealRound
from seals.windows import Window
from tenants.actors import SYSTEM
from tenants.services import audit
from tests.builders import ApiClient, make_key, make_source
from tests.corruption import tamper
from tests.database import owner
from tests.database.refusals import refusing
from tests.payments.builders import fund, pay, run_due
from tests.races.together import together
from tests.seals.conftest import found, query, seal

# Append-only, and not sealed.
EXEMPT = {
    "balance.closedmonthtotal": "what the sealed lines add up to; the full check compares",
    "balance.operatorday": "what its sealed lines add up to; the full check compares",
    "reconciliation.intransit": "what its sealed day names; the audit computes it again",
    "solvency.proofleaf": "the root that its sealed report signs; the audit computes it again",
    "webhooks.webhookattempt": "a log of ours, which leaves with its event whatever its age",
    "seals.sealround": "a seal itself",
    "seals.seal": "a seal itself",
}
# Of the others only what never changes is sealed.
TERMS = {"funding", "payments", "funding_sources", "recipients"}
WHOLE = sorted({*sealed.dated(), "ledger"} - TERMS)


class TestRegistry:
    def test_every_append_only_table_is_sealed_or_exempt(self):
        append_only = {
            model._meta.label_lower
            for model, trigger in pgtrigger.registered()
            if trigger.name in {"append_only", "frozen"}
        }
        kinds = [*sealed.dated().values(), sealed.lines()]
        covered = {kind.model._meta.label_lower for kind in kinds}

        assert append_only - covered == set(EXEMPT)

    @pytest.mark.parametrize("name", WHOLE)
    def test_no_column_is_forgotten(self, name):
        kind = (sealed.dated() | {"ledger": sealed.lines()})[name]
        columns = {field.column for field in kind.model._meta.concrete_fields}
        left_out = getattr(kind, "left_out", "").split()

        assert columns - set(left_out) == set(kind.layouts[-1].split())


def test_an_account_that_its_bank_corrects_later_is_what_was_sealed(acme):
    source = make_source(acme, account_number="60001")
    seal(ahead=timedelta(0))
    api = ApiClient(make_key(acme))
    api.post_json("/api/v1/balance/topup", {"amount": 5_000, "fundingSourceId": source.pk})
    api.post_json("/api/v1/sandbox/process-due")
    source.refresh_from_db()
    assert source.version == 2

    assert found() == []
    with owner.as_superuser(triggers=False):
        source.versions.filter(number=1).update(last4="9999")
    assert any("bank accounts" in finding for finding in found())


def test_a_payment_that_goes_another_way_later_is_what_was_sealed(acme):
    fund(acme, 10_000)
    payment = pay(acme, to="51001", method="auto")
    seal(ahead=timedelta(0))
    run_due(now=utc_now(), rounds=8)
    payment.refresh_from_db()
    assert (payment.method, payment.tries) == ("ach_credit", 2)

    assert found() == []
    with owner.as_superuser(triggers=False):
        payment.refused_tries.update(network="elsewhere")
    assert any("terms of payments" in finding for finding in found())


class TestRound:
    def test_covers_every_kind_of_row(self, past):
        seal()

        (round_,) = SealRound.objects.all()
        kinds = {*sealed.dated(), "ledger"}
        covers = {name for row in Seal.objects.all() for name in row.covers}
        assert (kinds - covers, set(round_.windows)) == (set(), kinds)
        assert found() == []

    def test_gives_a_seal_only_to_chains_with_something_new(self, past, rival):
        seal()
        credit(rival, 5, now=utc_now() + timedelta(hours=2))
        seal(ahead=timedelta(hours=3))

        assert list(SealRound.objects.values_list("number", "seals", "chains")) == [
            (1, 3, 3),
            (2, 1, 3),
        ]
        second = Seal.objects.get(round=2)
        assert (second.chain, second.number, second.sequence) == (rival.pk, 2, 2)
        assert second.previous == Seal.objects.get(chain=rival.pk, number=1).mac
        assert second.covers["ledger"][2:] == [1, 2]
        assert found() == []

    def test_counts_the_rows(self, past, rival):
        seal()

        expected = {"audit": 0, "events": 0, "messages": 0, "funding_history": 0}
        for name in expected:
            table = sealed.dated()[name].table
            expected[name] = query(f"SELECT count(*) FROM {table}")[0][0]
            assert expected[name] > 0
        counted = dict.fromkeys(expected, 0)
        for row in Seal.objects.all():
            for name in expected:
                counted[name] += row.covers.get(name, [0])[0]
        assert counted == expected

    def test_rows_of_no_tenant_are_in_a_chain_of_their_own(self, past):
        seal()

        mine = Seal.objects.get(chain="")
        assert (
            mine.covers["audit"][0]
            == query("SELECT count(*) FROM tenants_auditevent WHERE tenant_id IS NULL")[0][0]
        )
        assert mine.covers["messages"][0] > 0

    def test_waits_until_rows_are_five_minutes_old(self, past):
        rounds.seal_due(now=utc_now())

        young = {"events", "funding", "funding_history", "adjustments", "messages"}
        assert [name for row in Seal.objects.all() for name in young & set(row.covers)] == []
        assert Seal.objects.get(chain=past.pk).covers["ledger"]

    def test_a_long_history_is_sealed_in_slices(self, past, monkeypatch):
        monkeypatch.setattr(rounds, "LINES_MAX", 1)
        monkeypatch.setattr("seals.windows.ROWS_MAX", 3)

        made = seal()

        assert made > 3
        assert SealRound.objects.count() == made
        lines = [
            row.covers["ledger"]
            for row in Seal.objects.filter(chain=past.pk).order_by("number")
            if "ledger" in row.covers
        ]
        assert [line[2:] for line in lines] == [[n, n + 1] for n in range(len(lines))]
        assert (
            sum(line[0] for line in lines)
            == query("SELECT sequence FROM balance WHERE tenant_id = %s", past.pk)[0][0]
        )
        assert found() == []

    def test_depends_on_nothing_but_the_rows(self, past):
        """Neither on a session's settings nor on the order of rows in their files."""
        seal()
        round_ = SealRound.objects.get()
        windows = {name: Window.read(kept) for name, kept in round_.windows.items() if kept[1:]}

        def read():
            kinds = sealed.dated()
            return {name: sorted(reading.dated(kinds[name], [windows[name]])) for name in windows}

        before = read()
        with owner.as_owner(), connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            for name, value in (
                ("TimeZone", "Asia/Tokyo"),
                ("IntervalStyle", "iso_8601"),
                ("bytea_output", "escape"),
                ("extra_float_digits", "-15"),
            ):
                cursor.execute(f"SET LOCAL {name} = '{value}'")
            for table in ("tenants_auditevent", "webhooks_webhookevent", "funding_fundingevent"):
                cursor.execute(f"CLUSTER {table} USING {table}_pkey")

        assert set(before) == set(sealed.dated())
        assert read() == before

    def test_ends_when_its_time_is_over(self, past, monkeypatch):
        monkeypatch.setattr("seals.windows.ROWS_MAX", 3)

        assert rounds.seal_due(now=utc_now() + timedelta(hours=1), seconds=0.001) == 1

    def test_seals_are_never_changed(self, past):
        seal()

        for table in ("seals_seal", "seals_sealround"):
            for act in (f"DELETE FROM {table}", f"UPDATE {table} SET mac = ''"):
                refused = pytest.raises(Exception, match="Cannot update or")
                with owner.as_owner(), refused, transaction.atomic():
                    query(act)

    def test_two_rounds_with_one_number_are_refused(self, past):
        seal()
        again = SealRound.objects.get()

        with pytest.raises(IntegrityError), transaction.atomic():
            again.save(force_insert=True)


class TestKeys:
    def test_a_new_key_seals_and_the_old_one_still_proves(self, past, settings):
        seal()
        old = settings.SEAL_KEYS
        settings.SEAL_KEYS = [f"new:{'A' * 43}=", *old]
        seal(ahead=timedelta(hours=2))

        rounds_made = SealRound.objects.order_by("number")
        assert list(rounds_made.values_list("key_id", flat=True)) == ["dev", "new"]
        assert found() == []

        settings.SEAL_KEYS = [f"new:{'A' * 43}="]
        assert "SEAL_KEYS has no key 'dev'" in found()[0]

    def test_another_key_under_the_same_name_is_no_key(self, past, settings):
        seal()
        settings.SEAL_KEYS = [f"dev:{'A' * 43}="]

        assert found() == [
            "seal_round: operator round 1: was changed, or SEAL_KEYS has another key under 'dev'"
        ]

    def test_the_digest_is_keyed(self, past, settings):
        seal()
        round_ = SealRound.objects.get()
        settings.SEAL_KEYS = [f"dev:{'A' * 43}="]

        before = round_.mac
        macs.sign(round_)

        assert round_.mac != before


@pytest.mark.django_db(transaction=True)
class TestRaces:
    @pytest.mark.parametrize("may_see_starts", [False, True])
    def test_a_row_that_commits_late_is_neither_missed_nor_an_intruder(
        self, acme, monkeypatch, may_see_starts
    ):
        """It is dated before the round looks, and seen only after."""
        audit.record(tenant_id=acme.pk, actor=SYSTEM, action="early.one", now=utc_now())

        def seal_meanwhile(_):
            with owner.as_superuser() if may_see_starts else nullcontext():
                seal()

        monkeypatch.setattr("seals.windows.WAIT_SECONDS", 0.1)

        with transaction.atomic():
            audit.record(tenant_id=acme.pk, actor=SYSTEM, action="late.one", now=utc_now())
            assert together(seal_meanwhile, workers=1) == [None]
        before = audit_rows(acme)
        seal()

        assert before == 0
        assert found() == []
        there = query("SELECT count(*) FROM tenants_auditevent WHERE tenant_id = %s", acme.pk)
        assert audit_rows(acme) == there[0][0]

    @pytest.mark.parametrize(
        "forgery",
        [
            "INSERT INTO seals_sealround (number, made_at, windows, seals, chains, seals_digest,"
            " previous, key_id, mac) SELECT 2, made_at, windows, 0, chains, '', mac, key_id, 'm'"
            " FROM seals_sealround WHERE number = 1",
            "UPDATE seals_sealround SET windows = windows - 'audit' WHERE number = 1",
            "UPDATE seals_seal SET sequence = sequence + 1000 WHERE chain = ''",
        ],
    )
    def test_nothing_is_built_on_what_the_key_did_not_make(self, past, forgery, log):
        seal()
        tamper(forgery)
        before = query("SELECT count(*) FROM seals_sealround")
        later = utc_now() + timedelta(minutes=80)
        audit.record(tenant_id=None, actor=SYSTEM, action="nobody.looked", now=later)

        seal(ahead=timedelta(hours=2))

        assert query("SELECT count(*) FROM seals_sealround") == before
        assert log.of("seal_refused")
        assert any("was changed" in line for line in found())

    def test_two_beats_make_one_chain(self, past):
        outcomes = together(lambda _: seal(), workers=4)

        assert all(isinstance(outcome, int) for outcome in outcomes), outcomes
        assert found() == []
        numbers = list(SealRound.objects.order_by("number").values_list("number", flat=True))
        assert numbers == list(range(1, len(numbers) + 1))

    def test_none_is_counted_while_somebody_else_makes_one(self, past):
        other = owner.another_connection()
        try:
            with other.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_lock(%s)", [rounds._LOCK])

            assert seal() == 0
            with other.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [rounds._LOCK])
        finally:
            other.close()
        assert seal() == SealRound.objects.count() == 1

    def test_broken_off_in_the_middle_it_leaves_nothing(self, past):
        with (
            refusing("seals_seal", on="INSERT"),
            pytest.raises(DatabaseError, match="refused by a test"),
        ):
            seal()
        assert not SealRound.objects.exists()

        seal()
        assert found() == []

    def test_postings_go_on_while_it_seals(self, acme):
        def act(worker):
            if worker == 0:
                return [rounds.seal_due(now=utc_now()) for _ in range(5)]
            for _ in range(10):
                credit(acme, 1)
            return None

        outcomes = together(act, workers=3)
        rounds.seal_due(now=utc_now())

        assert [each for each in outcomes if isinstance(each, Exception)] == []
        assert found() == []
        last = Seal.objects.filter(chain=acme.pk).latest("number")
        assert last.sequence == 20

    @pytest.mark.slow
    def test_long_transactions_are_waited_for(self, acme, monkeypatch):
        """Rows are sealed 1.5 s after they are dated here; transactions take up to 3 s."""
        monkeypatch.setattr("seals.windows.SETTLED_AFTER", timedelta(seconds=1.5))
        ends = time.monotonic() + 8

        def act(worker):
            while time.monotonic() < ends:
                if worker == 0:
                    rounds.seal_due(now=utc_now())
                    continue
                with transaction.atomic():
                    audit.record(tenant_id=acme.pk, actor=SYSTEM, action="slow.one", now=utc_now())
                    query("SELECT pg_sleep(%s)", worker)

        assert together(act, workers=4) == [None] * 4
        sealed_meanwhile = audit_rows(acme)
        time.sleep(1.6)
        rounds.seal_due(now=utc_now())

        assert found() == []
        there = query("SELECT count(*) FROM tenants_auditevent WHERE tenant_id = %s", acme.pk)
        assert 0 < sealed_meanwhile < audit_rows(acme) == there[0][0]


def audit_rows(tenant):
    """How many lines of the tenant's audit log are sealed."""
    seals = Seal.objects.filter(chain=tenant.pk)
    return sum(row.covers.get("audit", [0])[0] for row in seals)


def credit(tenant, amount, *, now=None):
    ledger.adjust(
        tenant_id=tenant.pk,
        type="credit",
        amount=amount,
        reason="Gift",
        actor=SYSTEM,
        now=now or utc_now(),
    )
