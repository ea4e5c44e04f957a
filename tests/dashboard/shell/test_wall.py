"""Row level security behind tenants' pages: what a view without any filter shows."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.db import ProgrammingError, connection, transaction
from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.urls import include, path

from dashboard.shell.access import tenant_form, tenant_page
from funding.models import FundingTransaction
from payments.models import Payment
from tenants import selectors
from tenants.models import Membership, Tenant, User
from tests.builders import make_member, make_staff
from tests.funding.builders import top_up
from tests.payments.builders import fund, pay

pytestmark = [pytest.mark.django_db, pytest.mark.urls(__name__)]


def _everything():
    """As by selectors that forgot their filter."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        ((role,),) = cursor.fetchall()
    fundings = FundingTransaction.objects.values_list("tenant_id", flat=True)
    payments = Payment.objects.values_list("tenant_id", flat=True)
    return {
        "role": role,
        "tenants": list(Tenant.objects.values_list("pk", flat=True)),
        "fundings": sorted(set(fundings)),
        "payments": sorted(set(payments)),
        "people": sorted(User.objects.values_list("email", flat=True)),
    }


@tenant_page()
def careless(_request):
    return JsonResponse(_everything())


@tenant_form()
def acting(_request):
    return JsonResponse(_everything())


@tenant_form()
def injected(_request):
    """A statement that changes whatever it reaches."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE tenants_tenant SET name = 'mine'")
        return JsonResponse({"changed": cursor.rowcount})


@tenant_page()
def streamed(_request):
    rows = Payment.objects.values_list("tenant_id", flat=True).iterator(chunk_size=1)
    return StreamingHttpResponse(f"{tenant_id}\n".encode() for tenant_id in rows)


@tenant_page()
def secrets(_request):
    for column in ("data", "*"):
        refused = pytest.raises(ProgrammingError, match="permission denied")
        with refused, transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SELECT {column} FROM mfa_authenticator")
    return HttpResponse()


urlpatterns = [
    path("careless", careless),
    path("acting", acting),
    path("injected", injected),
    path("streamed", streamed),
    path("secrets", secrets),
    path("", include("config.urls")),
]


@pytest.fixture
def both(acme, rival):
    for tenant in (acme, rival):
        fund(tenant, 1_000)
        top_up(tenant)
        pay(tenant, 100)
    make_member(rival, email="stranger@rival.example")
    return acme, rival


@pytest.fixture
def dana(acme):
    return make_member(acme, email="dana@acme.example")


def ours(tenant):
    people = Membership.objects.filter(tenant=tenant).values_list("user__email", flat=True)
    return {
        "role": settings.DATABASE_API["USER"],
        "tenants": [tenant.pk],
        "fundings": [tenant.pk],
        "payments": [tenant.pk],
        "people": sorted(people),
    }


class TestAViewThatForgotItsFilter:
    def test_shows_no_row_of_another_tenant(self, both, dana, sign_in):
        found = sign_in(dana).get("/careless").json()

        assert found == ours(both[0])

    def test_shows_none_where_it_acts(self, both, dana, sign_in):
        found = sign_in(dana).post("/acting", {"acting_for": both[0].pk}).json()

        assert found == ours(both[0])

    def test_changes_no_row_of_another_tenant(self, both, dana, sign_in):
        found = sign_in(dana).post("/injected", {"acting_for": both[0].pk}).json()

        assert found == {"changed": 1}
        assert Tenant.objects.get(pk=both[1].pk).name == "Rival"

    def test_streams_no_row_of_another_tenant(self, both, dana, sign_in):
        lines = sign_in(dana).get("/streamed").getvalue().split()

        assert lines == [both[0].pk.encode()]

    def test_shows_the_tenant_that_is_chosen_to_who_belongs_to_two(self, both, dana, sign_in):
        make_member(both[1], email=dana.email)
        browser = sign_in(dana)
        for tenant in both:
            browser.post("/dashboard/tenant", {"tenant": tenant.pk})

            assert browser.get("/careless").json() == ours(tenant)

    def test_reads_no_second_factor(self, both, dana, sign_in):
        assert sign_in(dana).get("/secrets").status_code == 200

    def test_leaves_the_product_as_it_was(self, both, dana, sign_in):
        sign_in(dana).get("/careless")

        with connection.cursor() as cursor:
            cursor.execute("SELECT current_user, current_setting('ballast.tenant', true)")
            assert cursor.fetchall() == [(settings.DATABASE_APPLICATION_ROLE, "")]


class TestPeopleWhoAreNoMembers:
    def test_are_named_by_their_ids(self, both, dana):
        staff = make_staff("sam@staff.example")
        stranger = User.objects.get(email="stranger@rival.example")

        assert selectors.names_for_tenants({dana.pk, staff.pk, stranger.pk}) == {
            dana.pk: "dana@acme.example",
            staff.pk: "Support",
            stranger.pk: "stranger@rival.example",
        }

    def test_are_found_by_an_address_only_if_they_acted_here(self, both, dana):
        acme, rival = both
        stranger = User.objects.get(email="stranger@rival.example")

        assert selectors.actor_ids(tenant_id=acme.pk, text=stranger.email) == [stranger.email]
        assert stranger.pk in selectors.actor_ids(tenant_id=rival.pk, text=stranger.email)
        assert dana.pk in selectors.actor_ids(tenant_id=acme.pk, text=dana.email)
