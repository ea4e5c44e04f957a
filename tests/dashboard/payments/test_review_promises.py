"""What the page before a payment says is what the order then does."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from common.clock import utc_now
from networks.sandbox.bank import SandboxBank
from payments import caps
from payments.caps import Cap, CapScope, Window
from payments.models import Payment, PaymentConfirmation
from payments.services import (
    approval_settings,
    cool_down_settings,
    limit_settings,
    orders,
    recipients,
)
from payments.states import PaymentStatus
from tenants.actors import SYSTEM, user
from tenants.models import Mode, Role
from tenants.services import members
from tests.builders import make_member, make_tenant
from tests.dashboard.payments.test_pay import PATH, filled
from tests.payments.builders import account, fund

ASKED = "A second person must approve this payment"
BEHIND = "Older payments are waiting for money"
AN_HOUR = timedelta(hours=1)


@pytest.fixture
def acme(db, connect):
    connect(SandboxBank(), modes=("sandbox", "live"))
    return make_tenant(mode=Mode.LIVE)


@pytest.fixture
def team(acme, dana):
    """Dana and a second one; $1,000.00; no limits, no cool-down, and nobody is asked."""
    make_member(acme, email="checker@acme.example", role=Role.APPROVER)
    fund(acme, 100_000)
    limits(acme)
    cool(acme, 0)
    ask_above(acme, None)
    return acme


@pytest.fixture
def supplier(team):
    return recipients.save(
        tenant_id=team.pk, details=account(), actor=SYSTEM, now=utc_now() - AN_HOUR
    )


def limits(tenant, *scopes, amount=None, payments=None):
    wanted = {**caps.NONE, **{(scope, Window.DAY): Cap(amount, payments) for scope in scopes}}
    limit_settings.change(tenant_id=tenant.pk, wanted=wanted, actor=SYSTEM, now=utc_now())


def cool(tenant, hours):
    cool_down_settings.set_hours(tenant_id=tenant.pk, hours=hours, actor=SYSTEM, now=utc_now())


def ask_above(tenant, cents):
    approval_settings.set_threshold(
        tenant_id=tenant.pk, threshold=cents, actor=SYSTEM, now=utc_now()
    )


def paid(tenant, dana, amount, *, to=None, wait=False):
    """An earlier payment of Dana's."""
    return orders.place(
        tenant_id=tenant.pk,
        mode=tenant.mode,
        order=orders.Order(amount=amount, recipient=to or account("000222"), wait_for_funds=wait),
        actor=user(dana.pk),
        now=utc_now(),
    )


def nothing(tenant, dana, supplier):
    pass


def above(tenant, dana, supplier):
    ask_above(tenant, 10_000)


def at_the_limit(tenant, dana, supplier):
    ask_above(tenant, 25_000)


def by_the_sum_to_one(tenant, dana, supplier):
    ask_above(tenant, 30_000)
    paid(tenant, dana, 10_000, to=supplier.pk)


def by_the_sum_of_one(tenant, dana, supplier):
    ask_above(tenant, 30_000)
    paid(tenant, dana, 10_000)


def new(tenant, dana, supplier):
    cool(tenant, 24)


def over_the_day(tenant, dana, supplier):
    limits(tenant, CapScope.TENANT, amount=30_000)
    paid(tenant, dana, 10_000)


def over_the_recipient(tenant, dana, supplier):
    limits(tenant, CapScope.RECIPIENT, amount=30_000)
    paid(tenant, dana, 10_000, to=supplier.pk)


def over_the_person(tenant, dana, supplier):
    limits(tenant, CapScope.PERSON, payments=1)
    paid(tenant, dana, 100)


def behind(tenant, dana, supplier):
    paid(tenant, dana, 500_000, wait=True)


def short(tenant, dana, supplier):
    paid(tenant, dana, 90_000)


def short_and_above(tenant, dana, supplier):
    paid(tenant, dana, 90_000)
    ask_above(tenant, 10_000)


def removed(tenant, dana, supplier):
    recipients.save(tenant_id=tenant.pk, details=account("000444"), actor=SYSTEM, now=utc_now())
    recipients.remove(tenant_id=tenant.pk, recipient_id=supplier.pk, actor=SYSTEM, now=utc_now())


SENT, WAITS = PaymentStatus.CREATED, PaymentStatus.WAITING_FOR_FUNDS
# The story, what the form says beside, and what becomes of $250.00: refused (None) or the status,
# and whether somebody is asked.
CASES = [
    (nothing, {}, SENT, False),
    (above, {}, SENT, True),
    (at_the_limit, {}, SENT, False),
    (by_the_sum_to_one, {}, SENT, True),
    (by_the_sum_of_one, {}, SENT, True),
    (new, {}, SENT, True),
    (over_the_day, {}, None, False),
    (over_the_recipient, {}, None, False),
    (over_the_person, {}, None, False),
    (behind, {"wait": "on"}, WAITS, False),
    (behind, {}, SENT, False),
    (short, {"wait": "on"}, WAITS, False),
    (short_and_above, {"wait": "on"}, WAITS, True),
    (removed, {}, None, False),
]


def words(response):
    return " ".join(re.sub(r"<[^>]*>", " ", response.content.decode()).split())


def refusal(response):
    """What stands beside the fields of the form."""
    found = re.findall(r'_error"[^>]*>(.*?)</', response.content.decode(), re.S)
    return [" ".join(each.split()) for each in found]


@pytest.mark.parametrize(("story", "form", "status", "is_asked"), CASES)
def test_the_review_says_what_the_order_does(
    team, dana, supplier, dana_browser, story, form, status, is_asked
):
    story(team, dana, supplier)
    before = set(Payment.objects.values_list("pk", flat=True))

    review = dana_browser.post(PATH, filled(team, supplier, step="review", **form))
    assert set(Payment.objects.values_list("pk", flat=True)) == before
    order = dana_browser.post(PATH, filled(team, supplier, **form))

    payment = Payment.objects.exclude(pk__in=before).first()
    assert (payment and payment.status) == status
    if payment is None:
        assert (review.status_code, order.status_code) == (422, 422)
        assert refusal(review) == refusal(order) != []
        return
    said = words(review)
    assert review.status_code == 200
    assert (ASKED in said) == payment.requires_confirmation == is_asked
    assert ("waits its turn" in said) == (payment.status == WAITS)
    if is_asked and story is not new:
        approval = PaymentConfirmation.objects.get(payment=payment)
        assert approval.reason.partition(" Ordered by")[0] in said


def test_a_limit_names_when_there_is_room_again(team, dana, supplier, dana_browser):
    over_the_day(team, dana, supplier)

    said = words(dana_browser.post(PATH, filled(team, supplier, step="review")))

    assert "At most $300.00 in any 24 hours. $200.00 left. There is room from " in said


def test_a_limit_says_the_moment_as_pages_do(team, dana, supplier, dana_browser):
    over_the_day(team, dana, supplier)

    said = words(dana_browser.post(PATH, filled(team, supplier, step="review")))

    moment = r"\w{3} \d{1,2}, \d{4}, \d{1,2}:\d{2} [AP]M E[SD]T"
    assert re.search(f"There is room from {moment} on", said), said


def test_what_is_left_is_said_only_of_what_is_sent_now(team, supplier, dana_browser):
    """Found: of a payment behind a queue the page said what would be left "then"."""
    at_once = words(dana_browser.post(PATH, filled(team, supplier, step="review")))
    orders.place(
        tenant_id=team.pk,
        mode=team.mode,
        order=orders.Order(amount=10**7, recipient=supplier.pk, wait_for_funds=True),
        actor=SYSTEM,
        now=utc_now(),
    )

    behind = words(dana_browser.post(PATH, filled(team, supplier, step="review", wait="on")))

    assert re.search(r"Balance of Acme, which will then have \$[\d.]+ available", at_once)
    assert BEHIND in behind
    assert "Balance of Acme, once the payments ahead of it have their money Method" in behind


@pytest.mark.parametrize("beside", [None, Role.VIEWER])
def test_an_owner_who_is_alone_is_not_told_of_a_second_person(acme, dana, dana_browser, beside):
    """Nor after they removed somebody who did not approve."""
    if beside:
        left = make_member(acme, email="vic@acme.example", role=beside).memberships.get()
        members.remove(tenant_id=acme.pk, membership_id=left.pk, actor=user(dana.pk), now=utc_now())
    fund(acme, 100_000)
    limits(acme)
    ask_above(acme, 0)
    alone = recipients.save(tenant_id=acme.pk, details=account(), actor=SYSTEM, now=utc_now())

    review = words(dana_browser.post(PATH, filled(acme, alone, step="review")))
    dana_browser.post(PATH, filled(acme, alone))

    assert (ASKED in review) == Payment.objects.get().requires_confirmation is False


class TestAnImitatedName:
    NAME = "\u0410cme Supplies"  # a Cyrillic A
    WARNING = "“\u0410cme” contains the Cyrillic letter “\u0410”, which looks like a Latin one."

    @pytest.fixture
    def imitated(self, team):
        return recipients.save(
            tenant_id=team.pk,
            details=account("000333", holder_name="Supplier LLC"),
            nickname=self.NAME,
            actor=SYSTEM,
            now=utc_now(),
        )

    def test_is_said_before_it_is_chosen_and_paid(self, team, imitated, supplier, dana_browser):
        assert self.WARNING in words(dana_browser.get(PATH))
        chosen = dana_browser.post(PATH, filled(team, imitated, step="review"))
        other = dana_browser.post(PATH, filled(team, supplier, step="review"))

        assert self.WARNING in words(chosen)
        assert self.WARNING not in words(other)

    def test_is_said_on_the_page_of_the_payment(self, team, imitated, supplier, dana_browser):
        """Found: whoever approves a payment reads this page, and it said nothing."""
        dana_browser.post(PATH, filled(team, imitated, step="confirm"))
        warned = Payment.objects.get()
        dana_browser.post(PATH, filled(team, supplier, step="confirm"))
        other = Payment.objects.exclude(pk=warned.pk).get()

        assert self.WARNING in words(dana_browser.get(f"/dashboard/payments/{warned.pk}"))
        assert self.WARNING not in words(dana_browser.get(f"/dashboard/payments/{other.pk}"))

    @pytest.mark.parametrize("part", ["", "/{id}/rename", "/{id}/remove"])
    def test_is_said_in_the_list_and_before_a_change(self, imitated, dana_browser, part):
        path = f"/dashboard/recipients{part.format(id=imitated.pk)}"

        assert self.WARNING in words(dana_browser.get(path))
