"""Who may call: Bearer keys, their scopes, networks, expiry and revocation."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test.utils import CaptureQueriesContext

from common.clock import utc_now
from tenants.actors import SYSTEM
from tenants.models import ApiKey, Mode
from tenants.services import accounts, keys
from tests.api.machinery import NOTES
from tests.api.test_conventions_errors import problem
from tests.builders import ApiClient, enter_as, make_key, make_tenant
from tests.database import owner

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("machinery")]

CHALLENGE = 'Bearer error="invalid_token"'


def get_with(header: str | None):
    api = ApiClient()
    return api.get(NOTES, headers={"Authorization": header} if header is not None else None)


def last_used():
    return ApiKey.objects.values_list("last_used_at", flat=True).get()


def flipped(key: str) -> str:
    return key[:-1] + ("0" if key[-1] != "0" else "1")


class TestNoKey:
    def test_is_401_with_a_bare_challenge(self, acme):
        response = get_with(None)

        body = problem(response, 401, "not_authenticated")
        assert response["WWW-Authenticate"] == "Bearer"
        assert "`Authorization: Bearer <API key>`" in body["detail"]

    @pytest.mark.parametrize("header", ["", "Bearer", "Bearer   ", "Token abc", "Basic YTpi", "é"])
    def test_neither_is_another_scheme_or_an_empty_one(self, acme, header):
        response = get_with(header)

        problem(response, 401, "not_authenticated")
        assert response["WWW-Authenticate"] == "Bearer"

    def test_comes_before_anything_about_the_body(self, acme):
        response = ApiClient().post(NOTES, b"{bad", content_type="application/json")

        problem(response, 401, "not_authenticated")

    def test_a_key_in_the_address_does_not_count(self, acme):
        key = make_key(acme)

        response = ApiClient().get(f"{NOTES}?api_key={key}&access_token={key}")

        problem(response, 401, "not_authenticated")
        assert key not in response.content.decode()

    def test_a_session_does_not_count(self, acme):
        api = ApiClient()
        user = get_user_model().objects.create_superuser(email="boss@acme.example")
        enter_as(api, user)

        problem(api.get(NOTES), 401, "not_authenticated")


class TestWrongKey:
    def test_is_401_and_is_not_echoed(self, acme):
        key = make_key(acme)
        swapped = key[:20] + flipped(key[20:21]) + key[21:]
        presented = [
            flipped(key), swapped, key[:17], key[:-1], key + "0", key.upper(), f"{key} {key}",
            f"{key}, Bearer {key}", "' OR 1=1--", "a" * 4000, "whsec_abc", "\udcff", "é" * 58,
        ]  # fmt: skip

        for text in presented:
            response = get_with(
                f"Bearer {text}".encode("utf-8", "surrogateescape").decode("latin1")
            )

            problem(response, 401, "invalid_token")
            assert response["WWW-Authenticate"] == CHALLENGE
            assert text not in response.content.decode()

    def test_costs_no_query_when_its_checksum_is_wrong(self, acme, django_assert_num_queries):
        key = make_key(acme)

        with django_assert_num_queries(0):
            problem(get_with(f"Bearer {flipped(key)}"), 401, "invalid_token")

    def test_wellformed_but_never_issued(self, acme):
        key = make_key(acme)
        with owner.as_superuser(triggers=False):
            ApiKey.objects.all().delete()

        problem(get_with(f"Bearer {key}"), 401, "invalid_token")

    def test_same_prefix_other_secret(self, acme):
        key = make_key(acme)
        with owner.as_superuser(triggers=False):
            ApiKey.objects.update(digest="0" * 64)

        problem(get_with(f"Bearer {key}"), 401, "invalid_token")

    def test_expired(self, acme):
        key = make_key(acme, expires_at=utc_now() + timedelta(hours=1))
        assert get_with(f"Bearer {key}").status_code == 200

        ApiKey.objects.update(expires_at=utc_now())

        problem(get_with(f"Bearer {key}"), 401, "invalid_token")

    def test_revoked_at_once(self, acme):
        key = make_key(acme)
        assert get_with(f"Bearer {key}").status_code == 200

        keys.revoke(key_id=ApiKey.objects.get().pk, actor=SYSTEM, now=utc_now())

        problem(get_with(f"Bearer {key}"), 401, "invalid_token")


class TestRightKey:
    @pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
    def test_the_scheme_word_is_case_insensitive(self, acme, scheme):
        assert get_with(f"{scheme} {make_key(acme)}").status_code == 200

    def test_costs_one_query_and_a_write_once_a_minute(self, acme):
        api = ApiClient(make_key(acme))

        with CaptureQueriesContext(
            connection,
        ) as first:
            api.get(f"{NOTES}/x")
        with CaptureQueriesContext(connection) as second:
            api.get(f"{NOTES}/x")

        writes = [query for query in first.captured_queries if query["sql"].startswith("UPDATE")]
        assert len(writes) == 1
        assert len(second.captured_queries) == 2  # the key, the note

    def test_last_used_moves_at_most_once_a_minute(self, acme):
        api = ApiClient(make_key(acme))
        api.get(NOTES)
        first = last_used()

        api.get(NOTES)
        assert last_used() == first

        ApiKey.objects.update(last_used_at=first - timedelta(seconds=61))
        api.get(NOTES)
        assert last_used() > first

    def test_live_and_sandbox_keys_say_so(self, acme):
        live = make_tenant(name="Live", mode=Mode.LIVE)

        assert make_key(acme).startswith("bal_test_")
        assert make_key(live).startswith("bal_live_")


class TestScope:
    def test_missing_is_403_and_named(self, acme):
        api = ApiClient(make_key(acme, scopes=["funding:read"]))

        response = api.post_json(NOTES, {"amount": 1})

        body = problem(response, 403, "insufficient_scope")
        assert body["requiredScope"] == "funding:write"
        assert response["WWW-Authenticate"] == (
            'Bearer error="insufficient_scope", scope="funding:write"'
        )

    def test_present_is_enough(self, acme):
        assert ApiClient(make_key(acme, scopes=["funding:read"])).get(NOTES).status_code == 200

    def test_comes_before_anything_about_the_body(self, acme):
        api = ApiClient(make_key(acme, scopes=["funding:read"]))

        response = api.post(NOTES, b"{bad", content_type="application/json")

        problem(response, 403, "insufficient_scope")


class TestSuspended:
    def test_tenant_is_403_for_reads_and_writes_until_released(self, acme, acme_api):
        accounts.suspend(tenant_id=acme.pk, actor=SYSTEM, now=utc_now())

        problem(acme_api.get(NOTES), 403, "tenant_suspended")
        problem(acme_api.post_json(NOTES, {"amount": 1}), 403, "tenant_suspended")

        accounts.release(tenant_id=acme.pk, actor=SYSTEM, now=utc_now())
        assert acme_api.get(NOTES).status_code == 200

    def test_still_pays_for_its_requests(self, acme, acme_api):
        accounts.suspend(tenant_id=acme.pk, actor=SYSTEM, now=utc_now())

        assert "RateLimit" in acme_api.get(NOTES)


class TestNetworks:
    @pytest.mark.parametrize(
        ("networks", "address", "status"),
        [
            (["203.0.113.0/24"], "203.0.113.9", 200),
            (["203.0.113.0/24"], "203.0.114.9", 403),
            (["203.0.113.9"], "203.0.113.9", 200),
            (["2001:db8::/32"], "2001:db8::1", 200),
            (["2001:db8::/32"], "203.0.113.9", 403),
            (["203.0.113.0/24"], "::ffff:203.0.113.9", 200),
            (["203.0.113.0/24", "10.0.0.0/8"], "10.1.2.3", 200),
            (["203.0.113.0/24"], "", 403),
        ],
    )
    def test_of_the_key_are_the_only_ones(self, acme, networks, address, status):
        api = ApiClient(make_key(acme, allowed_networks=networks))

        assert api.get(NOTES, REMOTE_ADDR=address).status_code == status

    def test_refusal_is_a_problem(self, acme):
        api = ApiClient(make_key(acme, allowed_networks=["203.0.113.0/24"]))

        problem(api.get(NOTES), 403, "address_not_allowed")

    @pytest.mark.parametrize(
        ("proxies", "forwarded", "status"),
        [
            (0, "203.0.113.9", 403),  # nobody in front of us writes this header
            (1, "203.0.113.9", 200),
            (1, "6.6.6.6, 203.0.113.9", 200),
            (1, "203.0.113.9, 6.6.6.6", 403),
            (2, "203.0.113.9, 10.0.0.1", 200),
            (2, "203.0.113.9", 403),  # one proxy is missing: this was not our proxy's word
        ],
    )
    def test_a_forwarded_address_counts_as_far_as_our_proxies_wrote_it(
        self, acme, settings, proxies, forwarded, status
    ):
        settings.TRUSTED_PROXY_COUNT = proxies
        api = ApiClient(make_key(acme, allowed_networks=["203.0.113.0/24"]))

        response = api.get(NOTES, headers={"X-Forwarded-For": forwarded})

        assert response.status_code == status
