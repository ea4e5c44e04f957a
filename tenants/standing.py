"""How what waits for a second person stands, as pages tell it: who can approve it, and why the
reader cannot. The rule that decides is asked, not a copy of it (decision 0187)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from tenants import actors, selectors
from tenants.models import User
from tenants.services import second_person

NOBODY = (
    "Nobody can {verb} it yet: it takes somebody whose account and role are older than the proposal"
    " and came from somebody else."
)


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """`power` (`app.codename`) is what an approval takes, `proposes` what a proposal takes, where
    one power does; `proposed_by` the person's id, or the name that somebody gave at a command
    line."""

    power: str
    proposed_by: str
    proposed_at: datetime
    proposes: str = ""


def obstacle(proposal: Proposal, person: User) -> str:
    """Why this person cannot approve it, whenever that is; empty where they can."""
    if proposal.proposed_by == person.pk:
        return "You proposed it, so somebody else decides."
    return second_person.obstacle(
        actor=actors.staff(person.pk),
        power=proposal.power,
        proposed_by=proposal.proposed_by,
        proposed_at=proposal.proposed_at,
        proposes=proposal.proposes,
    )


def who_can(proposal: Proposal, *, obstacle: Callable[[User], str], verb: str = "approve") -> str:
    """The addresses of those who can, or why nobody can."""
    emails = selectors.staff_emails(power=proposal.power)
    people = User.objects.filter(email__in=emails).defer("password")
    able = [each.email for each in people.order_by("email") if not obstacle(each)]
    gone = second_person.proposer_obstacle(
        proposed_by=proposal.proposed_by, power=proposal.proposes
    )
    return ", ".join(able) or gone or NOBODY.format(verb=verb)
