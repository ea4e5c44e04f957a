"""Who pays without a second person, because nobody else could answer (decisions 0072 and 0184).

It depends on who pays, not on how many people could be asked: an owner with no other owner or
approver is asked about nothing that they pay themselves or by an API key of theirs. What a member
pays, or a key of somebody else or of operators, is asked of that owner.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from tenants import persons
from tenants import selectors as tenants
from tenants.actors import Actor
from tenants.new_approvers import APPROVING

# For how long an owner whose others were removed is not alone yet.
_ALONE_AFTER = timedelta(hours=24)


def is_exempt(*, tenant_id: str, actor: Actor, now: datetime) -> bool:
    """Whether nobody is asked about what this actor pays. Three queries at most, one more for a
    key."""
    person = persons.behind(actor)
    return person is not None and tenants.is_lone_owner(
        tenant_id=tenant_id, user_id=person, roles=APPROVING, since=now - _ALONE_AFTER
    )
