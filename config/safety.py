"""Refuses to start with settings that would give secrets or money away.

Each refusal is one sentence that says what to do. `config.env` refuses what is malformed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.core.exceptions import ImproperlyConfigured
from psycopg import pq

from common.engine.http.addresses import is_within, parse_networks
from config.env import is_this_machine

# With these a server proves by its certificate who it is.
_PROVING_MODES = frozenset({"verify-ca", "verify-full"})
# An exception for webhooks is one receiver, or one small network of them.
_EXCEPTION_ADDRESSES_MAX = 256
_NEVER_REACHED = parse_networks(
    (
        *("0.0.0.0/8", "127.0.0.0/8", "::/127"),  # this machine
        *("169.254.0.0/16", "fe80::/10"),  # link-local; metadata of clouds
        *("100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32", "fd00:ec2::254/128"),
    )
)
_MAILING = "django.core.mail.backends.smtp.EmailBackend"


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


def require_own_names(hosts: Iterable[str]) -> None:
    """Of the names that we answer to. Raises ImproperlyConfigured."""
    if "*" in hosts:
        raise ImproperlyConfigured(
            "ALLOWED_HOSTS=* answers to every name, also one that an attacker points at us: list"
            " the names that people and probes use"
        )


def require_own_origins(origins: Iterable[str]) -> None:
    """Of the pages that may send forms. Raises ImproperlyConfigured."""
    if not all(origin.startswith("https://") and "*" not in origin for origin in origins):
        raise ImproperlyConfigured(
            "CSRF_TRUSTED_ORIGINS must be https:// addresses without *: list each whole, or leave"
            " it empty for BASE_URL"
        )


def require_from_to(name: str, value: int, least: int, most: int) -> None:
    """Of a number by which people are held up, or asked again. Raises ImproperlyConfigured."""
    if not least <= value <= most:
        raise ImproperlyConfigured(
            f"{name} must be from {least} to {most} outside development, not {value}: take one of"
            " these, or leave it empty for the default"
        )


def require_narrow_exceptions(networks: Iterable[str], *, base_url: str) -> None:
    """Of the networks that webhooks may reach although they are not public, where others reach us.

    Raises ImproperlyConfigured.
    """
    if is_this_machine(urlsplit(base_url).hostname or ""):
        return
    for text in networks:
        try:
            (network,) = parse_networks((text,))
        except ValueError:
            raise ImproperlyConfigured(
                f"WEBHOOK_ALLOWED_NETWORKS has {text!r}, which is no network: write each as"
                " 10.1.2.3/32"
            ) from None
        if network.num_addresses > _EXCEPTION_ADDRESSES_MAX or any(
            is_within(address, _NEVER_REACHED) for address in network
        ):
            raise ImproperlyConfigured(
                f"WEBHOOK_ALLOWED_NETWORKS has {text}, through which tenants would reach this"
                " machine, a cloud's metadata or a whole network of yours: list single receivers,"
                " such as 10.1.2.3/32"
            )


def require_tls_to_mail_server(mail: Mapping[str, Any], *, base_url: str) -> None:
    """Of Django's settings of mail. Mails carry links that open accounts. Raises
    ImproperlyConfigured."""
    if mail.get("EMAIL_BACKEND") != _MAILING:
        if not is_this_machine(urlsplit(base_url).hostname or ""):
            raise ImproperlyConfigured(
                "EMAIL_URL would not send mails, but write them, with links that open accounts,"
                " somewhere else: write it as smtp+tls:// or smtp+ssl://"
            )
        return
    host = str(mail.get("EMAIL_HOST") or "localhost")
    if not (mail.get("EMAIL_USE_TLS") or mail.get("EMAIL_USE_SSL") or is_this_machine(host)):
        raise ImproperlyConfigured(
            f"Mail to {host} would leave without TLS: write EMAIL_URL as smtp+tls:// or"
            " smtp+ssl://, or set ALLOW_PLAINTEXT_MAIL=True if that network is yours alone"
        )


def require_tls_to_postgresql(database: Mapping[str, Any]) -> None:
    """Of Django's settings of a database. Raises ImproperlyConfigured."""
    options = _libpq_defaults() | dict(database.get("OPTIONS", {}))
    mode = options.get("sslmode")
    # A server that binds the proof of the password to the TLS connection is no go-between.
    is_bound = mode == "require" and options.get("channel_binding") == "require"
    if mode in _PROVING_MODES or is_bound:
        return
    for host in _postgresql_hosts(database, options):
        if host.startswith(("/", "@")) or is_this_machine(host):
            continue
        if mode == "require":
            raise ImproperlyConfigured(
                f"PostgreSQL at {host} would not have to prove who it is: write"
                " ?sslmode=verify-full&sslrootcert=… (the file of its authority, or system), add"
                " &channel_binding=require, or set ALLOW_PLAINTEXT_POSTGRESQL=True if that network"
                " is yours alone"
            )
        raise ImproperlyConfigured(
            f"PostgreSQL at {host} would be reached without TLS: add ?sslmode=verify-full to"
            " DATABASE_URL and DATABASE_OWNER_URL, or set ALLOW_PLAINTEXT_POSTGRESQL=True if"
            " that network is yours alone"
        )


def require_tls_to_valkey(url: str) -> None:
    """Of an address as redis-py takes it. Raises ImproperlyConfigured."""
    parts = urlsplit(url)
    if parts.scheme == "unix" or is_this_machine(parts.hostname or "localhost"):
        return
    if parts.scheme != "rediss":
        raise ImproperlyConfigured(
            f"Valkey at {parts.hostname} would be reached without TLS: write REDIS_URL as"
            " rediss://, or set ALLOW_PLAINTEXT_VALKEY=True if that network is yours alone"
        )
    asked = parse_qs(parts.query)
    is_proven = all(value == "required" for value in asked.get("ssl_cert_reqs", []))
    is_named = all(value.lower() == "true" for value in asked.get("ssl_check_hostname", []))
    if not (is_proven and is_named):
        raise ImproperlyConfigured(
            f"Valkey at {parts.hostname} would not have to prove who it is: take ssl_cert_reqs and"
            " ssl_check_hostname out of REDIS_URL (ssl_ca_certs names the file of an authority of"
            " your own), or set ALLOW_PLAINTEXT_VALKEY=True if that network is yours alone"
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
