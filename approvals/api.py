"""A sandbox tenant reads its approvers' mail."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from api.serializers import CreatedByOut
from approvals.links import ApproverLinks
from approvals.models import Decision, Question
from common import clock
from tenants.models import ActorType


class MagicLinkOut(serializers.Serializer[Any]):
    approverEmail = serializers.EmailField()
    url = serializers.URLField()


class QuestionOut(serializers.Serializer[Any]):
    """One question; each app adds the name of what it is about."""

    id = serializers.CharField()
    decision = serializers.ChoiceField(choices=Decision.values)
    expiresAt = serializers.DateTimeField()
    links = MagicLinkOut(many=True, help_text="Empty once it is decided or over.")


class ApprovalOut(serializers.Serializer[Any]):
    """What people answered, if any were asked."""

    status = serializers.ChoiceField(choices=Decision.values)
    decidedBy = CreatedByOut(
        allow_null=True,
        help_text="The approver by e-mail address; null: nobody yet, or nobody in time.",
    )
    decidedAt = serializers.DateTimeField(
        allow_null=True, help_text="When it was answered, ran out or was withdrawn."
    )
    declineReason = serializers.CharField(allow_null=True)


def approval(question: Question | None) -> dict[str, Any] | None:
    """The question as its funding or payment shows it; None where nobody was asked.

    Who withdrew it is not named: that may be one of our staff.
    """
    if question is None:
        return None
    answered = question.decision in (Decision.APPROVED, Decision.DECLINED)
    by = {"type": ActorType.APPROVER.value, "id": question.decided_by} if answered else None
    return {
        "status": str(question.decision),
        "decidedBy": by,
        "decidedAt": clock.text_of(question.decided_at) if question.decided_at else None,
        "declineReason": question.decline_reason or None,
    }


def confirmation(links: ApproverLinks, *, subject_name: str) -> dict[str, Any]:
    """The question with its links; `subject_name` is the field that holds the subject's id."""
    question = links.question
    return {
        "id": question.pk,
        subject_name: question.subject_id,
        "decision": str(question.decision),
        "expiresAt": clock.text_of(question.expires_at),
        "links": [{"approverEmail": address, "url": url} for address, url in links.urls.items()],
    }
