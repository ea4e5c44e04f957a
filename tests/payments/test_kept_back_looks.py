"""A payment that a worker had taken up when its payer left, and that the worker kept back (decision
0196), and what the database says whoever may write these columns."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import Error, connection, transaction

from common.database import job_doors, jobs
from networks.base import EventKind
from payments import selectors
from payments.models import AUTO
from payments.services import shortage
from payments.states import PaymentStatus
from payments.transfer import PAYMENTS
from tenants.actors import api_key, staff, user
from tenants.models import AuditEvent
from tenants.services import closing, keys
from tests.builders import NOW, make_staff
from tests.networks.scripted import ScriptedNetwork, message
from tests.payments import builders
from tests.payments.builders import fund, take
from tests.payments.test_left_payments import LATER, MINUTE, pay, run, standing
from tests.payments.test_second_looks import DAY, MUCH, approve, remove, shown
from transfers import claims
from transfers.inbox import arrivals, messages

pytestmark = pytest.mark.usefixtures("books_balance")


def short(team):
    """A team whose money for one payment a bank took back, once the payment was ordered."""
    take(team, 15_000)


def claim(payment):
    """A worker takes the only payment up."""
    found = claims.claim(
        PAYMENTS, now=NOW, limit=10, lease=timedelta(minutes=5), network=payment.network
    )
    (row,) = found.rows
    return row


@job_doors.by(jobs.WORKER)
def keep_back(row):
    assert shortage.keep_back(row, LATER)


class TestKeptBack:
    @pytest.fixture
    def payment(self, team, lee):
        fund(team, 10_000)
        payment = pay(team, user(lee.pk))
        short(team)
        return payment

    def test_waits_for_a_second_person(self, team, dana, lee, payment):
        row = claim(payment)
        remove(lee, dana, now=LATER)
        keep_back(row)
        fund(team, 50_000)
        run(team, now=LATER + DAY)

        assert standing(payment) == (PaymentStatus.CREATED, True)
        assert "was removed from the team" in selectors.approvals(payment).get().reason

        approve(payment, dana, now=LATER + DAY, typed="9")
        run(team, now=LATER + DAY + MINUTE)

        assert standing(payment) == (PaymentStatus.PROCESSING, False)

    def test_is_asked_about_once(self, team, dana, lee, payment):
        row = claim(payment)
        remove(lee, dana, now=LATER)
        keep_back(row)
        approve(payment, dana, now=LATER + MINUTE, typed="9")
        keep_back(claim_again(payment))

        assert selectors.approvals(payment).count() == 1

    def test_of_a_revoked_key_waits_too(self, team, dana, lee):
        key = keys.issue(tenant=team, name="S", actor=user(lee.pk), now=NOW).key
        fund(team, 10_000)
        payment = pay(team, api_key(key.pk))
        short(team)
        row = claim(payment)
        keys.revoke(key_id=key.pk, actor=user(dana.pk), now=LATER)
        keep_back(row)
        fund(team, 50_000)
        run(team, now=LATER + DAY)

        assert standing(payment) == (PaymentStatus.CREATED, True)

    def test_that_has_left_goes_on(self, team, dana, lee):
        fund(team, 10_000)
        payment = pay(team, user(lee.pk))
        claim(payment)
        remove(lee, dana, now=LATER)
        run(team, now=LATER + timedelta(minutes=10))

        assert standing(payment) == (PaymentStatus.PROCESSING, False)
        line = AuditEvent.objects.get(action="confirmation.required_if_kept_back")
        assert line.subject_id == payment.pk

    def test_of_somebody_who_stays_waits_for_money_alone(self, team, dana, lee, payment):
        keep_back(claim(payment))
        fund(team, 50_000)
        run(team, now=LATER + DAY)

        assert standing(payment) == (PaymentStatus.PROCESSING, False)


class TestSentAnotherWay:
    """Its payer left while the first network had it."""

    @pytest.fixture
    def payment(self, team, lee):
        fund(team, 10_000)
        payment = builders.pay(team, 900, to="30001", method=AUTO, actor=user(lee.pk))
        run(team, now=NOW)
        assert standing(payment) == (PaymentStatus.PROCESSING, False)
        return payment

    def refuse(self, payment):
        said = message(payment, EventKind.REJECTED, network=payment.network, code="NOAT")
        arrivals.collect(network=ScriptedNetwork(said), id_prefix=PAYMENTS.id_prefix, now=LATER)
        messages.apply_new(PAYMENTS, now=LATER)

    def test_waits_for_a_second_person(self, team, dana, lee, payment):
        remove(lee, dana, now=LATER)
        self.refuse(payment)
        run(team, now=LATER + DAY)

        assert standing(payment) == (PaymentStatus.CREATED, True)

        approve(payment, dana, now=LATER + DAY, typed="9")
        run(team, now=LATER + DAY + MINUTE)

        assert standing(payment) == (PaymentStatus.PROCESSING, False)
        assert payment.method == "ach_credit"

    def test_goes_on_where_its_payer_stayed(self, team, dana, lee, payment):
        self.refuse(payment)
        run(team, now=LATER + DAY)

        assert standing(payment) == (PaymentStatus.PROCESSING, False)


def changed(statement, payment_id):
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, [payment_id])


def claim_again(payment):
    payment.refresh_from_db()
    found = claims.claim(
        PAYMENTS,
        now=LATER + MINUTE,
        limit=10,
        lease=timedelta(minutes=5),
        network=payment.network,
    )
    (row,) = found.rows
    return row


class TestAnEarlierApproval:
    def test_does_not_count_where_a_clock_is_behind(self, team, dana, lee):
        key = keys.issue(tenant=team, name="S", actor=user(lee.pk), now=NOW).key
        remove(lee, dana, now=NOW, take_over=[key.pk])
        at = NOW + DAY
        payment = pay(team, api_key(key.pk), amount=MUCH, wait=True, now=at)
        approve(payment, dana, now=at + timedelta(seconds=1))
        sam = make_staff("sam@ballast.example")
        closing.close(user_id=dana.pk, actor=staff(sam.pk), now=at - timedelta(milliseconds=10))

        assert selectors.payments(tenant_id=team.pk).count() == 1
        assert shown(payment)["status"] == "open"


class TestWhoeverMayWriteTheColumns:
    @pytest.mark.parametrize("job", [jobs.WORKER, jobs.DESK])
    @pytest.mark.parametrize(
        ("change", "refusal"),
        [
            ("confirmed_at = now()", "is confirmed without an approval"),
            ("second_look_at = NULL", "Cannot update of"),
            ("second_look_at = second_look_at - interval '1 s'", "Cannot update of"),
        ],
    )
    def test_lets_no_payment_go(self, team, dana, lee, job, change, refusal):
        payment = pay(team, user(lee.pk), wait=True)
        remove(lee, dana, now=LATER)
        statement = f"UPDATE payments_payment SET {change} WHERE id = %s"

        with job_doors.of(job), pytest.raises(Error, match=refusal):
            changed(statement, payment.pk)

        assert standing(payment)[1]

    def test_counts_no_approval_from_before(self, team, dana, lee):
        """The one person's own, once that person is gone."""
        key = keys.issue(tenant=team, name="S", actor=user(lee.pk), now=NOW).key
        remove(lee, dana, now=NOW, take_over=[key.pk])
        payment = pay(team, api_key(key.pk), amount=MUCH, wait=True, now=NOW + DAY)
        approve(payment, dana, now=NOW + DAY)
        sam = make_staff("sam@ballast.example")
        closing.close(user_id=dana.pk, actor=staff(sam.pk), now=NOW + DAY + MINUTE)

        statement = "UPDATE payments_payment SET confirmed_at = now() WHERE id = %s"
        with job_doors.of(jobs.DESK), pytest.raises(Error, match="without an approval"):
            changed(statement, payment.pk)
