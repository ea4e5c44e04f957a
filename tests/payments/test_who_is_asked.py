"""Who can be asked depends on who pays: one owner is exempt, and nobody else is (decision 0184)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from approvals import answers
from approvals.errors import OwnPayment
from approvals.policies import Approver
from payments.models import PaymentConfirmation
from payments.services import recipients
from tenants.actors import SYSTEM, api_key, staff, user
from tenants.models import Membership, OutgoingEmail, Role
from tenants.services import audit, closing, keys, members
from tests.builders import NOW, make_member, make_staff
from tests.payments.asking import OWNER, approval_of
from tests.payments.asking import pay_account as order
from tests.payments.builders import account

pytestmark = pytest.mark.usefixtures("books_balance")

DAY = timedelta(hours=24)
LIMIT = 1_000
LARGE = 24_000
KNOWN, NEW = "000111", "000222"


@pytest.fixture
def live(limited):
    return limited


@pytest.fixture
def owner(lone_owner):
    return lone_owner


@pytest.fixture
def lee(live, owner):
    return make_member(live, email="lee@live.example", role=Role.MEMBER)


@pytest.fixture
def no_cool_down(settings):
    settings.RECIPIENT_COOL_DOWN_HOURS = 0


def key_of(tenant, actor):
    return api_key(keys.issue(tenant=tenant, name="server", actor=actor, now=NOW).key.pk)


def asked_about(payment):
    """Who is asked about the payment; None: nobody."""
    found = PaymentConfirmation.objects.filter(payment=payment).first()
    return found.approvers if found else None


def end(how, person, by):
    """The person approves no more, or less than before."""
    membership = person.memberships.get()
    ids = {"tenant_id": membership.tenant_id, "membership_id": membership.pk}
    if how == "removed":
        members.remove(**ids, actor=user(by.pk), now=NOW)
    elif how == "closed":
        support = make_staff("sam@ballast.example")
        closing.close(user_id=person.pk, actor=staff(support.pk), now=NOW)
    else:
        other = Role.VIEWER if membership.role == Role.MEMBER else Role.MEMBER
        members.change_role(**ids, role=other, actor=user(by.pk), now=NOW)


ENDS = pytest.mark.parametrize("how", ["removed", "given another role", "closed"])


def approve(payment, person):
    answers.approve_signed_in(
        tenant_id=payment.tenant_id,
        approval_id=approval_of(payment).pk,
        by=Approver(email=person.email, actor=user(person.pk)),
        typed_amount="240",
        now=NOW,
    )
    approval = approval_of(payment)
    return approval.decision, approval.decided_by


class TestOneOwner:
    """Found: beside one owner a member paid 240,000.00 to a new account, and nobody was asked."""

    def test_is_asked_about_what_a_member_pays_to_a_new_account(self, live, lee):
        assert asked_about(order(live, user(lee.pk))) == [OWNER]
        assert asked_about(order(live, user(lee.pk), 1)) == [OWNER]

    @pytest.mark.usefixtures("no_cool_down")
    def test_is_asked_about_what_a_member_pays_above_the_limit(self, live, lee):
        assert asked_about(order(live, user(lee.pk), LIMIT)) is None
        assert asked_about(order(live, user(lee.pk), 1)) == [OWNER]

    def test_is_asked_about_what_an_operators_key_pays(self, live, owner):
        assert asked_about(order(live, key_of(live, SYSTEM))) == [OWNER]

    def test_is_not_asked_about_what_they_pay(self, live, owner):
        assert asked_about(order(live, user(owner.pk))) is None
        assert asked_about(order(live, key_of(live, user(owner.pk)))) is None

    @ENDS
    @pytest.mark.parametrize("role", [Role.MEMBER, Role.VIEWER])
    def test_is_alone_still_after_somebody_left_who_did_not_approve(self, live, owner, how, role):
        """Found: the payment waited for a day, and nobody could answer."""
        end(how, make_member(live, email="vic@live.example", role=role), owner)

        assert asked_about(order(live, user(owner.pk))) is None

    @pytest.mark.parametrize(
        "action", ["member.removed", "member.role_changed", "account.closed_by_support"]
    )
    def test_is_not_alone_after_a_line_of_before_that_names_no_former_role(
        self, live, owner, action
    ):
        audit.record(tenant_id=live.pk, actor=SYSTEM, action=action, now=NOW)

        payment = order(live, user(owner.pk))

        assert asked_about(payment) == [OWNER]
        with pytest.raises(OwnPayment):
            approve(payment, owner)

    def test_lets_it_go_by_approving(self, live, owner, lee):
        assert approve(order(live, user(lee.pk)), owner) == ("approved", OWNER)


@pytest.mark.parametrize("role", [Role.OWNER, Role.APPROVER])
class TestTwoWhoApprove:
    """Whoever pays, the other one is asked."""

    OTHER = "other@live.example"

    @pytest.fixture
    def other(self, live, owner, role):
        return make_member(live, email=self.OTHER, role=role)

    def test_are_both_asked_about_what_others_pay(self, live, other, lee):
        assert asked_about(order(live, user(lee.pk))) == sorted([self.OTHER, OWNER])
        assert asked_about(order(live, key_of(live, SYSTEM))) == sorted([self.OTHER, OWNER])

    def test_ask_each_other(self, live, owner, other):
        assert asked_about(order(live, user(owner.pk))) == [self.OTHER]
        assert asked_about(order(live, key_of(live, user(owner.pk)))) == [self.OTHER]
        assert asked_about(order(live, user(other.pk))) == [OWNER]

    @ENDS
    def test_ask_for_a_day_after_the_other_one_left(self, live, owner, other, how):
        end(how, other, owner)
        actor = user(owner.pk)

        payment = order(live, actor, now=NOW + DAY - timedelta(seconds=1))
        assert asked_about(payment) == [OWNER]
        with pytest.raises(OwnPayment):
            approve(payment, owner)
        assert asked_about(order(live, actor, to=KNOWN, now=NOW + DAY)) is None


class TestSumsOfADay:
    """What nobody was asked about adds up, whoever was exempt."""

    pytestmark = pytest.mark.usefixtures("no_cool_down")

    def test_hold_what_the_exempt_owner_paid_to_the_same_recipient(self, live, owner, lee):
        assert asked_about(order(live, user(owner.pk))) is None

        assert asked_about(order(live, user(lee.pk), 1, to=NEW)) == [OWNER]
        assert asked_about(order(live, user(lee.pk), 1, to=KNOWN)) is None

    def test_of_members_and_keys_do_not_stop_the_owner(self, live, owner, lee):
        for actor in (user(lee.pk), key_of(live, SYSTEM)):
            assert asked_about(order(live, actor, LIMIT // 2)) is None

        assert asked_about(order(live, user(owner.pk), LIMIT)) is None
        assert asked_about(order(live, user(lee.pk), 1)) == [OWNER]

    def test_count_what_was_paid_alone_once_there_are_two(self, live, owner):
        assert asked_about(order(live, user(owner.pk), LIMIT)) is None
        make_member(live, email="other@live.example", role=Role.APPROVER)

        assert asked_about(order(live, user(owner.pk), 1, to=KNOWN)) == ["other@live.example"]


class TestNobodyWhoCouldAnswer:
    """0055: the payment stays open for whoever joins, and fails after three days."""

    def test_a_maker_who_is_no_owner_asks_even_so(self, live, owner):
        """The only one left who approves made the key as an owner, and is an approver now."""
        key = key_of(live, user(owner.pk))
        Membership.objects.filter(user=owner).update(role=Role.APPROVER)

        assert asked_about(order(live, key)) == []

    def test_a_member_asks_while_the_owners_account_is_closed(self, live, owner, lee):
        support = make_staff("sam@ballast.example")
        closing.close(user_id=owner.pk, actor=staff(support.pk), now=NOW)

        assert asked_about(order(live, user(lee.pk), now=NOW + 2 * DAY)) == []

    def test_a_tenant_without_people_pays_by_operators_keys(self, live):
        assert asked_about(order(live, key_of(live, SYSTEM))) is None


class TestMailOfARecipient:
    """Nobody is asked about the first payment of an owner who is alone, so they read of it."""

    def save(self, tenant, actor):
        recipients.save(tenant_id=tenant.pk, details=account(NEW), actor=actor, now=NOW)
        rows = OutgoingEmail.objects.filter(tenant=tenant, template="access_changed")
        return [(row.to, row.context["what"], row.context["facts"]) for row in rows]

    def test_goes_to_the_owner_who_is_alone(self, live, owner):
        facts = [{"label": "Account", "value": "JPMorgan Chase ending in 0222"}]

        assert self.save(live, user(owner.pk)) == [
            (OWNER, "Recipient Supplier LLC was added", facts)
        ]

    def test_is_not_sent_where_somebody_is_asked(self, live, owner, lee):
        assert self.save(live, user(lee.pk)) == []

    def test_is_not_sent_in_the_sandbox(self, acme):
        dana = make_member(acme, email="dana@acme.example", role=Role.OWNER)

        assert self.save(acme, user(dana.pk)) == []
