"""What ends with an owner who is none any more: removed, given another role, or whose account our
support closed (decision 0184).

An invitation, a key and a looser rule that waits are an owner's word that goes on working without
them. Each would let somebody back in, or money out, whom the others have just stopped.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from tenants import signals
from tenants.actors import Actor
from tenants.errors import LastOwner
from tenants.models import Membership, Role
from tenants.services import invitations, keys
from tenants.services.keys import LeftKeys


@dataclass(frozen=True)
class Ended:
    """What became of the keys, how many invitations were revoked, and which rules that waited were
    withdrawn, in words."""

    keys: LeftKeys
    invitations: int
    rules: tuple[str, ...]

    @property
    def facts(self) -> dict[str, str]:
        """What owners are told of it, by label."""
        counts = {
            "Keys taken over": self.keys.taken_over,
            "Keys revoked": self.keys.revoked,
            "Invitations revoked": self.invitations,
        }
        facts = {label: str(count) for label, count in counts.items() if count}
        return {**facts, "Looser rules withdrawn": ", ".join(self.rules)} if self.rules else facts


def require_other_owner(membership: Membership) -> None:
    """The last owner of a tenant stays one. In the caller's transaction, which has locked the
    tenant. Raises LastOwner."""
    others = Membership.objects.filter(
        tenant_id=membership.tenant_id, role=Role.OWNER, user__is_active=True
    ).exclude(pk=membership.pk)
    if membership.role == Role.OWNER and not others.exists():
        raise LastOwner("A tenant keeps at least one owner. Make somebody else an owner first.")


def settle(
    membership: Membership, *, taken_over: Collection[str] = (), actor: Actor, now: datetime
) -> Ended:
    """End what this member did as an owner and what goes on by itself. Keys of the ids in
    `taken_over` are the actor's from now on.

    In the caller's transaction, which has locked the tenant. Raises NotAnOwner.
    """
    tenant_id, person = membership.tenant_id, membership.user
    left = keys.settle_left(
        tenant_id=tenant_id, person_id=person.pk, taken_over=taken_over, actor=actor, now=now
    )
    revoked = invitations.revoke_of(tenant_id=tenant_id, person=person, actor=actor, now=now)
    answers = signals.owner_left.send(
        sender=Membership, tenant_id=tenant_id, user_id=person.pk, actor=actor, now=now
    )
    rules = tuple(words for _receiver, ended in answers for words in ended or ())
    return Ended(keys=left, invitations=revoked, rules=rules)
