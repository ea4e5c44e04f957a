from __future__ import annotations

import json
from collections import Counter
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from api.models import ApiRequest
from demo.tenant import history as demo_history
from funding.models import FundingSource, FundingTransaction
from payments.models import Payment
from tenants.models import OutgoingEmail, Tenant, User
from tests.builders import ApiClient
from webhooks.models import WebhookAttempt, WebhookDelivery, WebhookEndpoint


def seed():
    out = StringIO()
    call_command("seed_demo", "--json", stdout=out)
    return json.loads(out.getvalue())


@pytest.mark.slow
@pytest.mark.django_db
class TestSeedDemo:
    @pytest.fixture(autouse=True)
    def _development(self, settings):
        settings.DEBUG = True

    @pytest.fixture
    def _two_days(self, monkeypatch):
        """A history that is soon told."""
        monkeypatch.setattr(demo_history, "DAYS", 2)

    @pytest.mark.usefixtures("_two_days")
    def test_makes_a_tenant_that_can_be_used_at_once(self, client):
        made = seed()

        summary = ApiClient(made["apiKey"]).get("/api/v1/balance/summary").json()["data"]
        assert summary["pendingBalance"] == 750_000 + 120_000
        client.post("/accounts/login/", {"login": made["email"], "password": made["password"]})
        assert b"Northwind Trading" in client.get("/dashboard/").content
        client.logout()
        admin = {"login": made["adminEmail"], "password": made["adminPassword"]}
        client.post("/accounts/login/", admin)
        assert client.get("/admin/").status_code == 200

    @pytest.mark.usefixtures("_two_days")
    def test_has_called_the_api_once_and_was_refused_twice(self, settings):
        settings.REQUEST_LOG_SECONDS = 86_400  # longer than any test: `seed_demo` writes itself

        seed()
        seed()

        answers = ApiRequest.objects.order_by("pk").values_list("status", "error_code")
        assert list(answers) == [
            (200, ""),
            (200, ""),
            (200, ""),
            (200, ""),
            (404, "not_found"),
            (400, "invalid_request"),
        ]

    def test_has_lived_for_thirty_days(self):
        seed()

        funding = Counter(FundingTransaction.objects.values_list("trigger", "status"))
        assert funding == {
            ("topup", "completed"): 1,
            ("auto_funding", "completed"): 4,
            ("topup", "failed"): 1,
            ("topup", "awaiting_confirmation"): 1,
            ("topup", "reserved"): 1,
        }
        payments = Counter(Payment.objects.values_list("status", flat=True))
        assert payments == {"completed": 30, "returned": 1}
        days = Payment.objects.dates("created_at", "day")
        assert days.count() == 30
        call_command("check_ledger", "--full")

    def test_has_an_endpoint_that_was_told_of_the_last_days(self, monkeypatch):
        monkeypatch.setattr(demo_history, "DAYS", 5)

        seed()

        endpoint = WebhookEndpoint.objects.get()
        assert (endpoint.status, endpoint.consecutive_failures) == ("disabled", 0)
        told = Counter(
            WebhookDelivery.objects.values_list("status", "failures", "last_status_code")
        )
        assert told.pop(("failed", 11, 500)) == 1
        assert told.pop(("delivered", 2, 200)) == 1
        assert told.pop(("delivered", 0, 200)) >= 15
        assert set(told) == {("skipped", 0, None)}  # what happened just now
        late = WebhookAttempt.objects.filter(delivery__failures=2).order_by("number")
        assert list(late.values_list("status_code", flat=True)) == [503, 503, 200]
        assert not OutgoingEmail.objects.filter(template__startswith="webhook_").exists()

    @pytest.mark.usefixtures("_two_days")
    def test_a_second_run_only_replaces_the_key(self):
        first = seed()
        second = seed()

        assert second == {**first, "apiKey": second["apiKey"]}
        assert ApiClient(first["apiKey"]).get("/api/v1/balance/summary").status_code == 401
        assert ApiClient(second["apiKey"]).get("/api/v1/balance/summary").status_code == 200
        assert Tenant.objects.count() == 1
        people = set(User.objects.values_list("is_staff", "is_superuser"))
        assert (User.objects.count(), people) == (4, {(False, False), (True, False)})
        assert FundingSource.objects.count() == 2
        assert Payment.objects.count() == 3

    @pytest.mark.usefixtures("_two_days")
    def test_a_second_run_restores_a_changed_password(self, client):
        person = User.objects.get(email=seed()["email"])
        person.set_password("something else entirely")
        person.save()

        made = seed()

        client.post("/accounts/login/", {"login": made["email"], "password": made["password"]})
        assert client.get("/dashboard/").status_code == 200

    def test_refuses_outside_development(self, settings):
        settings.DEBUG = False

        with pytest.raises(CommandError, match="DEBUG only"):
            seed()
        assert not Tenant.objects.exists()
