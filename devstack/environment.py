"""The environment variables a copy runs with: one list, used by every subcommand."""

from __future__ import annotations

import base64
import json
import os
import secrets
from pathlib import Path

from devstack.errors import DevstackError
from devstack.locks import FileLock
from devstack.paths import JOB_ROLES, Profile

DEFAULT_PORT = 8000


def address(port: int) -> str:
    return f"http://localhost:{port}"


def development(profile: Profile, *, base_url: str | None = None) -> dict[str, str]:
    """The caller's environment over the defaults of a development copy."""
    defaults = {
        "DEBUG": "True",
        **_database(profile),
        "REDIS_URL": profile.redis_url(),
        "BALLAST_PROFILE": profile.name,
        "BALLAST_RUN_DIR": str(profile.home),
        "BASE_URL": base_url or address(DEFAULT_PORT),
        "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8,::1/128",
        "WEBHOOK_ALLOW_HTTP": "True",
        **_bank(profile),
        "PYTHONUNBUFFERED": "1",
        **_secrets_of(profile),
    }
    return defaults | _given()


def serving(profile: Profile, *, port: int) -> dict[str, str]:
    """`development` for processes that serve: they add their metrics up in one folder."""
    metrics = {"PROMETHEUS_MULTIPROC_DIR": str(profile.home / "metrics")}
    return metrics | development(profile, base_url=address(port))


def testing(profile: Profile) -> dict[str, str]:
    """What a test run needs; secrets are the settings' own development ones, so they never vary."""
    return {
        "DEBUG": "True",
        **_test_database(profile),
        "REDIS_URL": os.environ.get("REDIS_URL") or profile.redis_url(),
        "BALLAST_RUN_DIR": str(profile.home),
        "BASE_URL": address(DEFAULT_PORT),
    }


def _bank(profile: Profile) -> dict[str, str]:
    """Live tenants use the stand-in bank, but not where others reach us under a given address."""
    if os.environ.get("BASE_URL"):
        return {}
    return {"DEVELOPMENT_ROUTES": "True", "ACH_BANK_CLOCK": str(profile.bank_clock)}


def _database(profile: Profile) -> dict[str, str]:
    """The profile's own addresses, or the caller's: one of each would name two servers."""
    if not os.environ.get("DATABASE_URL"):
        if os.environ.get("DATABASE_OWNER_URL"):
            raise DevstackError("DATABASE_OWNER_URL is given without DATABASE_URL: set both.")
        return {
            "DATABASE_URL": profile.database_url,
            "DATABASE_API_URL": profile.api_database_url,
            **profile.job_database_urls,
            "DATABASE_OWNER_URL": profile.owner_database_url,
        }
    given = ("DATABASE_URL", "DATABASE_API_URL", *JOB_ROLES, "DATABASE_OWNER_URL")
    return {name: os.environ[name] for name in given if os.environ.get(name)}


def _test_database(profile: Profile) -> dict[str, str]:
    """Tests make, empty and damage databases besides, which takes a superuser."""
    if os.environ.get("DATABASE_URL"):
        return _database(profile)
    return {**_database(profile), "BALLAST_TEST_SUPERUSER_URL": profile.superuser_database_url}


def _given() -> dict[str, str]:
    """An empty variable counts as not given, but where empty says something: allow no network."""
    meant = {"WEBHOOK_ALLOWED_NETWORKS"}
    return {name: value for name, value in os.environ.items() if value or name in meant}


def _secrets_of(profile: Profile) -> dict[str, str]:
    """This copy's own keys, made once and kept: a restart must read what it encrypted."""
    path = profile.home / "secrets.json"
    with FileLock(profile.home / "secrets.lock"):
        if not path.exists():
            _write_private(path, json.dumps(_new_secrets()))
        kept: dict[str, str] = json.loads(path.read_text())
    return kept


def _new_secrets() -> dict[str, str]:
    return {
        "SECRET_KEY": secrets.token_urlsafe(50),
        "ENCRYPTION_KEYS": f"k1:hkdf:{base64.b64encode(secrets.token_bytes(32)).decode()}",
        "FINGERPRINT_KEY": secrets.token_urlsafe(32),
        "PROOF_KEY": f"p1:{base64.b64encode(secrets.token_bytes(32)).decode()}",
        "SEAL_KEYS": f"s1:{base64.b64encode(secrets.token_bytes(32)).decode()}",
    }


def _write_private(path: Path, text: str) -> None:
    unfinished = path.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    unfinished.replace(path)
