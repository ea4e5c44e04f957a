"""Who does something to rails and files, and what they are called in the rows of networks.

Those know no users. A person's id stands there, which stays when an address changes: so nobody is
two people. What a command did has the name that its operator gave.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from common import brand
from common.errors import StaffRefusal
from tenants import selectors
from tenants import standing as tenants_standing
from tenants.actors import SYSTEM, Actor
from tenants.models import User
from tenants.services import audit, second_person

OURSELVES = "system"  # what the workers did (networks.ach)
OPERATOR_LENGTH_MAX = 100
_LIKE_AN_ID = ("usr_", "key_")


class NameRefused(StaffRefusal):
    code = "operator_name_refused"
    title = "Not your name"
    advice = "Give your own name, as your colleagues know you."


@dataclass(frozen=True)
class Doer:
    """`name` stands in the rows."""

    actor: Actor
    name: str

    @property
    def is_alone(self) -> bool:
        """Whether it is an operator at a command line, whom no second person checks."""
        return self.actor == SYSTEM


def person(actor: Actor) -> Doer:
    """Somebody at the desk."""
    return Doer(actor, actor.id)


def operator(name: str) -> Doer:
    """Somebody at a command line. Raises NameRefused for what `names_of` would show as somebody
    else's name."""
    name = name.strip()[:OPERATOR_LENGTH_MAX]
    if name.lower().startswith(_LIKE_AN_ID) or name.lower() == OURSELVES:
        raise NameRefused(f"“{name}” is not a person's name. Enter your own name.")
    return Doer(SYSTEM, name)


class Proposed(Protocol):
    """A row that waits, or waited, for a second person."""

    proposed_by: str
    proposed_at: datetime


@dataclass(frozen=True)
class Standing:
    """Of what waits: who can approve it, and why the reader cannot; empty where they can."""

    who: str
    obstacle: str


def standing(power: str, proposal: Proposed, *, reader: Doer, verb: str = "approve") -> Standing:
    """As pages tell it to somebody at the desk. Asks the rule by which `require_second` decides."""
    asked = tenants_standing.Proposal(
        power=power, proposed_by=proposal.proposed_by, proposed_at=proposal.proposed_at
    )

    def obstacle(person: User) -> str:
        return tenants_standing.obstacle(asked, person)

    return Standing(
        tenants_standing.who_can(asked, obstacle=obstacle, verb=verb),
        obstacle(User.objects.defer("password").get(pk=reader.name)),
    )


def require_second(doer: Doer, power: str, proposal: Proposed, *, proposes: str = "") -> None:
    """In the transaction that approves `proposal`, which takes the power `proposes` to propose.
    Raises NotASecondPerson, ProposerLeft."""
    second_person.require(
        actor=doer.actor,
        power=power,
        proposed_by=proposal.proposed_by,
        proposed_at=proposal.proposed_at,
        proposes=proposes,
    )


def names_of(ids: Iterable[str]) -> dict[str, str]:
    """What to call them: addresses of people; of anything else its own name. Two queries."""
    wanted = {each for each in ids if each}
    known = selectors.people_and_keys(wanted)
    return {each: known.get(each, brand.name() if each == OURSELVES else each) for each in wanted}


def record(
    doer: Doer,
    action: str,
    subject_id: str,
    *,
    now: datetime,
    note: str = "",
    **details: object,
) -> None:
    """Write to the part of the audit log that only staff read, in the caller's transaction."""
    if doer.is_alone:
        details["operator"] = doer.name
    audit.record(
        tenant_id=None,
        actor=doer.actor,
        action=action,
        subject_id=subject_id,
        details=details,
        staff_note=note,
        now=now,
    )
