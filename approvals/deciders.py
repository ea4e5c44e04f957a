"""Who decides an approval: whoever would be asked about it now (decision 0185).

The column `approvers` has those who were asked so far. Who was asked and approves no more decides
nothing; who has come to approve since then decides like the others, even before the e-mail.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from approvals.errors import NotAnApprover
from approvals.models import Approval
from approvals.policies import AnyPolicy
from tenants.models import Mode

# Answers what nobody else may answer in the sandbox, so that a test needs no people.
MADE_UP_APPROVER = "approver@sandbox.invalid"


def decides(policy: AnyPolicy, approval: Approval, email: str) -> bool:
    """Whether the person of this address may answer it, as things are now."""
    return email.casefold() in _folded(by_link(approval, policy.approvers(approval)))


def require(policy: AnyPolicy, approval: Approval, email: str) -> None:
    """Raises NotAnApprover for somebody who does not decide it."""
    if decides(policy, approval, email):
        return
    if email.casefold() in _folded(approval.approvers):
        raise NotAnApprover("You are no longer an approver here.")
    raise NotAnApprover("You are not among those who decide this.")


def by_link(approval: Approval, approvers: list[str]) -> list[str]:
    """Those who answer by a link where these people approve: in the sandbox somebody made up where
    there is nobody."""
    if not approvers and approval.tenant.mode == Mode.SANDBOX:
        return [MADE_UP_APPROVER]
    return approvers


def not_asked(approval: Approval, approvers: Iterable[str]) -> list[str]:
    """Those of these who were not asked yet."""
    asked = _folded(approval.approvers)
    return [address for address in approvers if address.casefold() not in asked]


def asked_and_still(policy: AnyPolicy, approval: Approval) -> list[str]:
    """Those who were asked and still decide, under the addresses that they were asked by."""
    now = _folded(policy.approvers(approval))
    return [address for address in approval.approvers if address.casefold() in now]


def of_each(policy: AnyPolicy, approvals: list[Approval]) -> Iterable[tuple[Approval, list[str]]]:
    """Each approval with those who decide it now; as many queries for one as for many."""
    found: Mapping[str, list[str]] = policy.approvers_of(approvals)
    return [(approval, found[approval.pk]) for approval in approvals]


def _folded(addresses: Iterable[str]) -> set[str]:
    return {address.casefold() for address in addresses}
