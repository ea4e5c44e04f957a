"""How a process connects to PostgreSQL, and under which role."""

from __future__ import annotations

import os
from typing import Any

from common.database import jobs
from config import safety
from config.env import count, env, flag, text

# `manage.py` sets it for the commands that change tables, or the rights of roles.
AS_OWNER = "BALLAST_AS_DATABASE_OWNER"
# `manage.py` sets it for the commands that are all of one job, and know no other login then.
AS_JOB = "BALLAST_DATABASE_JOB"
JOBS_COMMANDS = {
    "dispatch_webhooks": jobs.DISPATCHER,
    **dict.fromkeys(
        (
            "check_audit",
            "check_ledger",
            "check_seals",
            "export_audit",
            "export_journal",
            "publish_seals",
        ),
        jobs.AUDIT,
    ),
}
OWNERS_COMMANDS = frozenset({"migrate", "database_roles", "settable_clock", "pgtrigger", "flush"})


def settings() -> dict[str, Any]:
    """Django's settings of the only database."""
    is_pooled = flag("DATABASE_POOL", default=False)
    found: dict[str, Any] = env.db_url_config(_address())
    found |= {} if is_owner() else job_logins().get(os.environ.get(AS_JOB, ""), {})
    found |= {
        "ENGINE": "common.engine.postgresql",
        "CONN_MAX_AGE": 0 if is_pooled else None,
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": False,
    }
    found.setdefault("OPTIONS", {}).update(_options())
    if is_pooled:
        found["OPTIONS"]["pool"] = {"min_size": 1, "max_size": 8, "timeout": 5}
    if not flag("ALLOW_PLAINTEXT_POSTGRESQL", default=False):
        safety.require_tls_to_postgresql(found)
    return found


def takes_fast_path() -> bool:
    """Whether hot statements go past Django's cursor (`common/engine/README.md`)."""
    return flag("DATABASE_FAST_PATH", default=True)


def is_owner() -> bool:
    """Whether this process runs a command of the owner's."""
    return bool(os.environ.get(AS_OWNER))


def application_role() -> str:
    """The application's role, also in a process of the owner."""
    return str(env.db_url_config(_application_address())["USER"])


def api_login() -> dict[str, str]:
    """The login of the API's requests, who see one tenant; empty if they have none of their own."""
    return _login_of(text("DATABASE_API_URL", default=""))


def job_logins() -> dict[str, dict[str, str]]:
    """The logins of jobs that have one of their own, by the job."""
    addresses = {
        jobs.DISPATCHER: text("DATABASE_DISPATCHER_URL", default=""),
        jobs.AUDIT: text("DATABASE_AUDIT_URL", default=""),
        jobs.WORKER: text("DATABASE_WORKER_URL", default=""),
        jobs.DESK: text("DATABASE_DESK_URL", default=""),
    }
    if addresses[jobs.WORKER]:
        safety.require_logins_of_workers(addresses)
    return {job: _login_of(address) for job, address in addresses.items() if address}


def _login_of(address: str) -> dict[str, str]:
    """User and password; empty where there is no address."""
    if not address:
        return {}
    found = env.db_url_config(address)
    return {name: str(found[name]) for name in ("USER", "PASSWORD")}


def _address() -> str:
    """The owner's address in a command of the owner's, if there is one."""
    owner = text("DATABASE_OWNER_URL", default="")
    if owner and is_owner():
        return owner
    return _application_address()


def _application_address() -> str:
    return text("DATABASE_URL", default="postgresql://app@/app")


def _options() -> dict[str, Any]:
    return {
        "server_side_binding": True,
        # Only the fast path gives psycopg's prepared statements names that a pooler can stand.
        "prepare_threshold": 2 if takes_fast_path() else None,
        # Bounds for a host that does not answer, when connecting and later.
        "connect_timeout": count("DATABASE_CONNECT_TIMEOUT_SECONDS", default=3, minimum=2),
        "tcp_user_timeout": count("DATABASE_TCP_TIMEOUT_MS", default=10_000),
        # A request that waits longer for a row answers 503 instead of holding a connection. These
        # values suit workers; `config/gunicorn.py` and `manage.py` set their own.
        "options": (
            # Tables are looked for in our schema, whatever search_path the role or the database
            # has.
            "-c search_path=public,pg_temp"
            f" -c statement_timeout={count('DATABASE_STATEMENT_TIMEOUT_MS', default=60_000)}"
            f" -c lock_timeout={count('DATABASE_LOCK_TIMEOUT_MS', default=3000)}"
            f" -c idle_in_transaction_session_timeout="
            f"{count('DATABASE_IDLE_TRANSACTION_TIMEOUT_MS', default=30000)}"
        ),
    }
