"""The simulation as somebody runs it, on a database of its own beside the tests'."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.db import connection

from common.database import grants
from devstack.paths import ROOT
from simulation.command import SUPERUSER_URL
from simulation.plants import VARIABLE
from tests.database import template
from tests.database.owner import another_connection
from tests.settings import TEST_OWNER_ROLE, TEST_SUPERUSER

NAME = f"ballast_simulation_{os.getpid()}"


@pytest.fixture(scope="session")
def simulated_database(django_db_setup, django_db_blocker) -> Iterator[Mapping[str, str]]:
    """The variables of a process on a new database."""
    if "BALLAST_TEST_OWN_DATABASE" not in os.environ:
        pytest.skip("the simulation empties its database and needs a server of its own")
    with django_db_blocker.unblock():
        original = template.prepare()
        with another_connection()._nodb_cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {NAME} TEMPLATE {original} OWNER {TEST_OWNER_ROLE}")
        with template._connected_to(NAME):
            grants.grant(settings.DATABASE_APPLICATION_ROLE)
    yield {
        "DATABASE_URL": _address(settings.DATABASE_APPLICATION_ROLE),
        "DATABASE_OWNER_URL": _address(TEST_OWNER_ROLE),
        SUPERUSER_URL: _address(TEST_SUPERUSER),
    }
    with django_db_blocker.unblock(), another_connection()._nodb_cursor() as cursor:
        cursor.execute(f"DROP DATABASE {NAME} WITH (FORCE)")


@pytest.fixture
def simulate(simulated_database):
    """Run the command with these arguments; its exit code and what it printed."""

    def run(*arguments: object, plant: str = "") -> tuple[int, str]:
        result = subprocess.run(
            [sys.executable, "-m", "simulation", *map(str, arguments)],
            cwd=ROOT,
            env={
                **os.environ,
                **simulated_database,
                VARIABLE: plant,
                "DJANGO_SETTINGS_MODULE": "simulation.settings",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        sys.stdout.write(result.stdout)  # for who wants to read it: -rP
        return result.returncode, result.stdout + result.stderr

    return run


def _address(role: str) -> str:
    found = connection.settings_dict
    host = urlencode({"host": found["HOST"] or found["OPTIONS"].get("host", "")})
    return f"postgresql://{role}@/{NAME}?{host}"
