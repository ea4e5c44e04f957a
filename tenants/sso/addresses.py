"""Addresses of ours that a provider is told: below BASE_URL, whatever Host a request had."""

from __future__ import annotations

from django.conf import settings
from django.urls import reverse

from tenants.sso.connections import Connection


def callback(connection: Connection) -> str:
    """Where browsers come back to."""
    return _of("sso_callback", connection)


def saml_answers(connection: Connection) -> str:
    """Where browsers bring what a SAML provider signed (its assertion consumer service)."""
    return _of("sso_saml_answer", connection)


def saml_entity(connection: Connection) -> str:
    """What a SAML provider calls us (entity id): nothing has to be there."""
    return _of("sso_start", connection)


def _of(name: str, connection: Connection) -> str:
    return settings.BASE_URL + reverse(name, args=[connection.id])
