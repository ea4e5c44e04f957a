"""Sam works for us: `desk` is Sam's browser, signed in, with every permission; `kim` is that of
another one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from tenants.models import User
from tests.builders import browser_of, make_staff
from tests.dashboard.conftest import (  # the people of tenants, whom staff look at
    _fresh_rate_limits,
    dana,
    dana_browser,
    ravi,
    sign_in,
)

__all__ = ["_fresh_rate_limits", "dana", "dana_browser", "ravi", "sign_in"]

Staff = Callable[..., Client]


@pytest.fixture
def sam(db: None) -> User:
    return make_staff("sam@ballast.example")


@pytest.fixture
def desk(sam: User) -> Client:
    return browser_of(sam)


@pytest.fixture
def kim(db: None) -> Client:
    """The browser of a second person."""
    return browser_of(make_staff("kim@ballast.example"))


@pytest.fixture
def staff_with(db: None) -> Staff:
    """The browser of somebody who works for us with these permissions and no others."""

    def hired(*permissions: str) -> Client:
        return browser_of(make_staff("lee@ballast.example", permissions))

    return hired
