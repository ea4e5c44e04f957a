"""Writes into the audit log how people sign in: every tenant of a person can read it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from tenants import actors, selectors
from tenants.models import Membership
from tenants.services import audit


def succeeded(*, user_id: str, how: str, now: datetime) -> None:
    """Somebody signed in. `how` names the factors: `password`, `password + totp`, `webauthn`."""
    _record(user_id, "sign_in.succeeded", actors.user(user_id), {"how": how}, now)


def failed(*, user_id: str, how: str, now: datetime) -> None:
    """Somebody typed a wrong password or code for a person we know. Who it was we do not know."""
    _record(user_id, "sign_in.failed", actors.SYSTEM, {"how": how}, now)


def proof_failed(*, user_id: str, how: str, now: datetime) -> None:
    """In a session of this person, somebody typed a wrong password or code when asked to prove who
    they are. Whether it was the person we do not know."""
    _record(user_id, "proof.failed", actors.SYSTEM, {"how": how}, now)


def account_changed(*, user_id: str, action: str, kind: str, now: datetime) -> None:
    """A person changed how they sign in: `second_factor.added`, `password.changed`, …"""
    _record(user_id, action, actors.user(user_id), {"kind": kind}, now)


def reset_link_sent_by_support(
    *, user_id: str, actor: actors.Actor, note: str, now: datetime
) -> None:
    """Staff sent the person a link to choose a password. Only staff read why."""
    _record(user_id, "password.link_sent_by_support", actor, {}, now, note)


def address_set_by_support(
    *, user_id: str, before: str, after: str, actor: actors.Actor, now: datetime
) -> None:
    """Staff gave the person another address to sign in with."""
    details = {"before": before, "email": after}
    _record(user_id, selectors.ADDRESS_SET, actor, details, now)


def closed_by_support(*, user_id: str, actor: actors.Actor, note: str, now: datetime) -> None:
    """Staff closed the person's account. Only staff read why."""
    _record(user_id, selectors.CLOSED_BY_SUPPORT, actor, {}, now, note, names_role=True)


def reopened_by_support(*, user_id: str, actor: actors.Actor, note: str, now: datetime) -> None:
    """Staff opened a closed account again. Only staff read why."""
    _record(user_id, "account.reopened_by_support", actor, {}, now, note)


def renamed_by_support(
    *, user_id: str, before: str, after: str, actor: actors.Actor, now: datetime
) -> None:
    """Staff changed the name by which others see the person."""
    _record(user_id, "user.renamed_by_support", actor, {"before": before, "name": after}, now)


def unlinked_by_support(*, user_id: str, connection: str, now: datetime) -> None:
    """Operators forgot as whom a provider of single sign-on knows the person."""
    _record(user_id, "sign_in.unlinked_by_support", actors.SYSTEM, {"kind": connection}, now)


def reset_by_support(*, user_id: str, now: datetime) -> None:
    """Staff removed the second factor at the person's own request. Only staff read why."""
    _record(user_id, "second_factor.reset_by_support", actors.SYSTEM, {}, now)


@transaction.atomic
def _record(
    user_id: str,
    action: str,
    actor: actors.Actor,
    details: Mapping[str, object],
    now: datetime,
    staff_note: str = "",
    *,
    names_role: bool = False,
) -> None:
    """Write one row for each tenant of the person; for staff, one row without a tenant. With
    `names_role` each tells the role that the person has in the tenant."""
    rows = Membership.objects.filter(user_id=user_id).order_by("tenant_id")
    roles: list[tuple[str | None, str]] = list(rows.values_list("tenant_id", "role"))
    for tenant_id, role in roles or [(None, "")]:
        audit.record(
            tenant_id=tenant_id,
            actor=actor,
            action=action,
            subject_id=user_id,
            details={**details, "role": role} if names_role else {**details},
            staff_note=staff_note,
            now=now,
        )
