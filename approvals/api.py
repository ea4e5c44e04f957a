"""Approvals in the API: what a funding or payment shows, and a sandbox tenant's magic links."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from api.serializers import CreatedByOut
from approvals.links import ApproverLinks
from approvals.models import Approval, ApprovalStatus
from common import clock
from tenants.models import ActorType


class MagicLinkOut(serializers.Serializer[Any]):
    approverEmail = serializers.EmailField()
    url = serializers.URLField()


class ConfirmationOut(serializers.Serializer[Any]):
    """One approval; each app adds a field with the id of the funding or payment."""

    id = serializers.CharField()
    decision = serializers.ChoiceField(choices=ApprovalStatus.values)
    expiresAt = serializers.DateTimeField()
    links = MagicLinkOut(many=True, help_text="Empty once it is decided or over.")


class ApprovalOut(serializers.Serializer[Any]):
    """What people answered, if any were asked."""

    status = serializers.ChoiceField(choices=ApprovalStatus.values)
    decidedBy = CreatedByOut(
        allow_null=True,
        help_text="The approver by e-mail address; null: nobody yet, or nobody in time.",
    )
    decidedAt = serializers.DateTimeField(
        allow_null=True, help_text="When it was answered, ran out or was withdrawn."
    )
    declineReason = serializers.CharField(allow_null=True)


def approval_body(approval: Approval | None) -> dict[str, Any] | None:
    """The `approval` field of a funding or payment; None where nobody was asked.

    It does not name who withdrew an approval, who may be one of our staff.
    """
    if approval is None:
        return None
    answered = approval.decision in (ApprovalStatus.APPROVED, ApprovalStatus.DECLINED)
    by = {"type": ActorType.APPROVER.value, "id": approval.decided_by} if answered else None
    return {
        "status": str(approval.decision),
        "decidedBy": by,
        "decidedAt": clock.text_of(approval.decided_at) if approval.decided_at else None,
        "declineReason": approval.decline_reason or None,
    }


def confirmation_body(links: ApproverLinks, *, subject_name: str) -> dict[str, Any]:
    """The approval with its links; `subject_name` is the field for the id of its subject."""
    approval = links.approval
    return {
        "id": approval.pk,
        subject_name: approval.subject_id,
        "decision": str(approval.decision),
        "expiresAt": clock.text_of(approval.expires_at),
        "links": [{"approverEmail": address, "url": url} for address, url in links.urls.items()],
    }
