"""Four eyes by person: who makes a payment by an API key made it themselves."""

from __future__ import annotations

import pytest

from approvals.errors import FormerApprover, NotAnApprover
from payments.models import PaymentConfirmation
from tenants.actors import SYSTEM, api_key, user
from tenants.services import keys
from tests.builders import NOW, mails_of
from tests.payments.asking import (
    CHECKER,
    OWNER,
    approval_of,
    approve,
    approve_signed_in,
    order,
    outcome,
)

pytestmark = pytest.mark.usefixtures("books_balance")


def key_of(tenant, actor):
    return api_key(keys.issue(tenant=tenant, name="server", actor=actor, now=NOW).key.pk)


class TestOwnKey:
    """Found: an owner issued a key, paid with it above the limit and approved it."""

    @pytest.fixture
    def payment(self, rule, owner):
        return order(rule, actor=key_of(rule, user(owner.pk)))

    def test_its_maker_is_not_asked(self, rule, payment):
        assert approval_of(payment).approvers == [CHECKER]
        assert mails_of(rule, "confirmation_request") == [CHECKER]

    def test_its_maker_cannot_approve(self, payment, owner):
        with pytest.raises(NotAnApprover):
            approve_signed_in(payment, owner)
        with pytest.raises(FormerApprover):
            approve(payment, email=OWNER.upper())

        assert outcome(payment) == ("open", "", "created", "")

    def test_its_maker_cannot_approve_even_if_asked(self, payment, owner):
        PaymentConfirmation.objects.update(approvers=[OWNER, CHECKER])

        with pytest.raises(NotAnApprover):
            approve_signed_in(payment, owner)

        assert outcome(payment) == ("open", "", "created", "")

    def test_somebody_else_approves(self, payment, checker):
        approve_signed_in(payment, checker)

        assert outcome(payment) == ("approved", CHECKER, "created", "")


def test_every_owner_is_another_person_than_the_command_line(rule, owner):
    payment = order(rule, actor=key_of(rule, SYSTEM))

    approve_signed_in(payment, owner)

    assert outcome(payment) == ("approved", OWNER, "created", "")
