"""Where a person is signed in, and how to end it."""

from __future__ import annotations

from datetime import datetime

from allauth.usersessions.models import UserSession
from django.db import transaction

from tenants.services import sign_ins


@transaction.atomic
def end(*, user_id: str, session_id: int, now: datetime) -> bool:
    """Sign one browser out. Returns False if the session does not exist or is another person's."""
    session = UserSession.objects.filter(user_id=user_id, pk=session_id).first()
    if session is None:
        return False
    session.end()
    sign_ins.account_changed(user_id=user_id, action="session.ended", kind=session.ip, now=now)
    return True


def end_others(*, user_id: str, kept: str | None) -> int:
    """Sign the person out everywhere but in the session with the key `kept`."""
    rows = list(UserSession.objects.filter(user_id=user_id).exclude(session_key=kept))
    for session in rows:
        session.end()
    return len(rows)


def end_all(*, user_id: str) -> int:
    """Sign the person out everywhere."""
    rows = list(UserSession.objects.filter(user_id=user_id))
    for session in rows:
        session.end()
    return len(rows)
