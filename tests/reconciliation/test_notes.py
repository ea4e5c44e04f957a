"""Notes on lines that are long in transit."""

from __future__ import annotations

from datetime import timedelta

import pytest

from reconciliation import expecting, notes
from reconciliation.errors import NoteRefused
from reconciliation.models import TransitNote
from tests.networks.ach.inbound.builders import RAIL
from tests.reconciliation.books import book
from tests.reconciliation.statements import MONDAY, NOW

pytestmark = pytest.mark.django_db
UNTIL = NOW.date() + timedelta(days=10)


@pytest.fixture
def line(acme, account):
    """A line of the books that no statement shows."""
    (line,) = book(acme, MONDAY, 5_000)
    expecting.take(RAIL, now=NOW)
    return line


def write(line, *, by, until=UNTIL, now=NOW):
    return notes.write(line, until=until, reason="The bank looks for it", by=by, now=now)


class TestASecondNote:
    def test_that_holds_for_longer_is_somebody_elses(self, line):
        write(line, by="ann")

        with pytest.raises(NoteRefused, match="somebody else"):
            write(line, by="ann", until=UNTIL + timedelta(days=1))
        write(line, by="bo", until=UNTIL + timedelta(days=1))

        assert list(TransitNote.objects.order_by("until").values_list("written_by", flat=True)) == [
            "ann", "bo",
        ]  # fmt: skip

    def test_after_a_shorter_one_is_somebody_elses_too(self, line):
        """A shorter note does not make a longer one of the same person the first."""
        write(line, by="ann")
        write(line, by="ann", until=UNTIL - timedelta(days=5), now=NOW + timedelta(minutes=1))

        with pytest.raises(NoteRefused, match="somebody else"):
            write(line, by="ann", until=UNTIL + timedelta(days=1))
