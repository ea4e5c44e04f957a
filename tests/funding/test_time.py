"""Days, months and waits around the nights on which clocks change, and at the end of a year."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from common.days import EASTERN, start_of_day, start_of_month
from funding.api import presenters
from funding.models import FundingLimit
from funding.services import limits, pauses
from tenants.actors import SYSTEM
from tests.builders import make_auto_funding, make_funding, make_source
from tests.funding.test_pauses import failed, pause_of

MICROSECOND = timedelta(microseconds=1)
# The Eastern days on which an hour is missing or happens twice, and how long they are.
CLOCK_CHANGES = {
    date(2026, 3, 8): 23,
    date(2026, 11, 1): 25,
    date(2027, 3, 14): 23,
    date(2027, 11, 7): 25,
}
OTHER_NIGHTS = {date(2026, 12, 31): 24, date(2027, 1, 1): 24, date(2028, 2, 29): 24}
DAYS = [pytest.param(*item, id=str(item[0])) for item in (CLOCK_CHANGES | OTHER_NIGHTS).items()]


def midnight(day):
    return datetime(day.year, day.month, day.day, tzinfo=EASTERN).astimezone(UTC)


@pytest.mark.parametrize(("day", "hours"), DAYS)
class TestLimits:
    def test_a_day_is_as_long_as_it_is(self, day, hours):
        begins, ends = midnight(day), midnight(day + timedelta(days=1))

        assert ends - begins == timedelta(hours=hours)
        for moment in (begins, begins + timedelta(hours=hours) - MICROSECOND):
            assert start_of_day(moment).astimezone(UTC) == begins
        assert start_of_day(ends).astimezone(UTC) == ends
        assert start_of_month(begins).astimezone(UTC) == midnight(day.replace(day=1))

    @pytest.mark.django_db
    def test_what_was_used_yesterday_is_free_again_at_midnight(self, acme, day, hours):
        source = make_source(acme)
        begins, ends = midnight(day), midnight(day + timedelta(days=1))
        for moment in (begins - MICROSECOND, begins, ends - MICROSECOND, ends):
            make_funding(acme, source, amount=100, created_at=moment)

        assert limits.usage(tenant_id=acme.pk, now=ends - MICROSECOND).today == 300
        assert limits.usage(tenant_id=acme.pk, now=ends).today == 100

    @pytest.mark.django_db
    def test_the_answer_names_the_next_midnight(self, acme, day, hours):
        FundingLimit.objects.create(tenant=acme, daily_max=1_000, monthly_max=5_000)
        next_month = (day.replace(day=1) + timedelta(days=32)).replace(day=1)

        for now in (midnight(day), midnight(day) + timedelta(hours=hours) - MICROSECOND):
            shown = presenters.funding_limits(acme.pk, acme.mode, SYSTEM, now)
            assert datetime.fromisoformat(shown["daily"]["resetsAt"]) == midnight(
                day + timedelta(days=1)
            )
            assert datetime.fromisoformat(shown["monthly"]["resetsAt"]) == midnight(next_month)


@pytest.mark.django_db
@pytest.mark.parametrize(("day", "hours"), DAYS)
def test_a_wait_after_a_failure_is_counted_in_real_hours(acme, day, hours):
    """An hour is an hour, whatever the clocks on the wall do meanwhile."""
    make_auto_funding(acme)
    source = make_source(acme)
    before_the_change = midnight(day) + timedelta(hours=1, minutes=30)

    for wait in pauses.BACK_OFF:
        funding = failed(acme, source)
        pauses.note_failure(funding=funding, now=before_the_change)

        assert pause_of(acme)[1] - before_the_change == wait
