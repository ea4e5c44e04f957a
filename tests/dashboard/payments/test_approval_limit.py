"""A change of the approval limit that waits, as people see and decide it."""

from __future__ import annotations

import pytest

from common.clock import utc_now
from payments.services import approval_settings, approvals
from tenants.actors import SYSTEM
from tenants.models import Mode, Role
from tests.builders import make_member, make_tenant

LIMIT = "/dashboard/payments/approval"
CHANGE = f"{LIMIT}/change"


@pytest.fixture
def acme(db):
    return make_tenant(mode=Mode.LIVE)


@pytest.fixture
def checker(acme):
    return make_member(acme, email="checker@acme.example", role=Role.APPROVER)


@pytest.fixture
def waiting(acme, dana_browser, checker):
    """Dana wants nobody to be asked; checker may say no."""
    approval_settings.set_threshold(
        tenant_id=acme.pk, threshold=100_000, actor=SYSTEM, now=utc_now()
    )
    response = dana_browser.post(LIMIT, {"acting_for": acme.pk, "threshold": ""})
    assert response["Location"] == CHANGE
    return acme


def limit(tenant):
    return approvals.approval_threshold(tenant_id=tenant.pk, mode=tenant.mode, now=utc_now())


def decide(browser, tenant, decision):
    form = {"acting_for": tenant.pk, "decision": decision}
    return browser.post(CHANGE, form, follow=True).content.decode()


class TestWaitingChange:
    def test_says_what_was_asked_by_whom(self, waiting, dana_browser, sign_in, checker):
        own = dana_browser.get(CHANGE).content.decode()
        other = sign_in(checker).get(CHANGE).content.decode()

        for page in (own, other):
            assert "Payments above $1,000.00" in page
            assert "No payment needs approval." in page
            assert "dana@acme.example" in page
        assert ("Withdraw" in own, "Approve now" in own) == (True, False)
        assert ("Refuse" in other, "Approve now" in other) == (True, True)
        assert limit(waiting) == 100_000

    def test_is_announced_to_those_who_decide(self, waiting, dana_browser, sign_in, checker):
        viewer = make_member(waiting, email="viewer@acme.example", role=Role.VIEWER)

        for browser, is_told in ((dana_browser, True), (sign_in(checker), True),
                                 (sign_in(viewer), False)):  # fmt: skip
            page = browser.get("/dashboard/payments").content.decode()
            assert (f'href="{CHANGE}"' in page) is is_told
        assert f'href="{CHANGE}"' in dana_browser.get(LIMIT).content.decode()

    def test_counts_once_a_second_person_agrees(self, waiting, sign_in, checker):
        page = decide(sign_in(checker), waiting, "agree")

        assert "The change is in effect." in page
        assert limit(waiting) is None

    def test_is_refused(self, waiting, sign_in, checker):
        assert "The limit stays as it is." in decide(sign_in(checker), waiting, "refuse")

        assert limit(waiting) == 100_000
        assert "No pending change" in sign_in(checker).get(CHANGE).content.decode()

    def test_is_not_agreed_to_by_who_asked(self, waiting, dana_browser):
        assert "cannot agree to it" in decide(dana_browser, waiting, "agree")

        assert limit(waiting) == 100_000

    @pytest.mark.parametrize("role", [Role.MEMBER, Role.VIEWER])
    def test_is_nothing_for_others(self, waiting, sign_in, role):
        browser = sign_in(make_member(waiting, email=f"{role}@acme.example", role=role))

        assert browser.get(CHANGE).status_code == 403
        assert browser.post(CHANGE, {"acting_for": waiting.pk}).status_code == 403

    def test_is_read_in_the_audit_log_with_amounts(self, waiting, dana_browser):
        page = dana_browser.get("/dashboard/audit-log").content.decode()

        assert "Asked to change the approval limit of payments from $1,000.00 to none" in page
