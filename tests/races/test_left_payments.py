"""Somebody pays while they or the second owner are being removed: nothing leaves unasked."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from threading import Event
from time import monotonic

import pytest
from django.db import connection, transaction

from common.clock import utc_now
from payments.models import Payment, PaymentConfirmation
from payments.services import approval_settings, orders, waiting
from payments.transfer import PAYMENTS
from tenants.actors import SYSTEM, api_key, user
from tenants.errors import KeyRevoked, MayNotPay
from tenants.models import ApiKey, Role
from tenants.services import keys, members
from tests.builders import NOW, make_member, make_tenant
from tests.payments.builders import account, fund
from tests.races.together import rounds, together, wait_for_a_lock
from transfers import submission

pytestmark = pytest.mark.django_db(transaction=True)

SMALL, LARGE = 900, 24_000
PAYERS = 8
# So many orders are enough to see whether somebody's turn comes.
ORDERS_MAX = 400
PAYERS_START_WITHIN = 30  # seconds

place_on_page = partial(orders.place_once, is_proven=True)


@pytest.fixture
def team(transactional_db):
    """Up to $10.00 nobody is asked; two owners, and $1,000.00."""
    tenant = make_tenant()
    for name in ("dana", "lee"):
        make_member(tenant, email=f"{name}@acme.example", role=Role.OWNER)
    approval_settings.set_threshold(tenant_id=tenant.pk, threshold=1_000, actor=SYSTEM, now=NOW)
    fund(tenant, 100_000)
    return tenant


def membership(team, name):
    return team.memberships.get(user__email=f"{name}@acme.example")


def actor(team, name):
    return user(membership(team, name).user_id)


def key_of(team, name):
    made = keys.issue(tenant=team, name="Server", actor=actor(team, name), now=NOW)
    return api_key(made.key.pk)


def remove(team, name, by, **more):
    return members.remove(
        tenant_id=team.pk,
        membership_id=membership(team, name).pk,
        actor=actor(team, by),
        now=NOW,
        **more,
    )


def pay(team, by, amount=SMALL, *, place=orders.place):
    order = orders.Order(amount=amount, recipient=account(), wait_for_funds=True)
    return place(tenant_id=team.pk, mode=team.mode, order=order, actor=by, now=NOW)


def send_what_may_leave(team):
    waiting.run(tenant_id=team.pk, now=NOW)
    submission.submit_due(PAYMENTS, now=NOW)


def left_unasked():
    """What was handed over without a second person."""
    return Payment.objects.filter(processing_at__isnull=False, confirmed_at=None).count()


@rounds(10)
def test_a_key_pays_while_its_maker_is_removed(team, round_):
    by = key_of(team, "lee")
    acts = (lambda: pay(team, by), lambda: remove(team, "lee", "dana"))

    paid, removed = together(lambda worker: acts[worker](), workers=2)

    assert not isinstance(removed, Exception), removed
    send_what_may_leave(team)
    assert left_unasked() == 0
    if isinstance(paid, Payment):
        assert Payment.objects.get().awaits_confirmation
    else:
        assert isinstance(paid, KeyRevoked)
        assert not Payment.objects.exists()


@rounds(10)
def test_a_person_pays_on_a_page_while_they_are_removed(team, round_):
    by = actor(team, "lee")
    acts = (lambda: pay(team, by, place=place_on_page), lambda: remove(team, "lee", "dana"))

    paid, removed = together(lambda worker: acts[worker](), workers=2)

    assert not isinstance(removed, Exception), removed
    send_what_may_leave(team)
    assert left_unasked() == 0
    if isinstance(paid, tuple):
        assert Payment.objects.get().awaits_confirmation
    else:
        assert isinstance(paid, MayNotPay)
        assert not Payment.objects.exists()


@rounds(10)
def test_a_member_pays_while_the_second_owner_is_removed(team, round_):
    """Whoever of the owners is left is asked, and so is nobody who was removed."""
    make_member(team, email="mia@acme.example", role=Role.MEMBER)
    by = actor(team, "mia")
    acts = (
        lambda: pay(team, by, LARGE, place=place_on_page),
        lambda: remove(team, "lee", "dana"),
    )

    paid, removed = together(lambda worker: acts[worker](), workers=2)

    assert not isinstance(removed, Exception), removed
    assert isinstance(paid, tuple), paid
    send_what_may_leave(team)
    assert left_unasked() == 0
    assert "dana@acme.example" in PaymentConfirmation.objects.get().approvers


@rounds(10)
def test_the_other_owner_pays_while_the_second_one_is_removed(team, round_):
    """Dana is not alone before, nor a moment after."""
    acts = (
        lambda: pay(team, actor(team, "dana"), LARGE, place=place_on_page),
        lambda: remove(team, "lee", "dana"),
    )

    paid, removed = together(lambda worker: acts[worker](), workers=2)

    assert not isinstance(removed, Exception), removed
    assert isinstance(paid, tuple), paid
    send_what_may_leave(team)
    assert left_unasked() == 0


def test_an_order_of_a_key_that_came_first_is_seen_by_the_removal(team):
    by = key_of(team, "lee")

    def removing():
        try:
            return remove(team, "lee", "dana", take_over=[by.id])
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            pay(team, by)
            removed = pool.submit(removing)
            wait_for_a_lock()
        ended = removed.result()

    assert ended.elsewhere == {"Payments that wait for approval": "1"}
    send_what_may_leave(team)
    assert left_unasked() == 0


def test_an_order_of_a_key_that_came_second_is_refused(team):
    by = key_of(team, "lee")
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            remove(team, "lee", "dana")
            paying = pool.submit(together, lambda _worker: pay(team, by), workers=1)
            wait_for_a_lock()
        (refused,) = paying.result()

    assert isinstance(refused, KeyRevoked)
    assert not Payment.objects.exists()


def test_an_order_on_a_page_that_came_second_is_refused(team):
    by = actor(team, "lee")
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            remove(team, "lee", "dana")
            paying = pool.submit(
                together, lambda _worker: pay(team, by, place=place_on_page), workers=1
            )
            wait_for_a_lock()
        (refused,) = paying.result()

    assert isinstance(refused, MayNotPay)
    assert not Payment.objects.exists()


@rounds(10)
def test_a_worker_sends_while_who_ordered_it_is_removed(team, round_):
    """A payment is either on its way before the removal, or waits for a second person."""
    pay(team, actor(team, "lee"))
    acts = (lambda: send_what_may_leave(team), lambda: remove(team, "lee", "dana"))

    sent, removed = together(lambda worker: acts[worker](), workers=2)

    assert not isinstance(sent, Exception), sent
    assert not isinstance(removed, Exception), removed
    payment = Payment.objects.get()
    assert payment.awaits_confirmation != (payment.processing_at is not None)


def revoke(team, key_id):
    return keys.revoke(key_id=key_id, actor=actor(team, "dana"), now=utc_now())


def rotate(team, key_id):
    key = ApiKey.objects.get(pk=key_id)
    return keys.rotate(key=key, overlap=timedelta(0), actor=actor(team, "dana"), now=utc_now())


def remove_its_maker(team, _key_id):
    return remove(team, "lee", "dana")


def slow_down(team, key_id):
    keys.set_pace(
        key_id=key_id, reads_per_second=1, writes_per_second=1, actor=SYSTEM, now=utc_now()
    )


def beside_payers(team, by, act, *, ends_them=True):
    """What `act` raised, or how many payments there were when it had ended, beside eight threads
    that pay by the key without a pause; and what became of these. No statement of `act` takes five
    seconds."""
    over = Event()

    def pay_on():
        for _ in range(ORDERS_MAX):
            if over.is_set():
                return
            pay(team, by, 1)

    def once_they_pay():
        gives_up_at = monotonic() + PAYERS_START_WITHIN
        while Payment.objects.count() < 2 * PAYERS:
            assert monotonic() < gives_up_at, "the payers do not pay"
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET statement_timeout = '5s'")
            act(team, by.id)
        except Exception:
            over.set()
            raise
        if not ends_them:
            over.set()
        return Payment.objects.count()

    found = together(lambda worker: pay_on() if worker else once_they_pay(), workers=PAYERS + 1)
    return found[0], found[1:]


@pytest.mark.parametrize("end", [revoke, rotate, remove_its_maker])
def test_a_key_that_pays_without_a_pause_is_ended_in_its_turn(team, end):
    """Found: whoever wanted to end it waited for ever, because each order let the next one in."""
    by = key_of(team, "lee")

    count, payers = beside_payers(team, by, end)

    assert isinstance(count, int), count
    assert {type(each) for each in payers} == {KeyRevoked}
    assert Payment.objects.count() == count


def test_a_key_that_pays_without_a_pause_is_slowed_down_in_its_turn(team):
    by = key_of(team, "lee")

    count, _payers = beside_payers(team, by, slow_down, ends_them=False)

    assert isinstance(count, int), count
    assert ApiKey.objects.get().writes_per_second == 1
