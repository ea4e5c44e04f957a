"""The desk's requests work under a login of their own, which holds nobody's credentials (decision
0191)."""

from __future__ import annotations

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import ProgrammingError, connection, transaction
from django.http import HttpResponse, StreamingHttpResponse
from django.test import RequestFactory
from django.urls import reverse

from common.database import job_doors, jobs
from desk.door import DeskLogin
from payments.models import PaymentConfirmation
from tenants.actors import SYSTEM
from tenants.models import AuditEvent, Invitation, Role, User
from tests.builders import NOW, browser_of, make_endpoint, make_staff
from tests.dashboard.account.test_second_factor import SECRET, code_of
from tests.payments.builders import fund, pay
from tests.settings import DATABASE_APPLICATION_ROLE
from webhooks.models import DisabledReason
from webhooks.services import endpoints

pytestmark = pytest.mark.django_db

ROLE = settings.DATABASE_JOBS[jobs.DESK]["USER"]


def role():
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        return cursor.fetchone()[0]


def answered(path, view):
    request = RequestFactory().get(path)
    request.user = AnonymousUser()
    return DeskLogin(view)(request)


@pytest.mark.parametrize("path", ["/admin/", "/admin/tenants/tenant/", "/admin/desk/queues/"])
def test_its_pages_work_under_its_role(path):
    assert answered(path, lambda _: HttpResponse(role())).content.decode() == ROLE
    assert role() == DATABASE_APPLICATION_ROLE


def test_its_downloads_do_so_to_the_last_row():
    answer = answered("/admin/", lambda _: StreamingHttpResponse(role() for _ in range(2)))

    assert b"".join(answer.streaming_content).decode() == ROLE * 2
    assert role() == DATABASE_APPLICATION_ROLE


@pytest.mark.parametrize(
    "path", ["/dashboard/", "/accounts/login/", reverse("admin:logout"), "/administer/"]
)
def test_other_pages_do_not(path):
    assert answered(path, lambda _: HttpResponse(role())).content.decode() != ROLE


@pytest.mark.usefixtures("_app")
class TestProof:
    """Who acts proves it to sign-in, which reads second factors: the desk does not."""

    @pytest.fixture
    def ann(self):
        return make_staff("ann@ballast.example")

    @pytest.fixture
    def _app(self, ann):
        TOTP.activate(ann, SECRET)

    def test_is_taken_by_a_code(self, acme, ann):
        address = f"/admin/desk/tenants/{acme.pk}/suspend/"
        browser = browser_of(ann, factor="totp", minutes_ago=11)
        assert b"proof-code" in browser.post(address, {"reason": "as they asked for"}).content

        wrong = browser.post(address, {"reason": "as they asked for", "proof-code": "000000"})
        right = browser.post(address, {"reason": "as they asked for", "proof-code": code_of()})

        assert b"Incorrect code" in wrong.content
        assert right.status_code == 302
        acme.refresh_from_db()
        assert acme.status == "suspended"


def refused(act):
    denied = pytest.raises(ProgrammingError, match="row-level security")
    with job_doors.of(jobs.DESK), denied, transaction.atomic():
        act()


def test_an_endpoint_is_switched_off_and_on_without_its_secret(acme):
    """What else staff do has its stories in `tests.crashes`."""
    which = {"tenant_id": acme.pk, "endpoint_id": make_endpoint(acme).pk}

    with job_doors.of(jobs.DESK):
        off = endpoints.disable(reason=DisabledReason.STAFF, actor=SYSTEM, now=NOW, **which)
        on = endpoints.enable(actor=SYSTEM, now=NOW, **which)

    assert (off, on.status) == (True, "enabled")


class TestWhatStaffWrite:
    def test_makes_no_superuser(self):
        person = User.objects.create_user(email="ada@ballast.example")

        refused(lambda: User.objects.filter(pk=person.pk).update(is_superuser=True))
        refused(lambda: User.objects.create_superuser(email="bea@ballast.example"))
        with job_doors.of(jobs.DESK):
            User.objects.filter(pk=person.pk).update(is_staff=True)

    def test_makes_no_link_of_an_invitation(self, acme):
        values = {"tenant": acme, "role": Role.OWNER, "created_at": NOW, "expires_at": NOW}
        with job_doors.of(jobs.DESK):
            mine = Invitation.objects.create(email="ada@acme.example", **values)

        refused(lambda: Invitation.objects.filter(pk=mine.pk).update(digest="d"))
        refused(lambda: Invitation.objects.create(email="bea@acme.example", digest="d", **values))

    def test_answers_no_approval(self, acme):
        fund(acme, 1_000)
        values = {"tenant": acme, "amount": 100, "created_at": NOW, "expires_at": NOW}
        asked = pay(acme, 100)
        with job_doors.of(jobs.DESK):
            PaymentConfirmation.objects.create(payment=asked, **values)

        for decision in ("approved", "declined"):
            answer = {"decision": decision, "decided_at": NOW}
            refused(lambda answer=answer: PaymentConfirmation.objects.update(**answer))

    def test_is_no_line_of_somebody_else(self, acme):
        line = {"tenant": acme, "action": "x", "created_at": NOW}
        for actor_type in ("user", "api_key", "approver"):
            refused(lambda kind=actor_type: AuditEvent(actor_type=kind, **line).save())
