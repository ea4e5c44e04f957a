"""What callers other than the API rely on: the services check for themselves."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError

from common import crypto, ids
from common.errors import NotFound
from tenants.actors import SYSTEM
from tests.builders import NOW, make_endpoint
from webhooks import signing
from webhooks.errors import InvalidSecretOverlap, InvalidWebhookEvents, InvalidWebhookUrl
from webhooks.models import DisabledReason, WebhookEndpoint
from webhooks.services import endpoints, urls
from webhooks.states import DELIVERY_STATES, ENDPOINT_STATES, DeliveryStatus, EndpointStatus


def register(tenant, events, url="https://hooks.example.com/", **fields):
    return endpoints.register(
        tenant_id=tenant.pk,
        url=urls.check(url, mode=tenant.mode),
        events=events,
        actor=SYSTEM,
        now=NOW,
        **fields,
    )


class TestRegister:
    @pytest.mark.parametrize("events", [[], ["x"], ["*", "*"], ["balance.low", "*"], ["a" * 999]])
    def test_refuses_other_lists_of_events(self, acme, events):
        with pytest.raises(InvalidWebhookEvents):
            register(acme, events)

        assert not WebhookEndpoint.objects.exists()

    def test_asked_for_again_with_its_id_makes_no_second_one(self, acme, rival):
        endpoint_id = ids.new("wh")

        first, again = (register(acme, ["*"], endpoint_id=endpoint_id) for _ in range(2))

        assert (again.endpoint.pk, again.secret) == (endpoint_id, first.secret)
        assert WebhookEndpoint.objects.count() == 1
        with pytest.raises(IntegrityError):
            register(rival, ["*"], endpoint_id=endpoint_id)

    def test_takes_only_urls_that_were_checked(self, acme):
        with pytest.raises(InvalidWebhookUrl, match="https"):
            register(acme, ["*"], url="http://hooks.example.com/")


class TestRotate:
    @pytest.mark.parametrize("overlap", [timedelta(seconds=-1), timedelta(days=7, seconds=1)])
    def test_refuses_other_overlaps(self, acme, overlap):
        endpoint = make_endpoint(acme)

        with pytest.raises(InvalidSecretOverlap):
            endpoints.rotate_secret(
                tenant_id=acme.pk, endpoint_id=endpoint.pk, overlap=overlap, actor=SYSTEM, now=NOW
            )

    def test_with_the_secret_in_force_changes_nothing(self, acme):
        made = register(acme, ["*"])
        secret = signing.new_secret()

        for _ in range(2):
            again = endpoints.rotate_secret(
                tenant_id=acme.pk,
                endpoint_id=made.endpoint.pk,
                secret=secret,
                actor=SYSTEM,
                now=NOW,
            )

        assert again.secret == secret
        previous = crypto.decrypt(
            again.endpoint.previous_secret_token, context=again.endpoint.encryption_context
        )
        assert previous == made.secret


class TestSwitch:
    def test_off_twice_is_no_news(self, acme):
        endpoint = make_endpoint(acme)

        def switch_off():
            return endpoints.disable(
                tenant_id=acme.pk,
                endpoint_id=endpoint.pk,
                reason=DisabledReason.STAFF,
                actor=SYSTEM,
                now=NOW,
            )

        assert (switch_off(), switch_off()) == (True, False)

    def test_a_removed_endpoint_is_not_there_any_more(self, acme):
        endpoint = make_endpoint(acme, status=EndpointStatus.REMOVED, removed_at=NOW)

        with pytest.raises(NotFound):
            endpoints.enable(tenant_id=acme.pk, endpoint_id=endpoint.pk, actor=SYSTEM, now=NOW)


class TestMachines:
    @pytest.mark.parametrize("source", DeliveryStatus.values)
    def test_what_is_canceled_stays_so(self, source):
        assert not DELIVERY_STATES.allows("canceled", source)

    def test_a_removed_endpoint_never_returns(self, acme):
        assert ENDPOINT_STATES.moves["removed"] == frozenset()

    def test_the_database_knows_the_rule_too(self, acme):
        make_endpoint(acme, status=EndpointStatus.REMOVED, removed_at=NOW)

        with pytest.raises(Exception, match="status cannot go from removed to enabled"):
            WebhookEndpoint.objects.update(status="enabled", removed_at=None)
