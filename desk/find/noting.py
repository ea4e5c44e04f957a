"""What a search of all tenants leaves in the audit log: who looked for what kind of thing."""

from __future__ import annotations

from django.core.cache import cache

from common.clock import utc_now
from dashboard.find.asked import Asked
from tenants.actors import Actor
from tenants.services import audit

# Somebody types, and what is typed is searched at every pause: one line is enough for a while.
_ONCE_IN_SECONDS = 600


def note(asked: Asked, *, actor: Actor) -> None:
    """Write down that `actor` looked for an amount, a name or an address among all tenants, never
    which. Ids write nothing: the desk's lists take them without a line as well."""
    kind = _kind(asked)
    known = f"desk-find:{actor.id}:{kind.replace(' ', '-')}"
    if kind and cache.get(known) is None:  # nor does a cache that is away keep it from being told
        cache.set(known, 1, timeout=_ONCE_IN_SECONDS)
        audit.record(
            tenant_id=None,
            actor=actor,
            action="desk.searched",
            details={"kind": kind},
            now=utc_now(),
        )


def _kind(asked: Asked) -> str:
    if not asked.text or asked.ids:
        return ""
    if asked.cents:
        return "an amount"
    return "an e-mail address" if "@" in asked.text else "a name"
