"""Reads settings from the environment; every name is listed in `.env.example`."""

from __future__ import annotations

import os
from urllib.parse import parse_qs, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from common.crypto import parse_keys

env = environ.Env()


def flag(name: str, *, default: bool) -> bool:
    """A boolean that is exactly `True` or `False`; anything else stops the process."""
    text = os.environ.get(name, str(default))
    if text not in {"True", "False"}:
        raise ImproperlyConfigured(f"{name} must be True or False, not {text!r}")
    return text == "True"


def secret(name: str, *, development: str, debug: bool) -> str:
    """A secret that must be given unless DEBUG is on."""
    value = os.environ.get(name, "")
    if value:
        return value
    if debug:
        return development
    raise ImproperlyConfigured(f"Set {name}: outside development it has no default")


def encryption_keys(name: str, *, development: str, debug: bool) -> list[str]:
    """`id:base64 of 32 bytes` entries, newest first; a malformed one stops the process."""
    entries = secret(name, development=development, debug=debug).split(",")
    try:
        parse_keys(entries)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}") from None
    return entries


def count(name: str, *, default: int, minimum: int = 0) -> int:
    """A whole number of at least `minimum`."""
    number: int = env.int(name, default=default)
    if number < minimum:
        raise ImproperlyConfigured(f"{name} must be at least {minimum}, not {number}")
    return number


def items(name: str, *, default: str = "") -> list[str]:
    """A comma-separated list without blanks."""
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


def broker_url(redis_url: str) -> str:
    """Kombu spells a unix socket `redis+socket://…?virtual_host=N`; redis-py `unix://…?db=N`."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    database = parse_qs(parts.query).get("db", ["0"])[0]
    return f"redis+socket://{parts.path}?virtual_host={database}"
