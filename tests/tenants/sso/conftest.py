from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.cache import cache
from pytest_django.fixtures import Settings

from tenants.models import Tenant
from tenants.sso.connections import Connection
from tests.sso_provider import Provider, connection_to, playing


@pytest.fixture
def provider() -> Iterator[Provider]:
    cache.clear()  # of what is known of a provider, and of how often it was asked for
    with playing() as one:
        yield one


@pytest.fixture
def connect_acme(provider: Provider, acme: Tenant, settings: Settings) -> Callable[..., Connection]:
    """Connects Acme to the provider, by these values in place of the usual."""

    def connect(**values: Any) -> Connection:
        one = connection_to(provider, **({"tenant": acme.pk} | values))
        settings.SINGLE_SIGN_ON = (one,)
        return one

    return connect
