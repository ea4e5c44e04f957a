"""A sandbox tenant reads its approvers' mail."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from approvals.links import ApproverLinks
from approvals.models import Decision
from common import clock


class MagicLinkOut(serializers.Serializer[Any]):
    approverEmail = serializers.EmailField()
    url = serializers.URLField()


class QuestionOut(serializers.Serializer[Any]):
    """One question; each app adds the name of what it is about."""

    id = serializers.CharField()
    decision = serializers.ChoiceField(choices=Decision.values)
    expiresAt = serializers.DateTimeField()
    links = MagicLinkOut(many=True, help_text="Empty once it is decided or over.")


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
