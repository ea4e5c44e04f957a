"""Which e-mails of one tenant a member wants."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from tenants.actors import Actor
from tenants.models import Membership
from tenants.notices import NOTICES, wants
from tenants.services import audit


@transaction.atomic
def choose_notices(
    *, membership_id: str, chosen: Mapping[str, bool], actor: Actor, now: datetime
) -> None:
    """Store a choice for every notice, so that a change of role changes none of them.

    What differs from before is written down: somebody who acts for another could silence mails.
    """
    row = Membership.objects.select_for_update(no_key=True, of=("self",)).get(pk=membership_id)
    notices = {notice.key: bool(chosen.get(notice.key)) for notice in NOTICES}
    changed = [
        notice.key
        for notice in NOTICES
        if notices[notice.key] != wants(notice, role=row.role, chosen=row.notices)
    ]
    Membership.objects.filter(pk=row.pk).update(notices=notices)
    if changed:
        audit.record(
            tenant_id=row.tenant_id,
            actor=actor,
            action="member.notices_chosen",
            subject_id=row.pk,
            details={
                "on": [key for key in changed if notices[key]],
                "off": [key for key in changed if not notices[key]],
            },
            now=now,
        )
