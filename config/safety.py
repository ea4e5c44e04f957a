"""Refuses to start with settings that would give secrets or money away.

Each refusal is one sentence that says what to do. `config.env` refuses what is malformed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from psycopg import pq

from common import key_ring
from config.env import is_this_machine

SECRET_KEY_CHARACTERS_MIN = 50
FINGERPRINT_KEY_CHARACTERS_MIN = 32
# Fewer different characters, or bytes, than this are no accident: `xxxx…`, thirty-two zeros.
DIFFERENT_MIN = 8
_TLS_MODES = frozenset({"require", "verify-ca", "verify-full"})
_MAKE_A_TEXT = "make one with `python -c 'import secrets; print(secrets.token_urlsafe(50))'`"
_MAKE_A_KEY = (
    "make one with `python -c 'import base64, os; "
    'print("k1:" + base64.b64encode(os.urandom(32)).decode())\'`'
)


def require_private_address(base_url: str) -> None:
    """Of a copy with DEBUG, which shows errors and has public logins. Raises
    ImproperlyConfigured."""
    if not is_this_machine(urlsplit(base_url).hostname or ""):
        raise ImproperlyConfigured(
            "DEBUG is for a copy on this machine: set DEBUG=False, or a BASE_URL such as"
            " http://localhost:8000"
        )


def require_private_bind(bind: str) -> None:
    """Of a copy with DEBUG: where it listens, as gunicorn writes it. Raises
    ImproperlyConfigured."""
    host = urlsplit(f"//{bind.removeprefix('tcp://')}").hostname or ""
    if not (bind.startswith("unix:") or is_this_machine(host)):
        raise ImproperlyConfigured(
            "DEBUG is for a copy on this machine: set DEBUG=False, or listen on 127.0.0.1 instead"
            f" of {bind}"
        )


def require_https(base_url: str, *, proxies: int, is_without_proxy: bool) -> None:
    """Cookies, HSTS and limits by address follow these. Raises ImproperlyConfigured."""
    if not base_url.startswith("https://"):
        raise ImproperlyConfigured(
            "BASE_URL must begin with https:// outside development: set it to the address that"
            " people type, or DEBUG=True on your own machine"
        )
    if not proxies and not is_without_proxy:
        raise ImproperlyConfigured(
            "TRUSTED_PROXY_COUNT=0 with an https BASE_URL never sends HSTS and limits all clients"
            " as one: set it to the number of your proxies, or SERVED_WITHOUT_PROXY=True if there"
            " are none"
        )


def require_random_text(name: str, value: str, *, development: str, characters_min: int) -> None:
    """Raises ImproperlyConfigured, which does not show the value."""
    if value == development:
        raise ImproperlyConfigured(f"{name} is the one of development: {_MAKE_A_TEXT}")
    if len(value) < characters_min:
        raise ImproperlyConfigured(
            f"{name} has fewer than {characters_min} characters: {_MAKE_A_TEXT}"
        )
    if len(set(value)) < DIFFERENT_MIN:
        raise ImproperlyConfigured(
            f"{name} has fewer than {DIFFERENT_MIN} different characters: {_MAKE_A_TEXT}"
        )


def require_different(name: str, *values: str) -> None:
    """Of keys of which one takes the place of the others. Raises ImproperlyConfigured, which does
    not show them."""
    if len(set(values)) < len(values):
        raise ImproperlyConfigured(f"{name} has a key twice, or the one in use: take it out")


def require_random_keys(name: str, entries: Iterable[str], *, development: str) -> None:
    """Of entries such as `id:base64 of 32 bytes`. Raises ImproperlyConfigured, which does not show
    a key."""
    (public,) = key_ring.parse([development]).values()
    for key_id, entry in key_ring.parse(entries).items():
        if entry.body == public.body:
            raise ImproperlyConfigured(
                f"{name}: key {key_id} is the one of development: {_MAKE_A_KEY}"
            )
        if len(set(entry.body)) < DIFFERENT_MIN:
            raise ImproperlyConfigured(
                f"{name}: key {key_id} has fewer than {DIFFERENT_MIN} different bytes:"
                f" {_MAKE_A_KEY}"
            )


def require_tls_to_postgresql(database: Mapping[str, Any]) -> None:
    """Of Django's settings of a database. Raises ImproperlyConfigured."""
    options = _libpq_defaults() | dict(database.get("OPTIONS", {}))
    if options.get("sslmode") in _TLS_MODES:
        return
    for host in _postgresql_hosts(database, options):
        if not (host.startswith(("/", "@")) or is_this_machine(host)):
            raise ImproperlyConfigured(
                f"PostgreSQL at {host} would be reached without TLS: add ?sslmode=verify-full to"
                " DATABASE_URL and DATABASE_OWNER_URL, or set ALLOW_PLAINTEXT_POSTGRESQL=True if"
                " that network is yours alone"
            )


def require_tls_to_valkey(url: str) -> None:
    """Of an address as redis-py takes it. Raises ImproperlyConfigured."""
    parts = urlsplit(url)
    if parts.scheme in {"rediss", "unix"} or is_this_machine(parts.hostname or "localhost"):
        return
    raise ImproperlyConfigured(
        f"Valkey at {parts.hostname} would be reached without TLS: write REDIS_URL as rediss://, or"
        " set ALLOW_PLAINTEXT_VALKEY=True if that network is yours alone"
    )


def _libpq_defaults() -> dict[str, str]:
    """What libpq takes from its own variables (PGHOST, PGSSLMODE, PGSERVICE) where nobody says."""
    return {
        option.keyword.decode(): option.val.decode()
        for option in pq.Conninfo.get_defaults()
        if option.val
    }


def _postgresql_hosts(database: Mapping[str, Any], options: Mapping[str, Any]) -> list[str]:
    """Where libpq would connect to; nothing for its default, a local socket."""
    named = options.get("hostaddr") or database.get("HOST") or options.get("host")
    hosts = [host for host in str(named or "").split(",") if host]
    service = options.get("service")
    return hosts or ([f"service {service}"] if service else [])
