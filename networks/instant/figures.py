"""What people have to look at on instant rails, counted."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import F, Q

from networks.instant.models import Conversation, InstantLine, Message
from networks.instant.states import MessageStatus

_FAULTS_OF = timedelta(days=1)


class Waiting(NamedTuple):
    """`in_review`: conversations that a person has to look at. `faulty`: messages of the last day
    that changed nothing. `lines`: rails that are not heard."""

    in_review: int
    faulty: int
    lines: int


def waiting(*, now: datetime) -> Waiting:
    """Three small queries."""
    open_ones = Q(resolved_at=None) | Q(resolved_at__lt=F("review_since"))
    faulty = Message.objects.filter(status=MessageStatus.FAULTY)
    return Waiting(
        in_review=Conversation.objects.filter(open_ones, review_since__isnull=False).count(),
        faulty=faulty.filter(created_at__gt=now - _FAULTS_OF).count(),
        lines=InstantLine.objects.exclude(trouble="").count(),
    )
