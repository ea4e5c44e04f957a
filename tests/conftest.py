"""Named people: acme is the tenant under test, rival the one who must see nothing of it."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from celery import current_app
from django.conf import settings
from django.db import connection
from django.test import Client
from hypothesis import HealthCheck
from hypothesis import settings as examples
from pytest_django import DjangoDbBlocker
from pytest_django.fixtures import Settings

from balance import causes
from common import audits, database_clock
from common.engine import wakeups
from networks import registry
from networks.rails.known import knowledge
from tenants.models import Tenant, User
from tests import servers
from tests.builders import ApiClient, browser_of, make_key, make_tenant
from tests.database import owner, template
from tests.database.management.commands.flush import remember_standing_rows
from tests.logs import RawLog, WrittenLog
from tests.plaid import CLIENT_ID, SECRET, FakePlaid, playing

# However slow the machine. On CI Hypothesis brings a profile of its own, which this one keeps.
examples.register_profile(
    "patient", examples(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
examples.load_profile("patient")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--nightly",
        action="store_true",
        help="every point, every look and hours of fuzzing, not a sample",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
    if config.getoption("--nightly"):
        return
    left = [item for item in items if item.get_closest_marker("nightly")]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not item.get_closest_marker("nightly")]


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings: None, django_db_blocker: DjangoDbBlocker
) -> None:
    """pytest-django's own step, and a copy instead of migrations on a server of our own."""
    if "BALLAST_TEST_OWN_DATABASE" in os.environ:
        with django_db_blocker.unblock():
            connection.settings_dict["TEST"]["TEMPLATE"] = template.prepare()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """pytest-django's own step as a superuser, on a database whose time tests may choose; what
    follows as the application's role."""
    with django_db_blocker.unblock():
        if not database_clock.is_settable():
            database_clock.make_settable()
        owner.hand_over()
        owner.work_as_application()
        knowledge.current()
        remember_standing_rows()
    yield
    with django_db_blocker.unblock():
        owner.work_as_superuser()


@pytest.fixture(autouse=True)
def known_routes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Routes are known as migrations made them, so that no test reads them by chance. One that
    changes a row reads them again; afterwards they are as they were."""
    monkeypatch.setattr(knowledge, "_known", knowledge._known)


@pytest.fixture
def acme(db: None) -> Tenant:
    return make_tenant(name="Acme")


@pytest.fixture
def rival(db: None) -> Tenant:
    return make_tenant(name="Rival")


@pytest.fixture
def admin_client(admin_user: User) -> Client:
    """pytest-django's superuser, with a session as our sign-in makes it."""
    return browser_of(admin_user)


@pytest.fixture
def acme_api(acme: Tenant) -> ApiClient:
    return ApiClient(make_key(acme))


@pytest.fixture
def rival_api(rival: Tenant) -> ApiClient:
    return ApiClient(make_key(rival))


@pytest.fixture(params=[1, 2, 200])
def set_size(request: pytest.FixtureRequest, settings: Settings) -> int:
    """Of messages of networks that are applied at once."""
    settings.NETWORK_MESSAGES_PER_SET = request.param
    return int(request.param)


@pytest.fixture
def ledger_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """For postings without a funding or payment behind them: the audit judges the ledger alone."""
    monkeypatch.setattr(audits, "_checks", [])
    monkeypatch.setattr(audits, "_slices", [])
    monkeypatch.setattr(audits, "_wholes", [])
    monkeypatch.setattr(causes, "check", lambda tenant_ids, full: iter(()))


@pytest.fixture
def machinery(monkeypatch: pytest.MonkeyPatch) -> None:
    """The endpoints of `tests.api.machinery` beside the product's own.

    Not by `pytest.mark.urls`, which forgets every URL before and after each test.
    """
    monkeypatch.setattr(settings, "ROOT_URLCONF", "tests.api.machinery")


@pytest.fixture
def silent_server() -> Iterator[int]:
    with servers.silent() as port:
        yield port


@pytest.fixture
def log() -> Iterator[WrittenLog]:
    """What the test makes the product write to its log."""
    with WrittenLog().recording() as written:
        yield written


@pytest.fixture
def raw_log() -> Iterator[RawLog]:
    with RawLog().recording() as raw:
        yield raw


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[tuple[str, dict[str, Any]]]]:
    """Ask it what went to the broker by now: each task's name and arguments."""
    tasks: list[tuple[str, dict[str, Any]]] = []
    assert wakeups.flush(seconds=30)  # what earlier tests left
    monkeypatch.setattr(
        current_app, "send_task", lambda name, **options: tasks.append((name, options["kwargs"]))
    )

    def sent() -> list[tuple[str, dict[str, Any]]]:
        assert wakeups.flush(seconds=30)
        return list(tasks)

    return sent


@pytest.fixture
def plaid(settings: Settings) -> Iterator[FakePlaid]:
    """Plaid on loopback, connected."""
    with playing() as server:
        settings.PLAID_CLIENT_ID, settings.PLAID_SECRET = CLIENT_ID, SECRET
        settings.PLAID_ENVIRONMENT, settings.PLAID_HOST = "sandbox", server.url
        settings.PLAID_LINK_SCRIPT = f"{server.url}/link-initialize.js"
        yield server


@pytest.fixture
def port() -> int:
    """A port that is free now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number: int = free.getsockname()[1]
        return number


@pytest.fixture
def connect() -> Iterator[Callable[..., Any]]:
    """Connects a network for a test, in place of another one of its name."""
    undo: list[Callable[[], None]] = []

    def _connect(network: Any, *, modes: Sequence[str] = ("sandbox",)) -> Any:
        undo.append(registry.connect(network, modes=modes))
        return network

    yield _connect
    for disconnect in reversed(undo):
        disconnect()
