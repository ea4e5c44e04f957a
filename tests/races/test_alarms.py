from __future__ import annotations

from functools import partial

import pytest

from tenants.models import AuditEvent, OutgoingEmail
from tenants.services import alarms
from tenants.services.alarms import LateWork
from tests.builders import make_staff
from tests.races.together import rounds, together
from tests.reconciliation.statements import NOW

pytestmark = pytest.mark.django_db(transaction=True)
race = partial(together, workers=4)


@rounds(4)
def test_late_work_is_told_once_by_all_workers_together(round_):
    make_staff("ann@ballast.example", ["reconciliation.match_statementline"])
    work = LateWork(
        what="November 16, 2026 is not closed",
        facts=[("Rail", "firstbank")],
        power="reconciliation.match_statementline",
        page="desk:reconciliation",
        action="day.left_open",
        subject_id="firstbank",
        details={"rail": "firstbank", "day": "2026-11-16"},
    )

    told = race(lambda _: alarms.tell_daily(work, now=NOW))

    assert sorted(told) == [False, False, False, True]
    assert OutgoingEmail.objects.filter(template="work_alarm").count() == 1
    assert AuditEvent.objects.filter(action="day.left_open").count() == 1
