"""Whether a live API key may loosen auto-funding: clear or raise the amount above which people are
asked, or change who is asked. On unless an owner turns it off (decision 0072)."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from tenants import access_mails, selectors
from tenants.actors import Actor
from tenants.models import ActorType, ApiKey, Mode, Tenant
from tenants.services import audit, key_locks


@transaction.atomic
def let_loosen_auto_funding(*, key_id: str, allowed: bool, actor: Actor, now: datetime) -> bool:
    """Turn the switch of a key on or off, by an owner; returns whether that changed anything. Both
    are audited and mailed to all owners. It counts from the key's next request on.

    The tenant is locked, as by a rotation: the successor gets what the old key has then. Raises
    NotAnOwner, ApiKey.DoesNotExist.
    """
    tenant_id = ApiKey.objects.values_list("tenant_id", flat=True).get(pk=key_id)
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)
    if actor.type == ActorType.USER:
        selectors.require_owner(tenant_id=tenant_id, user_id=actor.id)
    key_locks.lock([key_id])
    changed = ApiKey.objects.filter(pk=key_id).exclude(may_loosen_auto_funding=allowed)
    if not changed.update(may_loosen_auto_funding=allowed):
        return False
    key = ApiKey.objects.get(pk=key_id)
    audit.record(
        tenant_id=tenant_id,
        actor=actor,
        action=f"api_key.loosening_{'allowed' if allowed else 'forbidden'}",
        subject_id=key_id,
        details={"name": key.name},
        now=now,
    )
    access_mails.tell_of_loosening(key, by=actor, now=now)
    return True


def may_loosen_auto_funding(*, actor: Actor) -> bool:
    """Whether this actor may. People and the sandbox's keys always may. In a transaction, where the
    switch of a live key then stays as it is until the end. At most one query."""
    if actor.type != ActorType.API_KEY:
        return True
    keys = ApiKey.objects.filter(pk=actor.id, tenant__mode=Mode.LIVE)
    rows = keys.select_for_update(of=("self",), no_key=True)
    switch = rows.values_list("may_loosen_auto_funding", flat=True).first()
    return switch is not False
