"""Several people take one item at once: one of them has it, and all others are told who."""

from __future__ import annotations

from collections import Counter

import pytest

from common.clock import utc_now
from desk.doers import person
from desk.items import assigning
from desk.items.assigning import AssignedMeanwhile
from desk.items.subjects import found, subject_of
from desk.models import Assignment
from tenants import actors
from tenants.models import AuditEvent
from tests.builders import make_funding, make_source, make_staff
from tests.races.together import rounds, together

WORKERS = 6
pytestmark = pytest.mark.django_db(transaction=True)


@rounds(6)
def test_one_of_many_takes_an_item(acme, round_):
    item = found(subject_of(make_funding(acme, make_source(acme))))
    people = [make_staff(f"p{number}@ballast.example") for number in range(WORKERS)]

    def take(worker):
        doer = person(actors.staff(people[worker].pk))
        assigning.assign(item, to=doer.name, seen=0, doer=doer, now=utc_now())

    outcomes = together(take, workers=WORKERS)

    (row,) = Assignment.objects.all()
    assert Counter(map(type, outcomes)) == {type(None): 1, AssignedMeanwhile: WORKERS - 1}
    winner = people[outcomes.index(None)]
    assert row.assignee_id == winner.pk
    told = {each.detail.partition(" has had it since ")[0] for each in outcomes if each}
    assert told == {winner.email}
    assert AuditEvent.objects.filter(action="item.taken").count() == 1
