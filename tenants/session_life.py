"""When a session ends by itself: a while after the sign-in, or when nobody uses it."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase

_BEGAN, _USED = "began_at", "used_at"  # seconds since 1970
# A session that is used is not written at each request.
_NOTED_EVERY = timedelta(minutes=1)


def begin(session: SessionBase, *, now: datetime) -> None:
    """Somebody signs in."""
    session[_BEGAN] = session[_USED] = now.timestamp()


def is_over(session: SessionBase, *, is_staff: bool, now: datetime) -> bool:
    """Whether the session of somebody signed in has lasted its time, or was idle for too long."""
    idle, age = _since(session, _USED, now), _since(session, _BEGAN, now)
    rests, lasts = limits(is_staff=is_staff)
    return idle >= rests or age >= lasts


def limits(*, is_staff: bool) -> tuple[timedelta, timedelta]:
    """How long a session may rest, and how long it lasts whatever is done with it."""
    if is_staff:
        return (
            timedelta(minutes=settings.STAFF_IDLE_MINUTES),
            timedelta(hours=settings.STAFF_SESSION_HOURS),
        )
    return (
        timedelta(minutes=settings.IDLE_MINUTES),
        timedelta(seconds=settings.SESSION_COOKIE_AGE),
    )


def note_use(session: SessionBase, *, now: datetime) -> None:
    """The person did something. Writes at most once a minute."""
    if _since(session, _USED, now) >= _NOTED_EVERY:
        session[_USED] = now.timestamp()


def _since(session: SessionBase, word: str, now: datetime) -> timedelta:
    return timedelta(seconds=now.timestamp() - session.get(word, 0.0))
