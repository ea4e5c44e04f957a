"""Which e-mails of one tenant a member wants."""

from __future__ import annotations

from collections.abc import Mapping

from tenants.models import Membership
from tenants.notices import NOTICES


def choose_notices(*, membership_id: str, chosen: Mapping[str, bool]) -> None:
    """Store a choice for every notice, so that a change of role changes none of them."""
    notices = {notice.key: bool(chosen.get(notice.key)) for notice in NOTICES}
    Membership.objects.filter(pk=membership_id).update(notices=notices)
