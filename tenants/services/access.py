"""Access by two people of staff: a role in a tenant, another address of a person, roles of staff.

One proposes it, whom it concerns is told, and another one approves it when its delay is over; it is
done in the same transaction. In an emergency two people need no delay if neither
owes the other a role, and everybody who looks after people is told (decision 0168). What nobody
decided in time ends (decision 0171).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from common import days, lookalikes, sweeps
from common.database.constraints import violated
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.database_clock import judged
from tenants import selectors
from tenants.access import REASON_LENGTH_MAX, WRONG_KIND, AccessDecision, AccessKind
from tenants.actors import SYSTEM, Actor
from tenants.emails import (
    queue_access_notices,
    queue_password_reset,
)
from tenants.errors import AccessRefused
from tenants.models import AccessProposal, Membership, Role, Tenant, User
from tenants.services import accounts, alarms, audit, invitations, members, second_person, staff

_APPROVES = "tenants.approve_access"
_PROPOSES = "tenants.propose_access"
_SHOWN_FOR = timedelta(days=1)
_NOBODY_DECIDED = "Nobody decided in time."
_BATCH = 500

log = structlog.get_logger(__name__)

_Act = Callable[[AccessProposal, Actor, datetime], object]


@transaction.atomic
def propose(
    *,
    kind: AccessKind,
    email: str,
    tenant: Tenant | None = None,
    role: str = "",
    new_email: str = "",
    groups: Sequence[str] = (),
    is_emergency: bool = False,
    reason: str,
    actor: Actor,
    now: datetime,
) -> AccessProposal:
    """Ask a colleague, and tell whom it concerns. Nothing changes before; the same once more is the
    same proposal. Raises AccessRefused."""
    delay = timedelta(0) if is_emergency else timedelta(hours=settings.STAFF_ACCESS_DELAY_HOURS)
    proposal = AccessProposal(
        kind=kind,
        email=email.lower(),
        tenant=tenant,
        role=role,
        new_email=new_email.lower(),
        groups=sorted(groups),
        is_emergency=is_emergency,
        reason=_checked(reason),
        proposed_by_id=actor.id,
        proposed_at=now,
        waits_until=now + delay,
        ends_at=now + delay + timedelta(days=settings.STAFF_ACCESS_OPEN_DAYS),
    )
    _clear_for(proposal, now)
    if known := _open_already(proposal):
        return known
    _save(proposal)
    _tell("proposed", proposal, now)
    _audit("proposed", proposal, actor, proposal.reason, now)
    return proposal


@transaction.atomic
def approve(*, proposal_id: str, note: str, actor: Actor, now: datetime) -> AccessProposal:
    """Give the access, once. Raises AccessRefused (one's own, about oneself, decided, too early or
    too late), NotASecondPerson, and what the act itself refuses."""
    proposal = _lock_for(proposal_id, actor, now)
    second_person.require(
        actor=actor,
        power=_APPROVES,
        proposed_by=proposal.proposed_by_id,
        proposed_at=proposal.proposed_at,
        proposes=_PROPOSES,
    )
    if proposal.is_emergency:
        second_person.require_unrelated(actor=actor, proposed_by=proposal.proposed_by_id)
    if now < proposal.waits_until:
        raise AccessRefused(f"It waits until {days.words(proposal.waits_until)}.")
    invited = _invited(proposal)
    _ACTS[AccessKind(proposal.kind)](proposal, actor, now)
    _decide(proposal, AccessDecision.APPROVED, note, actor, now)
    if proposal.is_emergency:
        _alarm(proposal, now)
    if not (proposal.is_emergency and proposal.kind == AccessKind.POWER):  # told by the alarm
        _tell("approved", proposal, now, invited=invited)
    return proposal


@transaction.atomic
def reject(*, proposal_id: str, note: str, actor: Actor, now: datetime) -> None:
    """Leave everything as it is. Raises AccessRefused."""
    _decide(_lock_for(proposal_id, actor, now), AccessDecision.REJECTED, note, actor, now)


@by(WORKER)
@judged
def expire_due(*, now: datetime) -> int:
    """End what nobody decided in time; returns how many."""
    late = _late(now).order_by("ends_at").values_list("pk", flat=True)
    return sweeps.each(
        list(late[:_BATCH]),
        lambda proposal_id: _expire(proposal_id, now),
        failure="access_not_expired",
    )


def waiting() -> QuerySet[AccessProposal]:
    """Proposals that wait for a second person."""
    return AccessProposal.objects.filter(decision=AccessDecision.OPEN)


def emergencies(*, now: datetime) -> int:
    """How often two people gave access without its delay during the last day."""
    return AccessProposal.objects.filter(
        is_emergency=True, decision=AccessDecision.APPROVED, decided_at__gt=now - _SHOWN_FOR
    ).count()


def _late(now: datetime) -> QuerySet[AccessProposal]:
    return AccessProposal.objects.filter(decision=AccessDecision.OPEN, ends_at__lte=now)


@transaction.atomic
def _expire(proposal_id: str, now: datetime) -> int:
    """End it, if nobody was faster. Whom it concerns read that it was proposed, and read this."""
    rows = _late(now).select_for_update(no_key=True, of=("self",))
    proposal = rows.select_related("tenant").filter(pk=proposal_id).first()
    if proposal is None:
        return 0
    _decide(proposal, AccessDecision.EXPIRED, _NOBODY_DECIDED, SYSTEM, now)
    _tell("not decided in time", proposal, now)
    return 1


def _clear_for(proposal: AccessProposal, now: datetime) -> None:
    """End what is in the way of this one and is over, also where no beat runs."""
    same = {name: getattr(proposal, name) for name in ("kind", "email", "tenant")}
    for proposal_id in _late(now).filter(**same).values_list("pk", flat=True):
        _expire(proposal_id, now)


def _admit(proposal: AccessProposal, actor: Actor, now: datetime) -> None:
    """Give a member another role; invite whoever is no member."""
    tenant_id, role = str(proposal.tenant_id), Role(proposal.role)
    rows = Membership.objects.filter(tenant_id=tenant_id, user__email=proposal.email)
    member = rows.select_related("user").defer("user__password").first()
    if member is None:
        invitations.invite(
            tenant_id=tenant_id, email=proposal.email, role=role, actor=actor, now=now
        )
        return
    members.change_role(
        tenant_id=tenant_id, membership_id=member.pk, role=role, actor=actor, now=now
    )


def _move(proposal: AccessProposal, actor: Actor, now: datetime) -> None:
    person = _person(proposal.email)
    if person.is_staff:
        raise AccessRefused(
            "A colleague keeps the address. Hire the person anew under another one."
        )
    accounts.change_address(user_id=person.pk, email=proposal.new_email, actor=actor, now=now)


def _empower(proposal: AccessProposal, actor: Actor, now: datetime) -> None:
    person = staff.grant(
        email=proposal.email,
        roles=proposal.groups,
        actor=actor,
        now=now,
        asked_by=proposal.proposed_by_id,
        granted_by=actor.id,
        note=proposal.reason,
    )
    if not selectors.has_password(user_id=person.pk):
        queue_password_reset(user=person, now=now)


_ACTS: Mapping[AccessKind, _Act] = MappingProxyType(
    {AccessKind.MEMBER: _admit, AccessKind.ADDRESS: _move, AccessKind.POWER: _empower}
)


def _person(email: str) -> User:
    person = User.objects.filter(email=email).defer("password").first()
    if person is None:
        raise AccessRefused(f"Nobody has the address {email}.")
    return person


def _open_already(proposal: AccessProposal) -> AccessProposal | None:
    names = ("kind", "email", "tenant", "role", "new_email", "groups", "is_emergency")
    same = {name: getattr(proposal, name) for name in (*names, "proposed_by_id")}
    return AccessProposal.objects.filter(decision=AccessDecision.OPEN, **same).first()


def _save(proposal: AccessProposal) -> None:
    _require_of_its_kind(proposal)
    if proposal.kind == AccessKind.ADDRESS:
        _person(proposal.email)
    try:
        with transaction.atomic():
            proposal.save(force_insert=True)
    except IntegrityError as error:
        if violated(error) != "one_open_access_proposal":
            raise
        raise AccessRefused("Something of the kind waits for this person already.") from error


def _require_of_its_kind(proposal: AccessProposal) -> None:
    is_member = proposal.tenant is not None and proposal.role in Role.values
    given = (is_member, bool(proposal.new_email), bool(proposal.groups))
    meant = tuple(proposal.kind == kind for kind in AccessKind)
    if given != meant or (proposal.role and not is_member):
        raise AccessRefused(WRONG_KIND)


def _lock_for(proposal_id: str, actor: Actor, now: datetime) -> AccessProposal:
    """An open proposal of somebody else about somebody else that is not over, locked."""
    rows = AccessProposal.objects.select_for_update(no_key=True, of=("self",))
    shown = rows.select_related("proposed_by", "tenant").defer("proposed_by__password")
    proposal = shown.get(pk=proposal_id)
    if proposal.decision != AccessDecision.OPEN:
        raise AccessRefused(f"It was {proposal.decision}.")
    if now >= proposal.ends_at:
        raise AccessRefused(f"It ended at {days.words(proposal.ends_at)}: propose it anew.")
    if proposal.proposed_by_id == actor.id:
        raise AccessRefused("You proposed it, so somebody else decides.")
    own = User.objects.values_list("email", flat=True).get(pk=actor.id)
    if own in (proposal.email, proposal.new_email):
        raise AccessRefused("It is about you, so somebody else decides.")
    return proposal


def _decide(
    proposal: AccessProposal, decision: AccessDecision, note: str, actor: Actor, now: datetime
) -> None:
    proposal.decision, proposal.decision_note = decision, _checked(note)
    proposal.decided_at = now
    if actor != SYSTEM:
        proposal.decided_by_id = actor.id
    proposal.save(update_fields=("decision", "decision_note", "decided_by", "decided_at"))
    _audit(str(decision), proposal, actor, proposal.decision_note, now)


def _checked(text: str) -> str:
    if not 1 <= len(text := text.strip()) <= REASON_LENGTH_MAX:
        raise AccessRefused(f"A reason of 1 to {REASON_LENGTH_MAX} characters is needed.")
    return text


def _invited(proposal: AccessProposal) -> str:
    """What an approval does for who is no member yet, as its mail says it; else empty."""
    rows = Membership.objects.filter(tenant=proposal.tenant, user__email=proposal.email)
    if proposal.kind != AccessKind.MEMBER or rows.exists():
        return ""
    role = Role(proposal.role).label.lower()
    return f"Our support invited {lookalikes.spelled(proposal.email)} as {role}"


def _tell(what: str, proposal: AccessProposal, now: datetime, *, invited: str = "") -> None:
    """Mail it to whom it concerns: the tenant's owners, the person, or who looks after staff.
    `invited` says it where somebody was only invited."""
    if proposal.kind == AccessKind.POWER:
        alarms.tell(f"Roles of staff were {what}", _facts(proposal), now=now)
        return
    if proposal.kind == AccessKind.ADDRESS:
        to, tenant_id = [proposal.email], None
    else:
        tenant_id = str(proposal.tenant_id)
        to = selectors.member_emails(tenant_id=tenant_id, roles=[Role.OWNER])
    queue_access_notices(
        to=to,
        tenant_id=tenant_id,
        facts=_facts(proposal),
        waits_until=proposal.waits_until if proposal.decided_at is None else None,
        is_over=proposal.decision == AccessDecision.EXPIRED,
        invited=invited,
        now=now,
    )


def _facts(proposal: AccessProposal) -> list[tuple[str, str]]:
    """What it is about, in words that its tenant may read, too."""
    facts = [("Person", lookalikes.spelled(proposal.email))]
    if proposal.tenant is not None:
        facts += [("Organization", proposal.tenant.name), ("Role", Role(proposal.role).label)]
    if proposal.new_email:
        facts.append(("New address", lookalikes.spelled(proposal.new_email)))
    if proposal.groups:
        facts.append(("Roles of staff", ", ".join(proposal.groups)))
    if proposal.is_emergency:
        facts.append(("Emergency", "without the usual delay"))
    return facts


def _alarm(proposal: AccessProposal, now: datetime) -> None:
    """Name the two people who did without the delay."""
    one, other = proposal.proposed_by_id, proposal.decided_by_id
    log.error("access_in_emergency", proposal_id=proposal.pk, proposed_by=one, decided_by=other)
    names = selectors.people_and_keys([str(one), str(other)])
    by = [("Proposed by", names[str(one)]), ("Approved by", names[str(other)])]
    why = [("Reason", proposal.reason)]
    alarms.tell("Access was given in an emergency", [*_facts(proposal), *by, *why], now=now)


def _audit(what: str, proposal: AccessProposal, actor: Actor, note: str, now: datetime) -> None:
    """Write to the part of the audit log that only staff read. What comes of it tenants read."""
    audit.record(
        tenant_id=None,
        actor=actor,
        action=f"access.{what}",
        subject_id=proposal.pk,
        details={
            "kind": str(proposal.kind),
            "email": proposal.email,
            "tenantId": proposal.tenant_id or "",
            "role": proposal.role,
            "newEmail": proposal.new_email,
            "roles": proposal.groups,
            "emergency": proposal.is_emergency,
        },
        staff_note=note,
        now=now,
    )
