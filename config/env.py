"""Reads settings from the environment; every name is listed in `.env.example`.

An empty variable counts as not given. Whatever is malformed stops the process at start.
"""

from __future__ import annotations

import os
import re
from base64 import b64decode
from collections.abc import Callable, Sequence
from datetime import date
from ipaddress import ip_address
from urllib.parse import parse_qs, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from common.crypto import parse_keys

env = environ.Env()


def text(name: str, *, default: str) -> str:
    """The value, or the default."""
    return os.environ.get(name) or default


def flag(name: str, *, default: bool) -> bool:
    """A boolean that is exactly `True` or `False`."""
    value = text(name, default=str(default))
    if value not in {"True", "False"}:
        raise ImproperlyConfigured(f"{name} must be True or False, not {value!r}")
    return value == "True"


def secret(name: str, *, development: str, debug: bool) -> str:
    """A secret that must be given unless DEBUG is on."""
    value = text(name, default="")
    if value:
        return value
    if debug:
        return development
    raise ImproperlyConfigured(f"Set {name}: outside development it has no default")


def encryption_keys(
    name: str,
    *,
    development: str,
    debug: bool,
    parse: Callable[[Sequence[str]], object] = parse_keys,
) -> list[str]:
    """`id:base64 of 32 bytes` entries, newest first, as `parse` takes them."""
    entries = secret(name, development=development, debug=debug).split(",")
    try:
        parse(entries)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}") from None
    return entries


def count(name: str, *, default: int, minimum: int = 0) -> int:
    """A whole number of at least `minimum`."""
    value = text(name, default=str(default))
    if not (value.isascii() and value.isdigit()) or int(value) < minimum:
        raise ImproperlyConfigured(f"{name} must be a whole number from {minimum}, not {value!r}")
    return int(value)


def limit(name: str) -> int | None:
    """A whole number, or None for no limit."""
    return count(name, default=0, minimum=1) if os.environ.get(name) else None


def caps(name: str, *, default: str) -> dict[str, list[int | None]]:
    """Limits by name, each an amount and a number: `tenant.day=500000/20,key.day=100000/`. An empty
    one is no limit."""
    found: dict[str, list[int | None]] = {}
    for item in filter(None, text(name, default=default).split(",")):
        match = re.fullmatch(
            r"([a-z]+\.[a-z]+)=([1-9][0-9]{0,17})?/([1-9][0-9]{0,8})?", item.strip()
        )
        if match is None:
            raise ImproperlyConfigured(f"{name} has {item!r}, which is no limit")
        found[match[1]] = [int(part) if part else None for part in match.group(2, 3)]
    return found


def dated_limits(name: str, *, networks: Sequence[str]) -> dict[str, list[tuple[date, int]]]:
    """Cents by network and the day from which they count: `rtp.2027-03-01=1000000000`."""
    found: dict[str, list[tuple[date, int]]] = {each: [] for each in networks}
    for item in items(name):
        network, _, rest = item.partition(".")
        since, _, cents = rest.partition("=")
        try:
            if not re.fullmatch("[1-9][0-9]{0,14}", cents):
                raise ValueError(cents)
            found[network].append((date.fromisoformat(since), int(cents)))
        except (KeyError, ValueError) as error:
            raise ImproperlyConfigured(f"{name} has {item!r}, which is no limit") from error
    return found


def choice(name: str, *, of: Sequence[str]) -> str:
    """One of these words; the first is the default."""
    value = text(name, default=of[0])
    if value not in of:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(of)}, not {value!r}")
    return value


def all_or_none(**values: str) -> None:
    """Refuse settings that only make sense together."""
    missing = [name for name, value in values.items() if not value]
    if missing and len(missing) < len(values):
        raise ImproperlyConfigured(f"Set {' and '.join(missing)}, too, or none of them")


def is_this_machine(host: str) -> bool:
    """Whether it is `localhost` or a loopback address."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def only_on_this_machine(base_url: str, **switches: bool) -> None:
    """Refuse switches that are on where others can reach us."""
    if is_this_machine(urlsplit(base_url).hostname or ""):
        return
    for name, is_on in switches.items():
        if is_on:
            raise ImproperlyConfigured(
                f"{name} is for a copy on this machine: BASE_URL must be a loopback address"
            )


def web_address(name: str, *, default: str) -> str:
    """An https URL without a slash at its end; http only to this machine."""
    value = text(name, default=default).rstrip("/")
    parts = urlsplit(value)
    is_here = parts.scheme == "http" and parts.hostname in {"127.0.0.1", "::1", "localhost"}
    if not parts.hostname or not (parts.scheme == "https" or is_here) or parts.query:
        raise ImproperlyConfigured(f"{name} must be an https:// address")
    return value


def stream_address(name: str) -> str:
    """An https URL, or `syslog+tls://host:port`; empty for none."""
    value = text(name, default="")
    if not value:
        return ""
    parts = urlsplit(value)
    if parts.scheme != "syslog+tls":
        return web_address(name, default="")
    if not parts.hostname or parts.path.strip("/") or parts.query:
        raise ImproperlyConfigured(f"{name} must be https:// or syslog+tls://host:port")
    return value


def webhook_secret(name: str) -> str:
    """`whsec_` and base64, as Standard Webhooks write a secret; empty for none."""
    value = text(name, default="")
    try:
        is_sound = value.startswith("whsec_") and len(b64decode(value[6:], validate=True)) >= 24
    except ValueError:
        is_sound = False
    if value and not is_sound:
        raise ImproperlyConfigured(f"{name} must be whsec_ and the base64 of 24 bytes or more")
    return value


def items(name: str, *, default: str = "") -> list[str]:
    """A comma-separated list without blanks."""
    return [part.strip() for part in text(name, default=default).split(",") if part.strip()]


def broker_url(redis_url: str) -> str:
    """Kombu spells a unix socket `redis+socket://…?virtual_host=N`; redis-py `unix://…?db=N`."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    database = parse_qs(parts.query).get("db", ["0"])[0]
    return f"redis+socket://{parts.path}?virtual_host={database}"
