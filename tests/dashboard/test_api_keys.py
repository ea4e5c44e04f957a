from __future__ import annotations

import pytest

from tenants import scopes
from tenants.models import ApiKey, AuditEvent, Role
from tests.builders import ApiClient, make_key, make_member

ROOT = "/dashboard/api-keys"


@pytest.fixture
def key(acme):
    make_key(acme)
    return ApiKey.objects.get()


def wish(tenant, **fields):
    return {"acting_for": tenant.pk, "name": "billing", "scopes": ["balance:read"], **fields}


class TestCreating:
    def test_shows_a_working_key_once(self, acme, dana, dana_browser):
        response = dana_browser.post(f"{ROOT}/new", wish(acme))

        text = response.context["issued"].text
        assert text in response.content.decode()
        assert response["Cache-Control"] == "private, no-store"
        assert ApiClient(text).get("/api/v1/balance/summary").status_code == 200
        assert text not in dana_browser.get(ROOT).content.decode()
        assert AuditEvent.objects.get(action="api_key.issued").actor_id == dana.pk

    def test_gives_only_the_scopes_that_were_ticked(self, acme, dana_browser):
        dana_browser.post(f"{ROOT}/new", wish(acme))

        assert ApiKey.objects.get().scopes == ["balance:read"]

    @pytest.mark.parametrize(
        "fields", [{"name": ""}, {"scopes": []}, {"scopes": ["everything:write"]}]
    )
    def test_explains_what_is_missing(self, acme, dana_browser, fields):
        response = dana_browser.post(f"{ROOT}/new", wish(acme, **fields))

        assert response.status_code == 422
        assert f"id_{next(iter(fields))}_error" in response.content.decode()
        assert not ApiKey.objects.exists()

    def test_says_when_there_are_too_many(self, acme, dana_browser):
        for _ in range(20):
            make_key(acme)

        response = dana_browser.post(f"{ROOT}/new", wish(acme))

        assert response.status_code == 422
        assert b"already has 20 usable keys" in response.content


class TestList:
    def test_says_what_each_key_may_do(self, key, dana_browser):
        content = dana_browser.get(ROOT).content.decode()

        assert key.prefix in content
        assert "Everything" in content
        assert "Never" in content

    def test_hides_other_tenants(self, key, ravi, sign_in):
        assert key.prefix not in sign_in(ravi).get(ROOT).content.decode()


class TestRevoking:
    def test_asks_first_then_ends_the_key(self, acme, key, dana_browser):
        path = f"{ROOT}/{key.pk}/revoke"
        assert b"cannot be undone" in dana_browser.get(path).content
        assert ApiKey.objects.get().revoked_at is None

        dana_browser.post(path, {"acting_for": acme.pk})

        assert ApiKey.objects.get().revoked_at is not None
        assert AuditEvent.objects.filter(action="api_key.revoked").count() == 1

    def test_of_another_tenant_finds_nothing(self, key, rival, ravi, sign_in):
        path = f"{ROOT}/{key.pk}/revoke"

        assert sign_in(ravi).post(path, {"acting_for": rival.pk}).status_code == 404
        assert ApiKey.objects.get().revoked_at is None

    def test_from_a_stale_window_does_nothing(self, key, rival, dana_browser):
        response = dana_browser.post(f"{ROOT}/{key.pk}/revoke", {"acting_for": rival.pk})

        assert response.status_code == 409
        assert ApiKey.objects.get().revoked_at is None


class TestWho:
    @pytest.mark.parametrize("role", [Role.MEMBER, Role.APPROVER, Role.VIEWER])
    def test_is_no_owner_neither_creates_nor_revokes(self, acme, key, sign_in, role):
        browser = sign_in(make_member(acme, email=f"{role}@acme.example", role=role))

        assert browser.post(f"{ROOT}/new", wish(acme, scopes=scopes.ALL)).status_code == 403
        revoked = browser.post(f"{ROOT}/{key.pk}/revoke", {"acting_for": acme.pk})
        assert revoked.status_code == 403
        assert browser.get(ROOT).status_code == (200 if role == Role.MEMBER else 403)
        assert ApiKey.objects.get().revoked_at is None
