from __future__ import annotations

from datetime import timedelta

from django.core.cache import cache

from common import ticks
from common.clock import utc_now
from desk.queues.jobs import job_lines
from desk.queues.lines import queue_lines
from tests.builders import make_endpoint, publish


def line_of(task, now):
    return next(line for line in job_lines(now=now) if line.task == task)


class TestJobs:
    def test_show_their_last_run(self):
        now = utc_now()
        ticks.note(task="payments.submit_due", at=now - timedelta(seconds=7), seconds=0.25, ok=True)

        line = line_of("payments.submit_due", now)

        assert (line.words, line.tone, line.seconds_ago) == ("On time", "good", 7)
        assert line.last.seconds == 0.25

    def test_that_miss_their_ticks_are_late(self):
        now = utc_now()
        ticks.note(task="payments.submit_due", at=now - timedelta(minutes=5), seconds=1, ok=True)

        assert line_of("payments.submit_due", now).words == "Late"

    def test_that_failed_say_so(self):
        now = utc_now()
        ticks.note(task="payments.submit_due", at=now, seconds=1, ok=False)

        assert (line_of("payments.submit_due", now).words) == "Failed"

    def test_that_nobody_remembers_are_not_seen(self):
        cache.clear()

        assert line_of("payments.submit_due", utc_now()).words == "Not seen"


class TestQueues:
    def test_are_called_what_people_call_them(self, db):
        assert [line.name for line in queue_lines(utc_now()) if "." in line.name] == []


class TestPage:
    def test_shows_queues_and_jobs(self, desk, acme, django_assert_max_num_queries):
        make_endpoint(acme)
        publish(acme, now=utc_now() - timedelta(minutes=5))

        with django_assert_max_num_queries(17):  # two of them load what the person may do
            content = desk.get("/admin/desk/queues/").content.decode()

        assert "5 min" in content
        assert "Check the ledger" in content
        assert "Forget old API requests" in content

    def test_is_for_staff_who_may_see_tenants(self, staff_with):
        assert staff_with().get("/admin/desk/queues/").status_code == 403
