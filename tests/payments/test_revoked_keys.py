"""What a key ordered that is revoked before it left waits for a second person (decision 0192)."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.management import call_command

from payments.models import Payment, PaymentConfirmation
from payments.services import approval_policy, left_payments
from payments.states import PaymentStatus
from tenants.actors import api_key, user
from tenants.models import AuditEvent
from tenants.services import keys
from tests.builders import NOW, browser_of, make_staff
from tests.payments.asking import LEE
from tests.payments.builders import fund
from tests.payments.test_left_payments import LATER, answer, leave, pay, run, standing

pytestmark = pytest.mark.usefixtures("books_balance")


@pytest.fixture
def key(team, dana):
    return keys.issue(tenant=team, name="Stolen", actor=user(dana.pk), now=NOW).key


def revoke(key, by):
    assert keys.revoke(key_id=key.pk, actor=user(by.pk), now=LATER)


def test_what_waits_for_money_waits_for_who_never_had_the_key(team, dana, lee, key):
    payment = pay(team, api_key(key.pk), wait=True)

    revoke(key, lee)
    fund(team, 100_000)
    run(team)

    assert standing(payment) == (PaymentStatus.CREATED, True)
    assert approval_policy.approvers(payment) == [LEE]
    approval = PaymentConfirmation.objects.get(payment=payment)
    assert approval.reason.startswith(left_payments.RULE_OF_KEYS)
    answer(payment, lee)
    run(team)
    assert standing(payment)[0] == PaymentStatus.PROCESSING


def test_what_was_not_sent_yet_waits_too(team, dana, lee, key):
    fund(team, 100_000)
    payment = pay(team, api_key(key.pk))

    revoke(key, dana)
    run(team)

    assert standing(payment) == (PaymentStatus.CREATED, True)
    assert approval_policy.approvers(payment) == [LEE]


def test_the_command_stops_it_as_well(team, dana, lee, key):
    payment = pay(team, api_key(key.pk), wait=True)

    call_command("revoke_key", key=key.pk)

    payment.refresh_from_db()
    assert payment.second_look_at is not None


def test_others_payments_go_on(team, dana, lee, key):
    fund(team, 100_000)
    other = keys.issue(tenant=team, name="Other", actor=user(dana.pk), now=NOW).key
    payments = [pay(team, actor, amount=100) for actor in (user(dana.pk), api_key(other.pk))]

    revoke(key, lee)
    run(team)

    assert [standing(each)[0] for each in payments] == [PaymentStatus.PROCESSING] * 2


@pytest.mark.parametrize("overlap", [timedelta(0), timedelta(days=1)])
def test_a_rotation_stops_nothing(team, dana, lee, key, overlap):
    fund(team, 100_000)
    payment = pay(team, api_key(key.pk))

    keys.rotate(key=key, overlap=overlap, actor=user(lee.pk), now=LATER)
    run(team)

    assert standing(payment)[0] == PaymentStatus.PROCESSING


def test_an_owner_who_is_alone_stops_nothing_that_nobody_could_approve(team, dana, key):
    fund(team, 100_000)
    payment = pay(team, api_key(key.pk))

    revoke(key, dana)
    run(team)

    assert standing(payment)[0] == PaymentStatus.PROCESSING
    assert not PaymentConfirmation.objects.exists()


def test_a_removal_that_revokes_the_key_asks_once(team, dana, lee, key):
    payment = pay(team, api_key(key.pk), wait=True)

    leave("removed", dana, lee)

    approval = PaymentConfirmation.objects.get(payment=payment)
    assert approval.reason == (
        "Somebody who had the API key that ordered this was removed from the team afterwards, so"
        " somebody else approves it. Ordered by API key Stolen."
    )
    assert AuditEvent.objects.filter(action="api_key.revoked").count() == 1


def test_our_staff_at_the_desk_stop_it_too(team, dana, lee, key):
    payment = pay(team, api_key(key.pk), wait=True)
    desk = browser_of(make_staff("sam@ballast.example"), factor="totp")

    desk.post("/admin/tenants/apikey/", {"action": "revoke", "_selected_action": [key.pk]})

    key.refresh_from_db()
    assert key.revoked_at is not None
    payment.refresh_from_db()
    assert payment.second_look_at is not None
    assert Payment.objects.count() == 1
