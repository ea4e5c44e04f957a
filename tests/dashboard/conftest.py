"""People in front of a browser: dana owns acme, ravi belongs to the rival."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.cache import cache
from django.test import Client

from tenants.models import Role, Tenant, User
from tests.builders import browser_of, make_member

SignIn = Callable[[User], Client]


@pytest.fixture(autouse=True)
def _fresh_rate_limits() -> None:
    cache.clear()


@pytest.fixture
def dana(acme: Tenant) -> User:
    return make_member(acme, email="dana@acme.example", role=Role.OWNER)


@pytest.fixture
def ravi(rival: Tenant) -> User:
    return make_member(rival, email="ravi@rival.example", role=Role.OWNER)


@pytest.fixture
def sign_in() -> SignIn:
    return browser_of


@pytest.fixture
def dana_browser(dana: User, sign_in: SignIn) -> Client:
    return sign_in(dana)
