"""What ends with an owner who is none any more: removed, given another role, or whose account our
support closed (decision 0184).

An invitation, a key, a looser rule that waits and a payment that is not sent yet are a person's
word that goes on working without them. Each would let somebody back in, or money out, whom the
others have just stopped. Payments wait for a second person (decision 0192).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tenants import signals
from tenants.actors import Actor
from tenants.errors import LastOwner
from tenants.models import Membership, Role
from tenants.services import invitations, keys
from tenants.services.keys import LeftKeys
from tenants.signals import Leaving


@dataclass(frozen=True)
class Ended:
    """What became of the keys, how many invitations were revoked, and what the apps above ended, in
    words by its label."""

    keys: LeftKeys
    invitations: int
    elsewhere: Mapping[str, str]

    @property
    def facts(self) -> dict[str, str]:
        """What owners are told of it, by label."""
        counts = {
            "Keys taken over": self.keys.taken_over,
            "Keys revoked": self.keys.revoked,
            "Invitations revoked": self.invitations,
        }
        return {label: str(count) for label, count in counts.items() if count} | dict(
            self.elsewhere
        )


def require_other_owner(membership: Membership) -> None:
    """The last owner of a tenant stays one. In the caller's transaction, which has locked the
    tenant. Raises LastOwner."""
    others = Membership.objects.filter(
        tenant_id=membership.tenant_id, role=Role.OWNER, user__is_active=True
    ).exclude(pk=membership.pk)
    if membership.role == Role.OWNER and not others.exists():
        raise LastOwner("A tenant keeps at least one owner. Make somebody else an owner first.")


def settle(
    membership: Membership,
    how: Leaving,
    *,
    taken_over: Collection[str] = (),
    canceled: Collection[str] = (),
    actor: Actor,
    now: datetime,
) -> Ended:
    """End what this member did as an owner and what goes on by itself. Keys of the ids in
    `taken_over` are the actor's from now on; payments of the ids in `canceled` are canceled.

    In the caller's transaction, which has locked the tenant. Raises NotAnOwner.
    """
    tenant_id, person = membership.tenant_id, membership.user
    left = keys.settle_left(
        tenant_id=tenant_id, person_id=person.pk, taken_over=taken_over, actor=actor, now=now
    )
    revoked = invitations.revoke_of(tenant_id=tenant_id, person=person, actor=actor, now=now)
    answers: list[tuple[Any, Any]] = signals.member_left.send(
        sender=Membership,
        tenant_id=tenant_id,
        user_id=person.pk,
        how=how,
        actor=actor,
        now=now,
        canceled=canceled,
    )
    elsewhere = {label: words for _receiver, ended in answers for label, words in ended.items()}
    return Ended(keys=left, invitations=revoked, elsewhere=elsewhere)
