"""The roles of an embedded PostgreSQL, new and of before there were any."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from devstack import postgres
from devstack.paths import APPLICATION_ROLE, JOB_ROLES, OWNER_ROLE, Profile
from devstack.servers import Pair

pytestmark = pytest.mark.slow

# As a copy of before left its database: everything is the superuser's.
OF_BEFORE = """
ALTER DATABASE ballast OWNER TO ballast;
CREATE DOMAIN cents AS bigint;
CREATE TABLE line (id serial PRIMARY KEY, amount cents) PARTITION BY RANGE (id);
CREATE TABLE line_0 PARTITION OF line DEFAULT;
CREATE VIEW journal AS SELECT * FROM line;
CREATE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1';
"""
OWNERS = """
SELECT relname, relowner::regrole::text FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'S')
UNION ALL SELECT proname, proowner::regrole::text FROM pg_proc
WHERE pronamespace = 'public'::regnamespace
UNION ALL SELECT typname, typowner::regrole::text FROM pg_type
WHERE typnamespace = 'public'::regnamespace AND typtype = 'd'
UNION ALL SELECT datname, datdba::regrole::text FROM pg_database WHERE datname = 'ballast'
"""


@pytest.fixture
def running(state: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Profile]:
    for name in ("DATABASE_URL", "DATABASE_API_URL", *JOB_ROLES, "DATABASE_OWNER_URL", "REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    (state / "dev").mkdir(mode=0o711)
    profile = Profile("dev", state / "dev")
    pair = Pair(profile, durable=False)
    assert pair.claim(purpose="test")
    try:
        pair.start()
        yield profile
    finally:
        pair.close()


def test_a_database_of_before_is_handed_over(running: Profile):
    with psycopg.connect(running.superuser_database_url, autocommit=True) as superuser:
        superuser.execute(OF_BEFORE)

        for _ in range(2):  # the second start finds nothing to do
            assert postgres.is_ready(running)

        owners: dict[str, str] = dict(superuser.execute(OWNERS).fetchall())
    assert owners == dict.fromkeys(
        ("ballast", "cents", "line", "line_0", "line_id_seq", "journal", "one"), OWNER_ROLE
    )


def test_the_applications_role_owns_and_makes_nothing(running: Profile):
    with psycopg.connect(running.database_url, autocommit=True) as application:
        (who, *powers) = (
            application.execute(
                "SELECT rolname, rolsuper, rolcreatedb, rolcreaterole, rolbypassrls, rolreplication"
                " FROM pg_roles WHERE rolname = current_user"
            ).fetchone()
            or ()
        )
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            application.execute("CREATE TABLE mine ()")

    assert (who, any(powers)) == (APPLICATION_ROLE, False)
