"""Staff remove the second factor of a person who lost it."""

from __future__ import annotations

from datetime import datetime

from allauth.mfa.models import Authenticator
from django.db import transaction

from common import brand
from tenants.actors import Actor
from tenants.actors import user as person
from tenants.emails import queue_account_notice
from tenants.models import User
from tenants.services import audit, closing, sessions, sign_ins


@transaction.atomic
def reset(*, user: User, reason: str, actor: Actor, now: datetime) -> int:
    """Remove all passkeys, apps and codes, end every session, and e-mail the person and the owners
    of their tenants, where they approve like somebody new: who asked our support may have the
    mailbox and the password already (decision 0169).

    Returns how many were removed; if there were none nothing happens. Next the person signs in with
    the password alone, and is led to set up new ones where a tenant or the desk asks for it.
    """
    removed, _ = Authenticator.objects.filter(user_id=user.pk).delete()
    if not removed:
        return 0
    sessions.end_all(user_id=user.pk)
    sign_ins.reset_by_support(user_id=user.pk, now=now)
    what = f"Our support removed the second factor of {user.email}"
    closing.begin_anew(user.pk, what, person(user.pk), now)
    queue_account_notice(user=user, change="second_factor_reset", address=brand.name(), now=now)
    audit.record(
        tenant_id=None,
        actor=actor,
        action="second_factor.reset",
        subject_id=user.pk,
        details={"email": user.email, "reason": reason},
        now=now,
    )
    return int(removed)
