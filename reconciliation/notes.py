"""Notes on lines that are long in transit, by which a person lets a day close."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from common import days
from reconciliation.errors import NoteRefused
from reconciliation.models import ExpectedLine, TransitNote
from reconciliation.reasons import checked

# Then somebody looks at the line again.
DAYS_MAX = 30


def write(line: int, *, until: date, reason: str, by: str, now: datetime) -> TransitNote:
    """Say why a line of the books is long in transit: up to `until`, 30 days at most, it keeps no
    day open. For longer than one's own note it takes somebody else. Raises NoteRefused."""
    row = ExpectedLine.objects.filter(line=line).first()
    if row is None:
        raise NoteRefused("There is no such line among those that the bank should show.")
    if row.match_id is not None:
        raise NoteRefused("The bank shows this line.")
    last = days.day_of(now) + timedelta(days=DAYS_MAX)
    if until > last:
        raise NoteRefused(f"A note holds for {DAYS_MAX} days, up to {last:%B %-d, %Y}.")
    longest = TransitNote.objects.filter(line=line).order_by("-until", "-written_at").first()
    if longest and longest.written_by == by and until > longest.until:
        raise NoteRefused("You let this line wait before: somebody else looks at it now.")
    return TransitNote.objects.create(
        line=line,
        reason=checked(reason, NoteRefused),
        until=until,
        written_by=by,
        written_at=now,
    )
