"""The token in the address of a magic link. Only its digest is stored."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from approvals import deciders, policies
from approvals.errors import AnsweredSignedIn, FormerApprover, UnknownApproval
from approvals.models import Approval, MagicLink
from approvals.policies import AnyPolicy
from common.engine import sql

_TOKEN = re.compile(r"[0-9A-Za-z_-]{43}")


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Opened:
    """What a link is about, and the address of its approver."""

    policy: AnyPolicy
    approval: Approval
    email: str


def tenant_of(token: str) -> str:
    """The id of the tenant whose approval the link of this token is about. One query for each kind,
    none for a malformed token. Raises UnknownApproval."""
    if _TOKEN.fullmatch(token):
        for policy in policies.every():
            row = sql.first(policy.find_link, {"digest": digest(token)})
            if row is not None:
                return str(row[0])
    raise UnknownApproval("This link is not valid.")


def opened(token: str) -> Opened:
    """What the link of this token opens.

    Raises UnknownApproval for a link we never made, without a query for a malformed one, and
    LinkEnded for one that answers nothing any more.
    """
    policy, link = _found(token)
    approval: Approval = policy.approvals().get(pk=link.confirmation_id)
    email = link.approver_email
    if not policy.is_answered_by_link(approval):
        raise AnsweredSignedIn("No link from an e-mail lets money out.")
    if not deciders.decides(policy, approval, email):
        raise FormerApprover(f"{email} is no longer asked for approvals here.")
    return Opened(policy=policy, approval=approval, email=email)


def _found(token: str) -> tuple[AnyPolicy, MagicLink]:
    if _TOKEN.fullmatch(token):
        for policy in policies.every():
            link = policy.links._default_manager.filter(digest=digest(token)).first()
            if link is not None:
                return policy, link
    raise UnknownApproval("This link is not valid.")
