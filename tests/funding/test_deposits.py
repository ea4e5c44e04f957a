"""Sending the three entries of a verification and hearing what became of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import cast

import pytest
from django.db import DatabaseError, transaction

from balance import invariants
from funding.models import DepositEntry, FundingSource, SourceVerification
from funding.services import (
    debit_authorizations,
    deposit_withdrawals,
    deposits,
    drafts,
    sources,
    verifications,
)
from funding.tasks.verification import process_verifications
from networks import registry
from networks.base import (
    Authorization,
    EventKind,
    Method,
    NetworkEvent,
    NetworkUnavailable,
    PaymentNetwork,
    Purpose,
    VerificationTerms,
)
from networks.rails.models import Route
from networks.sandbox.bank import SandboxBank
from networks.sandbox.models import SandboxInstruction
from tenants.actors import SYSTEM
from tenants.models import Mode
from tenants.services import accounts
from tests.builders import NOW, make_source, make_tenant, notices_of
from tests.database import owner
from tests.funding.agreeing import agree
from tests.funding.live_network import LiveNetwork, make_early_source
from transfers.inbox.models import InboundEvent

CREDIT, DEBIT = Method.ACH_CREDIT, Method.ACH_DEBIT


@pytest.fixture(autouse=True)
def books_balance(db, connect):
    """After every story the books agree with it."""
    yield
    assert invariants.check(now=NOW, full=True).findings == []


@pytest.fixture
def network(connect):
    """A live network that exists from the moment a test says so."""
    return lambda **terms: connect(LiveNetwork(**terms), modes=("live",))


@pytest.fixture
def globex(db):
    return make_tenant(name="Globex", mode=Mode.LIVE)


def stored(source):
    return FundingSource.objects.get(pk=source.pk)


def entries():
    return list(DepositEntry.objects.order_by("part"))


def message(row, kind, code="", *, id="m1"):
    return NetworkEvent(
        id=id,
        network="live",
        instruction_id=row.pk,
        kind=kind,
        amount=row.amount,
        currency="USD",
        code=code,
        occurred_at=NOW,
    )


class TestSandbox:
    def test_deposits_arrive_and_are_taken_back(self, acme):
        source = make_source(acme, account_number="50001")

        deposits.process_due(now=NOW)

        verification = SourceVerification.objects.get()
        sent = SandboxInstruction.objects.order_by("amount")
        assert [(row.method, row.amount) for row in sent] == [
            ("ach_credit", 11),
            ("ach_credit", 22),
            ("ach_debit", 33),
        ]
        assert {row.external_id for row in sent} == {row.pk for row in entries()}
        assert [row.status for row in entries()] == ["completed"] * 3
        assert verification.expires_at == NOW + timedelta(days=10)
        assert stored(source).status == "pending_verification"
        assert set(InboundEvent.objects.values_list("kind", "outcome")) == {
            ("accepted", "applied"),
            ("final", "applied"),
        }

    def test_none_leave_by_a_route_that_another_process_closed(self, acme):
        make_source(acme, account_number="50001")
        routes = Route.objects.filter(mode="sandbox", method="ach_debit")
        routes.update(is_open=False)

        deposits.send_due(now=NOW)
        assert not SandboxInstruction.objects.exists()

        routes.update(is_open=True)
        deposits.send_due(now=NOW + timedelta(hours=1))
        assert SandboxInstruction.objects.exists()

    def test_deposits_are_sent_once(self, acme):
        make_source(acme, account_number="50001")

        assert deposits.send_due(now=NOW) == 1
        assert deposits.send_due(now=NOW + timedelta(days=1)) == 0
        assert set(SandboxInstruction.objects.values_list("submissions", flat=True)) == {1}

    def test_deposits_come_back(self, acme):
        source = make_source(acme, account_number="50000")

        deposits.process_due(now=NOW)

        failed = stored(source)
        assert (failed.status, failed.last_return_code) == ("verification_failed", "R03")
        assert [(row.status, row.failure_code) for row in entries()] == [("failed", "R03")] * 3
        assert notices_of(acme, "funding_source.updated") == [
            {
                "fundingSourceId": source.pk,
                "status": "verification_failed",
                "lastReturnCode": "R03",
            }
        ]

    def test_nothing_is_sent_to_an_account_removed_meanwhile(self, acme):
        source = make_source(acme, account_number="50001")
        sources.remove(tenant_id=acme.pk, source_id=source.pk, actor=SYSTEM, now=NOW)

        deposits.send_due(now=NOW)

        assert not SandboxInstruction.objects.exists()
        assert SourceVerification.objects.get().next_attempt_at is None

    def test_nor_to_one_removed_after_the_entries_were_stored(self, acme):
        source = make_source(acme, account_number="50001")
        deposits.store_due(now=NOW)
        sources.remove(tenant_id=acme.pk, source_id=source.pk, actor=SYSTEM, now=NOW)

        deposits.send_due(now=NOW)

        assert not SandboxInstruction.objects.exists()
        assert [(row.status, row.failure_code) for row in entries()] == [
            ("failed", "verification_over")
        ] * 3

    def test_nothing_is_sent_for_a_suspended_tenant_until_its_release(self, acme):
        make_source(acme, account_number="50001")
        accounts.suspend(tenant_id=acme.pk, actor=SYSTEM, now=NOW)

        assert deposits.send_due(now=NOW) == 0
        accounts.release(tenant_id=acme.pk, actor=SYSTEM, now=NOW)
        assert deposits.send_due(now=NOW) == 1

    def test_a_worker_that_dies_after_the_bank_took_them_sends_nothing_twice(self, acme, connect):
        class Dying(SandboxBank):
            def submit_many(self, instructions, *, now):
                super().submit_many(instructions, now=now)
                raise SystemExit

        make_source(acme, account_number="50001")
        alive = connect(SandboxBank())
        connect(Dying())
        with pytest.raises(SystemExit):
            deposits.send_due(now=NOW)
        connect(alive)

        deposits.process_due(now=NOW + timedelta(minutes=5))

        assert SandboxInstruction.objects.count() == 3
        assert [row.status for row in entries()] == ["completed"] * 3


def test_the_task_is_a_door_to_it(acme):
    source = make_source(acme, account_number="50000")
    SourceVerification.objects.update(next_attempt_at=NOW - timedelta(days=9999))

    process_verifications.apply(throw=True)

    assert stored(source).status == "verification_failed"


class TestWhatIsSent:
    def test_are_two_credits_and_the_debit_of_their_sum(self, globex, network):
        live = network()
        make_source(globex)
        deposits.send_due(now=NOW)

        assert sorted((each.method, each.amount) for each in live.sent) == [
            (CREDIT, 7),
            (CREDIT, 31),
            (DEBIT, 38),
        ]
        for each in live.sent:
            assert each.purpose == Purpose.VERIFICATION
            assert each.description == "ACCTVERIFY"
            assert each.tenant_id == globex.pk
            assert each.account.account_number == "000123456789"
        debit = next(each for each in live.sent if each.method == DEBIT)
        assert debit.authorization == Authorization.CORPORATE

    def test_an_individual_has_authorized_the_one_debit(self, globex, network):
        live = network()
        agree(make_source(globex, holder_type="individual"))
        deposits.send_due(now=NOW)

        said = {each.method: each.authorization for each in live.sent}
        assert said == {CREDIT: None, DEBIT: Authorization.WEB_SINGLE}

    @pytest.mark.parametrize("kind", [None, "single", "ended"])
    def test_an_individual_who_authorized_nothing_keeps_the_deposits(self, globex, network, kind):
        """They prove the account all the same."""
        live = network()
        source = make_source(globex, holder_type="individual")
        if kind is not None:
            given = agree(source, "single" if kind == "single" else "recurring")
        if kind == "ended":
            debit_authorizations.revoke(
                tenant_id=globex.pk, authorization_id=given.pk, actor=SYSTEM, now=NOW
            )
        deposits.process_due(now=NOW)
        deposits.process_due(now=NOW)

        assert [each.method for each in live.sent] == [CREDIT, CREDIT]
        assert [row.failure_code for row in entries()] == ["", "", "authorization_required"]
        assert {row.withdrawal_asked_at for row in entries()} == {None}
        verdict = verifications.verify(
            tenant_id=globex.pk, source_id=source.pk, amounts=(7, 31), actor=SYSTEM, now=NOW
        )
        assert verdict.refusal is None
        assert stored(source).status == "active"

    def test_of_a_sandbox_tenant_need_nobody_to_agree(self, acme):
        make_source(acme, account_number="50001", holder_type="individual")
        deposits.process_due(now=NOW)

        assert [row.status for row in entries()] == ["completed"] * 3

    def test_amounts_that_nobody_can_know_unless_the_network_says_which(self):
        chosen = [drafts.choose_deposits(VerificationTerms()) for _ in range(400)]

        assert all(1 <= low <= 49 for pair in chosen for low in pair)
        assert all(first != second for first, second in chosen)
        assert len(set(chosen)) > 200
        assert {amount for pair in chosen for amount in pair} == set(range(1, 50))
        assert drafts.choose_deposits(VerificationTerms(amounts=(11, 22))) == (11, 22)

    def test_are_stored_before_anything_is_sent(self, globex, network):
        network(amounts=None)
        make_source(globex)

        (first, second) = SourceVerification.objects.get().amounts
        deposits.send_due(now=NOW)

        assert [row.amount for row in entries()] == [first, second, first + second]


class TestLive:
    def test_wait_for_a_network_and_let_it_choose(self, globex, network):
        source = make_early_source(globex)
        deposits.send_due(now=NOW)
        assert SourceVerification.objects.get().amounts == []

        live = network()
        deposits.send_due(now=NOW + timedelta(hours=1))

        verification = SourceVerification.objects.get()
        assert sorted(each.amount for each in live.sent) == [7, 31, 38]
        assert verification.amounts == [7, 31]
        assert verification.expires_at == NOW + timedelta(days=10, hours=1)
        assert stored(source).status == "pending_verification"

    def test_a_proven_account_supports_what_the_network_does(self, globex, network):
        source = make_early_source(globex)
        network()
        deposits.send_due(now=NOW)

        verifications.verify(
            tenant_id=globex.pk, source_id=source.pk, amounts=(31, 7), actor=SYSTEM, now=NOW
        )

        assert stored(source).supported_methods == ["ach_debit", "rtp"]

    def test_are_sent_again_while_the_network_is_down(self, globex, network):
        live = network(outages=2)
        make_source(globex)

        for seconds in (0, 1, 2, 7, 30):
            deposits.send_due(now=NOW + timedelta(seconds=seconds))

        assert sorted(each.amount for each in live.sent) == [7, 31, 38]
        verification = SourceVerification.objects.get()
        assert verification.expires_at == NOW + timedelta(days=10, seconds=7)

    def test_that_one_network_may_have_are_sent_by_no_other(self, globex, network, connect):
        first = network()
        make_source(globex)
        first.outages = 1
        deposits.send_due(now=NOW)

        second = LiveNetwork(name="second")
        as_before = registry.connect(cast(PaymentNetwork, second), modes=("live",))
        connect(first, modes=())
        deposits.send_due(now=NOW + timedelta(minutes=1))
        as_before()
        assert second.sent == []

        deposits.send_due(now=NOW + timedelta(hours=2))
        assert (len(first.sent), second.sent) == (3, [])

    @pytest.mark.parametrize("refused", [(CREDIT, DEBIT), (DEBIT,), (CREDIT,)])
    def test_end_the_verification_when_any_is_refused(self, globex, network, refused):
        network(refuses=refused)
        source = make_source(globex)

        deposits.send_due(now=NOW)

        assert stored(source).status == "verification_failed"
        assert SourceVerification.objects.get().next_attempt_at is None

    @pytest.mark.parametrize("part", [0, 1, 2])
    def test_end_the_verification_when_any_comes_back(self, globex, network, part):
        live = network()
        source = make_source(globex)
        deposits.send_due(now=NOW)

        live.events.append(message(entries()[part], EventKind.RETURNED, "R04"))
        deposits.process_due(now=NOW)

        failed = stored(source)
        assert (failed.status, failed.last_return_code) == ("verification_failed", "R04")
        assert [row.status for row in entries()].count("failed") == 1

    @pytest.mark.parametrize("code", ["withdrawn", "account_unknown", "R13"])
    def test_end_the_verification_when_any_is_rejected(self, globex, network, code):
        live = network()
        source = make_source(globex)
        deposits.send_due(now=NOW)

        live.events.append(message(entries()[1], EventKind.REJECTED, code))
        deposits.process_due(now=NOW)

        failed = stored(source)
        # Our own words and a bank's about the entry say nothing about the account.
        assert (failed.status, failed.last_return_code) == (
            "verification_failed",
            "R13" if code == "R13" else "",
        )
        assert [row.failure_code for row in entries()] == ["", code, ""]

    def test_withdrawn_after_the_proof_leave_the_account_as_it_is(self, globex, network):
        live = network()
        source = make_source(globex)
        deposits.send_due(now=NOW)
        verifications.verify(
            tenant_id=globex.pk, source_id=source.pk, amounts=(7, 31), actor=SYSTEM, now=NOW
        )

        live.events.append(message(entries()[2], EventKind.REJECTED, "withdrawn"))
        deposits.process_due(now=NOW)

        assert (stored(source).status, entries()[2].status) == ("active", "failed")

    @pytest.mark.parametrize("part", [0, 1, 2])
    def test_are_taken_back_when_another_comes_back(self, globex, network, part):
        live = network()
        source = make_source(globex)
        deposits.send_due(now=NOW)

        live.gone = set()
        live.events.append(message(entries()[part], EventKind.RETURNED, "R04"))
        for _ in range(3):
            deposits.process_due(now=NOW)

        codes = [row.failure_code for row in entries()]
        assert sorted(codes) == ["R04", "withdrawn", "withdrawn"]
        assert codes[part] == "R04"
        failed = stored(source)
        assert (failed.status, failed.last_return_code) == ("verification_failed", "R04")

    def test_are_fetched_by_the_debit_where_they_are_out(self, globex, network):
        """The network gives the debit back, but not the deposit that is not there any more."""
        live = network()
        make_source(globex)
        deposits.send_due(now=NOW)

        live.gone = {CREDIT}
        first, second, _debit = entries()
        live.events.append(message(first, EventKind.RETURNED, "R04"))
        for _ in range(3):
            deposits.process_due(now=NOW)
        assert [row.status for row in entries()] == ["failed", "sent", "sent"]
        assert [bool(row.withdrawal_asked_at) for row in entries()] == [False, True, False]

        live.events.append(message(second, EventKind.RETURNED, "R04", id="m2"))
        for _ in range(3):
            deposits.process_due(now=NOW)
        assert [row.failure_code for row in entries()] == ["R04", "R04", "withdrawn"]

    def test_are_taken_back_when_the_network_refuses_another(self, globex, network):
        live = network(refuses=(DEBIT,))
        live.gone = set()
        make_source(globex)
        for _ in range(3):
            deposits.process_due(now=NOW)

        assert [row.failure_code for row in entries()] == ["withdrawn", "withdrawn", "R13"]

    def test_are_asked_back_once_and_again_while_the_network_is_down(self, globex, network):
        live = network()
        make_source(globex)
        deposits.send_due(now=NOW)
        live.events.append(message(entries()[2], EventKind.RETURNED, "R04"))
        live.outages = 4

        deposits.process_due(now=NOW)
        deposits.process_due(now=NOW)

        assert (len(live.asked_back), live.outages) == (4, 0)
        assert deposit_withdrawals.withdraw_due(now=NOW) == 2
        assert deposit_withdrawals.withdraw_due(now=NOW) == 0

    @pytest.mark.parametrize("code", ["R02", "R01"])
    def test_that_come_back_after_the_proof_end_the_account(self, globex, network, code):
        live = network()
        source = make_source(globex)
        deposits.send_due(now=NOW)
        verifications.verify(
            tenant_id=globex.pk, source_id=source.pk, amounts=(7, 31), actor=SYSTEM, now=NOW
        )

        live.events.append(message(entries()[2], EventKind.RETURNED, code))
        deposits.process_due(now=NOW)

        assert (stored(source).status, stored(source).last_return_code) == ("errored", code)

    def test_the_debit_still_goes_out_when_the_account_was_proven_before(self, globex, network):
        live = network()
        source = make_source(globex)
        deposits.store_due(now=NOW)
        verifications.verify(
            tenant_id=globex.pk, source_id=source.pk, amounts=(7, 31), actor=SYSTEM, now=NOW
        )

        deposits.send_due(now=NOW)

        assert sorted(each.amount for each in live.sent) == [7, 31, 38]
        assert SourceVerification.objects.get().expires_at is None

    def test_messages_are_taken_in_once(self, globex, network):
        live = network()
        make_source(globex)
        deposits.send_due(now=NOW)
        returned = message(entries()[0], EventKind.RETURNED, "R03")

        live.events.append(returned)
        assert deposits.process_due(now=NOW) == 2  # the other deposit is asked back as well
        live.events.append(returned)
        assert deposits.process_due(now=NOW) == 0

        assert len(notices_of(globex, "funding_source.updated")) == 1

    def test_messages_about_other_amounts_are_kept_for_review(self, globex, network):
        live = network()
        source = make_source(globex)
        deposits.send_due(now=NOW)

        returned = message(entries()[0], EventKind.RETURNED, "R03")
        live.events.append(replace(returned, amount=39))
        deposits.process_due(now=NOW)

        assert stored(source).status == "pending_verification"
        assert InboundEvent.objects.get().note == "another amount or currency"

    def test_messages_about_nothing_we_sent_are_kept_for_review(self, globex, network):
        network().events.append(message(DepositEntry(amount=1), EventKind.RETURNED, "R03"))

        deposits.process_due(now=NOW)

        assert InboundEvent.objects.get().outcome == "review"


class TestOfAnOlderRelease:
    """Two deposits under one id: sent, or about to be."""

    @pytest.fixture
    def whole(self, globex, network):
        """One that the old release handed over; its id is known to the network."""
        self.live = network()
        self.source = make_source(globex)
        SourceVerification.objects.update(
            network="live", next_attempt_at=None, attempts=1, expires_at=NOW + timedelta(days=9)
        )
        return SourceVerification.objects.get()

    def test_what_it_sent_comes_back(self, whole):
        self.live.events.append(message(whole, EventKind.RETURNED, "R03"))

        deposits.process_due(now=NOW)

        assert stored(self.source).status == "verification_failed"
        assert self.live.sent == []

    def test_what_it_sent_without_an_answer_is_not_sent_again(self, whole):
        SourceVerification.objects.update(next_attempt_at=NOW)
        self.live.find = lambda instruction_id: "found" if instruction_id == whole.pk else None

        deposits.send_due(now=NOW)

        assert (self.live.sent, entries()) == ([], [])
        assert SourceVerification.objects.get().expires_at == NOW + timedelta(days=10)

    def test_what_the_network_never_got_is_sent_as_three(self, whole):
        SourceVerification.objects.update(next_attempt_at=NOW)

        deposits.send_due(now=NOW)

        assert sorted(each.amount for each in self.live.sent) == [7, 31, 38]

    def test_is_asked_about_later_while_the_network_is_down(self, whole):
        def down(instruction_id):
            raise NetworkUnavailable("down")

        SourceVerification.objects.update(next_attempt_at=NOW)
        self.live.find = down

        deposits.send_due(now=NOW)

        assert entries() == []
        again = NOW + deposits.ASK_AGAIN_AFTER
        assert SourceVerification.objects.get().next_attempt_at == again


class TestWhatTheDatabaseRefuses:
    """Even its owner's statements."""

    @pytest.fixture(autouse=True)
    def three(self, acme):
        make_source(acme, account_number="50001")
        deposits.store_due(now=NOW)

    def refused(self):
        return pytest.raises(DatabaseError, match=r"pgtrigger: |violates|status cannot go")

    @pytest.mark.parametrize(
        "changes", [{"amount": 40}, {"part": 3}, {"network": "other"}, {"status": "completed"}]
    )
    def test_other_terms_and_moves(self, changes):
        with owner.as_owner(), self.refused(), transaction.atomic():
            DepositEntry.objects.filter(part=1).update(**changes)

    def test_a_fourth_and_the_end_of_one(self):
        row = entries()[0]
        with owner.as_owner(), self.refused(), transaction.atomic():
            DepositEntry.objects.filter(pk=row.pk).delete()
        row.pk = "vde_another"
        with self.refused(), transaction.atomic():
            row.save(force_insert=True)
