"""Invitations into a tenant: by e-mail, for one address, for one use, for seven days.

The link is made when the e-mail is sent and stored only as a digest; a newer e-mail replaces it.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import CharField, Func, Q, QuerySet, Value

from common import brand, clock
from common.errors import NotFound
from common.ids import is_id
from tenants import access_mails, actors, new_approvers, selectors
from tenants.actors import Actor
from tenants.errors import (
    AccountExists,
    AlreadyMember,
    InvitationClosed,
    InvitedSomebodyElse,
    TooManyInvitations,
)
from tenants.models import (
    ActorType,
    Invitation,
    Membership,
    OutgoingEmail,
    Role,
    Tenant,
    User,
)
from tenants.services import audit, emails, names

MAIL = "invitation"
emails.is_for_others(MAIL)
VALID_FOR = timedelta(days=7)
# A second invitation so soon is a double click, and sends no second e-mail.
_ONCE_IN = timedelta(minutes=1)
OPEN_MAX = 100
# E-mails in our name go to addresses that somebody typed. Revoking and inviting again sends more,
# so all of them count.
MAILS_A_DAY_MAX = 200
_TOKEN_BYTES = 32
_TOKEN = re.compile(r"[0-9A-Za-z_-]{43}")


@transaction.atomic
def invite(*, tenant_id: str, email: str, role: Role, actor: Actor, now: datetime) -> Invitation:
    """Invite `email` to join. An open invitation of that address gets the new role and a new
    e-mail.

    Does not reveal accounts elsewhere. Raises AlreadyMember, TooManyInvitations, NotAnOwner.
    """
    address = email.lower()
    _lock_tenant(tenant_id)
    _require_still_owner(tenant_id, actor)
    if Membership.objects.filter(tenant_id=tenant_id, user__email=address).exists():
        raise AlreadyMember(f"{address} is a member already.", field="email")
    known = _open(tenant_id).filter(email=address).first()
    if known is None and _open(tenant_id).count() >= OPEN_MAX:
        raise TooManyInvitations(f"{OPEN_MAX} invitations are open. Revoke some first.")
    if known is not None and known.role == role and _is_fresh(known, now):
        return known
    invitation = known or Invitation(tenant_id=tenant_id, email=address, created_at=now)
    invitation.role = role
    invitation.invited_by = _person(actor)
    return _send(invitation, "invitation.sent", actor, now)


@transaction.atomic
def resend(
    *, tenant_id: str, invitation_id: str, actor: Actor, now: datetime
) -> tuple[Invitation, bool]:
    """E-mail a new link, good for seven days; the older one ends. A member who does so is the one
    who invites from now on. True if it did: a link of the last minute stays as it is.

    Raises NotFound, TooManyInvitations, NotAnOwner."""
    _lock_tenant(tenant_id)
    _require_still_owner(tenant_id, actor)
    invitation = _one(tenant_id, invitation_id)
    if _is_fresh(invitation, now):
        return invitation, False
    invitation.invited_by = _person(actor) or invitation.invited_by
    return _send(invitation, "invitation.resent", actor, now), True


@transaction.atomic
def revoke(*, tenant_id: str, invitation_id: str, actor: Actor, now: datetime) -> Invitation:
    """End an open invitation. Raises NotFound if it does not exist or is not open any more."""
    invitation = _one(tenant_id, invitation_id)
    if not _open(tenant_id).filter(pk=invitation.pk).update(revoked_at=now, digest=""):
        raise NotFound("This invitation is not open.")
    _audit(invitation, "invitation.revoked", actor, now)
    return invitation


def revoke_of(*, tenant_id: str, person: User, actor: Actor, now: datetime) -> int:
    """End the open invitations that this person sent, and those for their address; returns how
    many. In the caller's transaction, which has locked the tenant."""
    theirs = _open(tenant_id).filter(Q(invited_by=person) | Q(email=person.email))
    rows = list(theirs.order_by("pk"))
    Invitation.objects.filter(pk__in=[row.pk for row in rows]).update(revoked_at=now, digest="")
    for invitation in rows:
        _audit(invitation, "invitation.revoked", actor, now)
    return len(rows)


def find(*, token: str, now: datetime) -> Invitation:
    """The open invitation of this link. One query, none for a malformed link. Raises
    InvitationClosed."""
    rows = Invitation.objects.select_related("tenant", "invited_by")
    found = (
        _TOKEN.fullmatch(token)
        and rows.defer("invited_by__password")
        .filter(pk=_of_link(token), accepted_at=None, revoked_at=None, expires_at__gt=now)
        .first()
    )
    if not found:
        raise InvitationClosed("This invitation is no longer open.")
    return found


def has_account(invitation: Invitation) -> bool:
    """Whether the invited person has an account and signs in, instead of choosing a password."""
    return User.objects.filter(email=invitation.email).exists()


@transaction.atomic
def accept(*, token: str, user: User, now: datetime) -> Membership:
    """Make the signed-in person a member. Of two clicks at once, one does it.

    Raises InvitationClosed, InvitedSomebodyElse.
    """
    invitation = _find_locked(token, now)
    if invitation.email != user.email:
        raise InvitedSomebodyElse(f"This invitation is for {invitation.email}.")
    return _accept(invitation, user, now)


@transaction.atomic
def join(*, token: str, name: str, password: str, now: datetime) -> User:
    """Make the account of an invited person who has none, and the membership.

    Raises InvitationClosed, AccountExists, InvalidName.
    """
    invitation = _find_locked(token, now)
    user = _new_user(invitation.email, password, names.checked(name))
    _accept(invitation, user, now)
    return user


def _new_user(email: str, password: str, name: str) -> User:
    """Create the user. Another tenant's invitation may do so at this moment; then AccountExists."""
    refusal = AccountExists(f"{email} has an account: sign in, then join.")
    if User.objects.filter(email=email).exists():
        raise refusal
    try:
        with transaction.atomic():
            return User.objects.create_user(email=email, password=password, name=name)
    except IntegrityError as error:
        raise refusal from error


def _find_locked(token: str, now: datetime) -> Invitation:
    """Lock the invitation and read it again: somebody may have sent it anew, for another role."""
    _lock_tenant(find(token=token, now=now).tenant_id)
    return find(token=token, now=now)


def _accept(invitation: Invitation, user: User, now: datetime) -> Membership:
    won = Invitation.objects.filter(
        pk=invitation.pk, accepted_at=None, revoked_at=None, expires_at__gt=now
    ).update(accepted_at=now, digest="")
    if not won:
        raise InvitationClosed("This invitation is no longer open.")
    membership, is_new = Membership.objects.get_or_create(
        tenant_id=invitation.tenant_id,
        user=user,
        defaults={
            "role": invitation.role,
            "approves_from": new_approvers.approves_from(
                tenant=invitation.tenant,
                user_id=user.pk,
                role=invitation.role,
                actor=actors.user(user.pk),
                now=now,
            ),
        },
    )
    audit.record(
        tenant_id=invitation.tenant_id,
        actor=actors.user(user.pk),
        action="invitation.accepted",
        subject_id=user.pk,
        details={"email": user.email, "role": membership.role},
        now=now,
    )
    if is_new:
        access_mails.tell_of_member(membership, by=_inviter(invitation), now=now)
    return membership


def _inviter(invitation: Invitation) -> Actor:
    """Who let the person in."""
    by = invitation.invited_by_id
    return actors.user(by) if by else Actor(ActorType.STAFF)


def _send(invitation: Invitation, action: str, actor: Actor, now: datetime) -> Invitation:
    _require_pace(invitation.tenant_id, now)
    invitation.expires_at = now + VALID_FOR
    invitation.digest = ""
    invitation.save()
    emails.queue(
        tenant_id=invitation.tenant_id,
        to=invitation.email,
        template=MAIL,
        context={"invitation_id": invitation.pk},
        now=now,
    )
    _audit(invitation, action, actor, now)
    return invitation


def _require_pace(tenant_id: str, now: datetime) -> None:
    """Limit how many e-mails invite an address. Raises TooManyInvitations."""
    if emails.queued_within_a_day(tenant_id=tenant_id, template=MAIL, now=now) >= MAILS_A_DAY_MAX:
        raise TooManyInvitations(
            f"{MAILS_A_DAY_MAX} invitations were mailed within a day. Go on tomorrow."
        )


@emails.builds_context(MAIL)
def _context(email: OutgoingEmail, now: datetime) -> Mapping[str, Any] | None:
    """What the e-mail says; None once the invitation is closed. Each attempt makes a new link."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    rows = Invitation.objects.filter(
        pk=email.context["invitation_id"],
        email=email.to,
        accepted_at=None,
        revoked_at=None,
        expires_at__gt=now,
    )
    if not rows.update(digest=_digest(token)):
        return None
    shown = rows.select_related("tenant", "invited_by").defer("invited_by__password")
    invitation = shown.get()
    inviter = invitation.invited_by
    return {
        "tenant_name": invitation.tenant.name,
        "invited_by": inviter.get_full_name() if inviter else brand.name(),
        "role": Role(invitation.role).label,
        "email": invitation.email,
        "expires_at": clock.text_of(invitation.expires_at),
        "link": f"{settings.BASE_URL}/join/{token}/",
    }


def _is_fresh(invitation: Invitation, now: datetime) -> bool:
    return now < invitation.expires_at - VALID_FOR + _ONCE_IN


def _person(actor: Actor) -> User | None:
    """The name of the member who invites; our own staff go by the name of the product."""
    people = User.objects.defer("password")
    return people.get(pk=actor.id) if actor.type == ActorType.USER else None


def _audit(invitation: Invitation, action: str, actor: Actor, now: datetime) -> None:
    audit.record(
        tenant_id=invitation.tenant_id,
        actor=actor,
        action=action,
        subject_id=invitation.pk,
        details={"email": invitation.email, "role": str(invitation.role)},
        now=now,
    )


def _one(tenant_id: str, invitation_id: str) -> Invitation:
    row = is_id(invitation_id, "inv") and _open(tenant_id).filter(pk=invitation_id).first()
    if not row:
        raise NotFound("This invitation is not open.")
    return row


def _open(tenant_id: str) -> QuerySet[Invitation]:
    return Invitation.objects.filter(tenant_id=tenant_id, accepted_at=None, revoked_at=None)


def _require_still_owner(tenant_id: str, actor: Actor) -> None:
    """A member who invites is an owner under the tenant's lock, and not removed meanwhile."""
    if actor.type == ActorType.USER:
        selectors.require_owner(tenant_id=tenant_id, user_id=actor.id)


def _lock_tenant(tenant_id: str) -> None:
    """Lock the tenant: its invitations are made and used one after the other."""
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)


def _of_link(token: str) -> Func:
    """The id of the invitation that was mailed with this token, which a function of the owner's
    finds: no tenant is known yet."""
    wanted = Value(_digest(token), output_field=CharField())
    return Func(wanted, function="tenants_find_invitation", output_field=CharField())


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
