"""The people of a tenant and the open invitations, ready to print."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from dashboard.shell.badges import Badge
from tenants import second_factor
from tenants.models import Invitation, Membership, Role
from tenants.services.leaving import Ended


@dataclass(frozen=True)
class MemberLine:
    id: str
    name: str
    email: str
    role: str
    protection: Badge
    is_you: bool
    is_last_owner: bool
    since: datetime
    approves_from: datetime | None


@dataclass(frozen=True)
class InvitationLine:
    id: str
    email: str
    role: str
    badge: Badge
    expires_at: datetime


def member_lines(rows: Iterable[Membership], *, reader_id: str, now: datetime) -> list[MemberLine]:
    """One query more, for the second factors of all of them."""
    found = list(rows)
    owners = [row.pk for row in found if row.role == Role.OWNER]
    protected = second_factor.set_up_by({row.user_id for row in found})
    return [
        MemberLine(
            id=row.pk,
            name=row.user.get_full_name(),
            email=row.user.email,
            role=Role(row.role).label,
            protection=_protection(row, is_protected=row.user_id in protected),
            is_you=row.user_id == reader_id,
            is_last_owner=owners == [row.pk],
            since=row.created_at,
            approves_from=_in_future(row.approves_from, now),
        )
        for row in found
    ]


def _in_future(moment: datetime | None, now: datetime) -> datetime | None:
    return moment if moment is not None and now < moment else None


def _protection(row: Membership, *, is_protected: bool) -> Badge:
    if not row.user.is_active:
        return Badge("Account closed")
    return Badge("Second factor", "good") if is_protected else Badge("Password only", "warn")


def invitation_line(row: Invitation, *, now: datetime) -> InvitationLine:
    return InvitationLine(
        id=row.pk,
        email=row.email,
        role=Role(row.role).label,
        badge=Badge("Invited", "info") if row.expires_at > now else Badge("Expired", "warn"),
        expires_at=row.expires_at,
    )


def removed_words(name: str, ended: Ended) -> str:
    """What the page says of a removal."""
    said = f"{name} is no longer on the team."
    if ended.keys.revoked:
        said += f" {_keys(ended.keys.revoked)} revoked."
    if ended.keys.taken_over:
        said += f" {_keys(ended.keys.taken_over)} taken over by you."
    return " ".join([said, *(f"{label}: {words}." for label, words in ended.elsewhere.items())])


def _keys(count: int) -> str:
    return "1 API key is" if count == 1 else f"{count} API keys are"
