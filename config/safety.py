"""Refuses to start with settings that would give secrets or money away.

Each refusal is one sentence that says what to do. `config.env` refuses what is malformed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.core.exceptions import ImproperlyConfigured
from psycopg import pq

from common.database import jobs
from common.engine.http.addresses import is_within, parse_networks
from config.env import is_this_machine

# With these a server proves by its certificate who it is.
_PROVING_MODES = frozenset({"verify-ca", "verify-full"})
# An exception for webhooks is one receiver, or one small network of them, and there are few.
_EXCEPTION_ADDRESSES_MAX = 256
_EXCEPTIONS_ADDRESSES_MAX = 1024
_NEVER_REACHED = parse_networks(
    (
        *("0.0.0.0/8", "127.0.0.0/8", "::/127"),  # this machine
        *("169.254.0.0/16", "fe80::/10"),  # link-local; metadata of clouds
        *("100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32", "fd00:ec2::254/128"),
        # Forms that lead on to some IPv4 address, be it one of these: NAT64, 6to4, Teredo, and
        # what RFC 4291 and RFC 2765 wrote for translators.
        *("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32", "::/96", "::ffff:0:0:0/96"),
    )
)
# Below these, too, everybody may have a name: .co.uk, .com.au.
_SHARED_SECOND_LEVELS = frozenset({"ac", "co", "com", "edu", "gov", "net", "org"})
_ORIGIN = re.compile(
    r"https://(?:\[[0-9a-f:]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::[0-9]{1,5})?(?:/[^*]*)?",
    re.IGNORECASE,
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


def require_own_names(hosts: Sequence[str]) -> None:
    """Of the names that we answer to. Raises ImproperlyConfigured."""
    if "*" in hosts:
        raise ImproperlyConfigured(
            "ALLOWED_HOSTS=* answers to every name, also one that an attacker points at us: list"
            " the names that people and probes use"
        )
    for host in hosts:
        if host.startswith(".") and _is_shared(host.removeprefix(".")):
            raise ImproperlyConfigured(
                f"ALLOWED_HOSTS has {host}, below which others have names, too: list the names that"
                " people and probes use, or a domain of yours, such as .ballast.example"
            )


def require_own_origins(origins: Iterable[str]) -> None:
    """Of the pages that may send forms. Raises ImproperlyConfigured."""
    if not all(_ORIGIN.fullmatch(origin) for origin in origins):
        raise ImproperlyConfigured(
            "CSRF_TRUSTED_ORIGINS must be https:// addresses without *: list each whole, or leave"
            " it empty for BASE_URL"
        )


def require_https_of_providers(addresses: Iterable[str]) -> None:
    """Of the providers that say who somebody is. Raises ImproperlyConfigured."""
    if not all(address.startswith("https://") for address in addresses):
        raise ImproperlyConfigured(
            "SINGLE_SIGN_ON_FILE: issuer, or sso_url, must be an https:// address outside"
            " development, or anybody on the way could say who signs in"
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
    addresses = 0
    for text in networks:
        try:
            (network,) = parse_networks((text,))
        except ValueError:
            raise ImproperlyConfigured(
                f"WEBHOOK_ALLOWED_NETWORKS has {text!r}, which is no network: write each as"
                " 10.1.2.3/32"
            ) from None
        addresses += network.num_addresses
        if network.num_addresses > _EXCEPTION_ADDRESSES_MAX or any(
            is_within(address, _NEVER_REACHED) for address in network
        ):
            raise ImproperlyConfigured(
                f"WEBHOOK_ALLOWED_NETWORKS has {text}, through which tenants would reach this"
                " machine, a cloud's metadata or a whole network of yours: list single receivers,"
                " such as 10.1.2.3/32"
            )
    if addresses > _EXCEPTIONS_ADDRESSES_MAX:
        raise ImproperlyConfigured(
            f"WEBHOOK_ALLOWED_NETWORKS has more than {_EXCEPTIONS_ADDRESSES_MAX} addresses in all,"
            " through which tenants would reach a whole network of yours: list single receivers,"
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


def require_logins_of_workers(addresses: Mapping[str, str]) -> None:
    """Of the logins by their jobs, where workers have one: it may not do what others do. Raises
    ImproperlyConfigured."""
    missing = [jobs.variable(job) for job in jobs.TAKEN_BY_WORKERS if not addresses.get(job)]
    if missing:
        raise ImproperlyConfigured(
            f"{jobs.variable(jobs.WORKER)} is set without {' and '.join(missing)}: a worker checks"
            " the books and delivers webhooks under these logins, because its own may not. Set all"
            " three, or none of them"
        )


def require_tls_to_valkey(url: str) -> None:
    """Of an address as redis-py and Celery take it. Raises ImproperlyConfigured."""
    if ";" in url:
        raise ImproperlyConfigured(
            "REDIS_URL has several addresses, of which Celery takes the next one where the first"
            " does not answer: write one, and a ; within it as %3B"
        )
    parts = urlsplit(url)
    asked = parse_qs(parts.query)
    hosts = [parts.hostname, *asked.get("host", [])]  # redis-py takes the query's, too
    elsewhere = next((host for host in hosts if host and not is_this_machine(host)), None)
    if parts.scheme == "unix" or elsewhere is None:
        return
    if parts.scheme != "rediss":
        raise ImproperlyConfigured(
            f"Valkey at {elsewhere} would be reached without TLS: write REDIS_URL as"
            " rediss://, or set ALLOW_PLAINTEXT_VALKEY=True if that network is yours alone"
        )
    is_proven = all(value == "required" for value in asked.get("ssl_cert_reqs", []))
    is_named = all(value.lower() == "true" for value in asked.get("ssl_check_hostname", []))
    if not (is_proven and is_named):
        raise ImproperlyConfigured(
            f"Valkey at {elsewhere} would not have to prove who it is: take ssl_cert_reqs and"
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
    """Where libpq would connect to; nothing for its default, a local socket.

    A service may name an address, which goes before the name of a host.
    """
    address, service = options.get("hostaddr"), options.get("service")
    named = address or database.get("HOST") or options.get("host")
    hosts = [host for host in str(named or "").split(",") if host]
    return hosts + ([f"service {service}"] if service and not address else [])


def _is_shared(domain: str) -> bool:
    """Whether anybody may have a name below this domain, or nobody can."""
    labels = domain.removesuffix(".").split(".")
    if len(labels) < 2 or not all(labels):
        return True
    country = len(labels) == 2 and len(labels[1]) == 2
    return country and labels[0] in _SHARED_SECOND_LEVELS
