"""What approval means for one kind of transfer: who is asked, and what an answer does.

`funding` and `payments` each write one policy and register it here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from django.db.models import QuerySet

from approvals.errors import UnknownApproval
from approvals.models import Approval, MagicLink
from common.ids import is_id
from tenants.actors import Actor

A = TypeVar("A", bound=Approval)


@dataclass(frozen=True, kw_only=True)
class Approver:
    """The person who answers: the holder of a link, or somebody who is signed in."""

    email: str
    actor: Actor


class ApprovalPolicy(ABC, Generic[A]):
    """How one kind of transfer is approved.

    `kind` is `funding` or `payment`: the name of the approval's foreign key to its subject, and
    what e-mails and pages call it. `id_prefix` begins the ids of subjects. `links` is the table of
    magic links, and `find_link` the statement that finds the tenant of one by its digest;
    `mails_links` says whether e-mails bring them, or only say where to sign in. All methods that
    change something run in the transaction that closes the approval.
    """

    kind: ClassVar[str]
    id_prefix: ClassVar[str]
    links: ClassVar[type[MagicLink]]
    find_link: ClassVar[str]
    mails_links: ClassVar[bool] = True

    @abstractmethod
    def approvals(self) -> QuerySet[A]:
        """Every approval of this kind, with its tenant, subject and bank account."""

    @abstractmethod
    def lock_subject(self, approval_id: str) -> None:
        """Lock the row of the funding or payment; it comes first in the lock order."""

    @abstractmethod
    def approvers_of(self, approvals: Collection[A]) -> dict[str, list[str]]:
        """The addresses of the people who would be asked now, by the id of each approval. As many
        queries for one as for many."""

    def approvers(self, approval: A) -> list[str]:
        """The addresses of the people who would be asked now."""
        return self.approvers_of([approval])[approval.pk]

    def hold_settings(self, _approval: A) -> None:
        """Until the transaction ends, the settings that name approvers stay as they are. The
        subject is locked before."""

    def is_answered_by_link(self, _approval: A) -> bool:
        """Whether a magic link answers it, or only people who are signed in do."""
        return True

    def approves_from(self, _approval: A, _email: str, _now: datetime) -> datetime | None:
        """From when the person of this address, who decides it, can approve it; None: at once.
        They can decline at any time."""
        return None

    @abstractmethod
    def require_approvable(self, approval: A, by: Approver, now: datetime) -> None:
        """Raise the DomainError that forbids `by` to approve it now, if there is one."""

    @abstractmethod
    def go_ahead(self, approval: A, by: Actor, now: datetime) -> None:
        """Let the money move: it was approved."""

    @abstractmethod
    def stop(self, approval: A, *, code: str, message: str, actor: Actor, now: datetime) -> None:
        """Fail the transfer: it was declined, or nobody answered in time."""

    def withdraw_if_stale(self, _approval: A, _now: datetime) -> bool:
        """Close an approval whose terms no longer apply; returns whether it did."""
        return False

    def about(self, *, tenant_id: str, subject_id: str) -> A | None:
        """The approval of one funding or payment of the tenant, of several the newest; None for a
        malformed id."""
        if not is_id(subject_id, self.id_prefix):
            return None
        rows = self.approvals().filter(tenant_id=tenant_id, **{f"{self.kind}_id": subject_id})
        return rows.order_by("-created_at", "-pk").first()


# A policy of whatever kind.
AnyPolicy: TypeAlias = ApprovalPolicy[Any]

_policies: dict[str, AnyPolicy] = {}


def register(policy: AnyPolicy) -> None:
    """Make its approvals known to links, e-mails and pages."""
    _policies[policy.kind] = policy


def get(kind: str) -> AnyPolicy:
    """Raises KeyError."""
    return _policies[kind]


def every() -> Iterator[AnyPolicy]:
    """All policies, in the order of registration."""
    yield from _policies.values()


def find(*, tenant_id: str, approval_id: str) -> tuple[AnyPolicy, Approval]:
    """One approval of the tenant, of whatever kind, and its policy. Raises UnknownApproval."""
    for policy in every() if is_id(approval_id, "cnf") else ():
        approval = policy.approvals().filter(tenant_id=tenant_id, pk=approval_id).first()
        if approval is not None:
            return policy, approval
    raise UnknownApproval("There is no such request for approval.")
