"""An owner whose payments nobody else approves proves who they are before a large one."""

from __future__ import annotations

import pytest
from allauth.mfa.totp.internal.auth import TOTP

from common.clock import utc_now
from payments.models import Payment
from payments.services import approval_settings, cool_down_settings, recipients
from tenants.actors import SYSTEM
from tenants.models import Role
from tests.builders import NOW, browser_of, make_member
from tests.dashboard.account.test_second_factor import PASSWORD, SECRET, code_of
from tests.dashboard.payments.test_pay import PATH, filled, make_recipient
from tests.dashboard.shell.test_step_up import carried, hidden
from tests.payments.builders import account, fund, funds_of

LIMIT = 20_000  # cents; the form pays 25,000


@pytest.fixture
def supplier(acme):
    """A recipient that was known before, and a balance of $1,000.00."""
    approval_settings.set_threshold(tenant_id=acme.pk, threshold=LIMIT, actor=SYSTEM, now=NOW)
    fund(acme, 100_000)
    return make_recipient(acme)


@pytest.fixture
def late(dana):
    """The browser of Dana, who is alone, eleven minutes after the sign-in with an app."""
    TOTP.activate(dana, SECRET)
    return browser_of(dana, factor="totp", minutes_ago=11)


def prove(browser, asked, **fields):
    return browser.post(PATH, {**hidden(asked), "proof-code": code_of(), **fields})


class TestAnOldSessionOfWhoIsAlone:
    def test_pays_nothing_above_the_limit(self, acme, supplier, late):
        form = filled(acme, supplier)

        asked = late.post(PATH, form)

        assert asked.status_code == 403
        assert b"Confirm it is you" in asked.content
        assert carried(asked) == form
        assert not Payment.objects.exists()
        assert funds_of(acme) == (100_000, 0)

    def test_pays_after_a_proof_what_was_asked_for_before(self, acme, dana, supplier, late):
        form = filled(acme, supplier)

        answer = prove(late, late.post(PATH, form))

        row = Payment.objects.get()
        assert answer["Location"] == f"/dashboard/payments/{row.pk}"
        assert (row.amount, row.created_by_id, row.needs_approval) == (25_000, dana.pk, False)
        assert (row.recipient, row.description) == (supplier, "Invoice 7")

    def test_pays_nothing_with_a_wrong_proof(self, acme, supplier, late):
        wrong = late.post(PATH, filled(acme, supplier, **{"proof-code": "000000"}))

        assert wrong.status_code == 403
        assert not Payment.objects.exists()

    def test_pays_once_however_often_the_proof_is_sent(self, acme, supplier, late):
        asked = late.post(PATH, filled(acme, supplier))

        first, second = prove(late, asked), prove(late, asked)

        assert first["Location"] == second["Location"]
        assert funds_of(acme) == (75_000, 25_000)

    def test_is_asked_once_in_a_journey(self, acme, supplier, late):
        prove(late, late.post(PATH, filled(acme, supplier)))

        assert late.post(PATH, filled(acme, supplier)).status_code == 302
        assert Payment.objects.count() == 2

    def test_is_asked_by_the_sum_of_a_day(self, acme, supplier, late):
        for _ in range(2):
            assert late.post(PATH, filled(acme, supplier, amount="100.00")).status_code == 302

        assert late.post(PATH, filled(acme, supplier, amount="0.01")).status_code == 403
        assert funds_of(acme) == (80_000, 20_000)

    def test_pays_nothing_to_an_account_that_is_new(self, acme, supplier, late):
        cool_down_settings.set_hours(tenant_id=acme.pk, hours=24, actor=SYSTEM, now=NOW)
        new = recipients.save(
            tenant_id=acme.pk, details=account("777777"), actor=SYSTEM, now=utc_now()
        )

        assert late.post(PATH, filled(acme, new, amount="1.00")).status_code == 403
        assert late.post(PATH, filled(acme, supplier, amount="1.00")).status_code == 302
        assert Payment.objects.get().recipient == supplier

    def test_is_asked_for_the_password_without_a_factor(self, acme, dana, supplier):
        dana.set_password(PASSWORD)
        dana.save()
        browser = browser_of(dana, minutes_ago=11)
        asked = browser.post(PATH, filled(acme, supplier))
        assert asked.status_code == 403

        browser.post(PATH, {**hidden(asked), "proof-password": PASSWORD})

        assert Payment.objects.get().amount == 25_000


class TestNobodyElseIsAsked:
    def test_up_to_the_limit(self, acme, supplier, late):
        assert late.post(PATH, filled(acme, supplier, amount="200.00")).status_code == 302
        assert Payment.objects.get().amount == LIMIT

    def test_where_a_second_person_is(self, acme, supplier, late):
        make_member(acme, email="cfo@acme.example", role=Role.APPROVER)

        assert late.post(PATH, filled(acme, supplier)).status_code == 302
        assert Payment.objects.get().needs_approval

    def test_beside_the_owner_who_approves_what_they_pay(self, acme, dana, supplier):
        lee = browser_of(make_member(acme, email="lee@acme.example"), minutes_ago=11)

        assert lee.post(PATH, filled(acme, supplier)).status_code == 302
        assert Payment.objects.get().needs_approval

    def test_where_there_is_no_limit(self, acme, supplier, late):
        approval_settings.set_threshold(tenant_id=acme.pk, threshold=None, actor=SYSTEM, now=NOW)

        assert late.post(PATH, filled(acme, supplier)).status_code == 302

    def test_before_the_last_step(self, acme, supplier, late):
        assert late.post(PATH, filled(acme, supplier, step="review")).status_code == 200
        assert late.post(PATH, filled(acme, supplier, step="edit")).status_code == 200
