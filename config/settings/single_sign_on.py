"""Whose people sign in at which provider of single sign-on (docs/single-sign-on.md)."""

from __future__ import annotations

from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from config import safety
from config.env import text
from config.settings.deployment import DEBUG
from tenants.sso import saml
from tenants.sso.connections import Connection, Malformed, Saml, parse


def _read(path: str) -> tuple[Connection, ...]:
    """The connections in this file; none without one. Raises ImproperlyConfigured."""
    if not path:
        return ()
    try:
        connections = parse(Path(path).read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(f"SINGLE_SIGN_ON_FILE cannot be read: {error}") from None
    except Malformed as error:
        raise ImproperlyConfigured(f"SINGLE_SIGN_ON_FILE: {error}") from None
    _require_packages(connections)
    if not DEBUG:
        safety.require_https_of_providers([one.secured_address for one in connections])
    return connections


def _require_packages(connections: tuple[Connection, ...]) -> None:
    """Raises ImproperlyConfigured."""
    of_saml = [one.id for one in connections if isinstance(one, Saml)]
    if of_saml and not saml.is_installed():
        raise ImproperlyConfigured(
            f"SINGLE_SIGN_ON_FILE: {of_saml[0]} is of kind saml, and its packages are not"
            " installed. Install requirements-saml.txt in place of requirements.txt"
        )


SINGLE_SIGN_ON = _read(text("SINGLE_SIGN_ON_FILE", default=""))
# Ways to a provider and back, per address: each costs requests to the provider, or a row.
SINGLE_SIGN_ON_PER_MINUTE = 120
