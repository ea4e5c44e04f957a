"""Staff who look at the dashboard as a tenant sees it: kept in the session, checked every time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.http import HttpRequest

from common.clock import parse, text_of
from tenants import actors
from tenants.models import Tenant
from tenants.services import staff_views

MAY_VIEW = "tenants.view_as_tenant"
_SESSION_KEY = "staff_view"


@dataclass(frozen=True)
class StaffView:
    """Which tenant is looked at, and until when."""

    tenant_id: str
    until: datetime


@transaction.atomic
def begin(request: HttpRequest, *, tenant: Tenant, reason: str, now: datetime) -> None:
    """Start looking at `tenant`; ends what was looked at before.

    The audit log and the session are changed together.
    """
    end(request, now=now)
    actor = actors.staff(str(request.user.pk))
    until = staff_views.begin(tenant_id=tenant.pk, reason=reason, actor=actor, now=now)
    request.session[_SESSION_KEY] = {"tenant_id": tenant.pk, "until": text_of(until)}
    request.session.save()


def current(request: HttpRequest, *, now: datetime) -> StaffView | None:
    """What the session looks at. Ends it when its time is up or the person may not any more."""
    kept = request.session.get(_SESSION_KEY)
    if kept is None:
        return None
    view = StaffView(kept["tenant_id"], parse(kept["until"]))
    may_view = request.user.is_staff and request.user.has_perm(MAY_VIEW)
    if now < view.until and may_view:
        return view
    end(request, now=now)
    return None


@transaction.atomic
def end(request: HttpRequest, *, now: datetime) -> str | None:
    """Stop looking; returns at which tenant, if at any. The audit log and the session are
    changed together."""
    kept = request.session.pop(_SESSION_KEY, None)
    if kept is None:
        return None
    staff_views.end(
        tenant_id=kept["tenant_id"],
        actor=actors.staff(str(request.user.pk)),
        now=now,
        has_expired=now >= parse(kept["until"]),
    )
    request.session.save()
    return str(kept["tenant_id"])
