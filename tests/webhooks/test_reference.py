"""The two statements of a dispatcher do what a slow and simple version does, on any queue."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from hypothesis import example, given, settings
from hypothesis import strategies as st

from common.engine.http.client import Answer, Failure
from tenants.switches import Switch
from tests.builders import NOW, make_endpoint, make_tenant
from tests.webhooks import reference
from tests.webhooks.claiming import result_of
from webhooks.dispatcher import claims, results
from webhooks.dispatcher.claims import BREAKER_FAILURES, IN_FLIGHT_PER_ENDPOINT, LEASE, Job
from webhooks.models import WebhookAttempt, WebhookDelivery, WebhookEndpoint, WebhookEvent

pytestmark = pytest.mark.django_db

SECOND = timedelta(seconds=1)
AROUND_NOW = st.integers(-120, 30).map(lambda seconds: NOW + seconds * SECOND)
MAY_BE = st.sampled_from([False, False, False, True])


def row(**drawn):
    """A delivery. Due a minute ago, free, at its first try, of no payment, unless drawn."""
    usual = {
        "endpoint": 0,
        "payment": "",
        "due": NOW - 60 * SECOND,
        "queued": -60,
        "failures": 0,
        "leased_until": None,
        "is_manual": False,
        "is_parked": False,
    }
    return usual | drawn


def rows(**drawn):
    shared = {
        "endpoint": st.sampled_from([0, 0, 0, 0, 1, 1, 2, 3]),
        "payment": st.sampled_from(["", "a", "a", "b", "b", "c"]),
        "failures": st.sampled_from([0, 0, 0, 1, 2, 10]),
        "is_manual": MAY_BE,
    }
    return st.fixed_dictionaries(shared | drawn).map(lambda values: row(**values))


ENDPOINTS = st.lists(
    st.fixed_dictionaries(
        {
            "status": st.sampled_from(["enabled"] * 5 + ["disabled", "removed"]),
            "consecutive_failures": st.sampled_from([0, 0, 0, 1, 4, 5, 9]),
            "paused_until": st.none() | AROUND_NOW,
            "last_success_at": st.none() | AROUND_NOW,
            "warnings_sent": st.integers(0, 2),
        }
    ),
    min_size=1,
    max_size=4,
)
# Any combination of columns, and the states that a queue mostly consists of.
ANYTHING = rows(
    due=AROUND_NOW,
    queued=st.sampled_from([-7200, -3600, -3599, -60, 0]),
    leased_until=st.none() | st.none() | AROUND_NOW,
    is_parked=MAY_BE,
)
FRESH = rows(due=st.integers(-9, 0).map(lambda seconds: NOW + seconds * SECOND))
IN_FLIGHT = rows(leased_until=st.just(NOW + 30 * SECOND))
RETRY = rows(due=st.sampled_from([NOW + SECOND, NOW + 300 * SECOND]))
PARKED = rows(due=st.just(NOW + claims.ORDER_WAIT - 60 * SECOND), is_parked=st.just(True))


def queues(*states):
    """Up to 30 deliveries in these states. Lists of Hypothesis's own choice have five on average,
    too few for an endpoint to reach its limits."""
    return st.integers(0, 30).flatmap(
        lambda size: st.lists(st.one_of(states), min_size=size, max_size=size)
    )


QUEUES = queues(ANYTHING, FRESH, RETRY)
TRIED = queues(ANYTHING, IN_FLIGHT, RETRY, PARKED)
ENABLED = {
    "status": "enabled",
    "consecutive_failures": 0,
    "paused_until": None,
    "last_success_at": None,
    "warnings_sent": 0,
}
STOPS = st.sampled_from([None, None, None, None, "tenant", "everybody"])


def parked_of(planned, given_out, found):
    """What had to be parked. Behind one that goes out with this very claim a row may be left as it
    is: the next claim finds that one in flight."""
    return {
        key
        for key, earlier in planned.parked.items()
        if earlier not in given_out or found[key]["next_attempt_at"] > NOW
    }


@contextmanager
def rolled_back():
    """What is written inside is gone afterwards."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def fill_queue(endpoints, deliveries, order, stop=None):
    """Store what was drawn; returns the endpoints."""
    tenant = make_tenant()
    made = [_endpoint(tenant, fields) for fields in endpoints]
    rows = [
        _delivery(made[fields["endpoint"] % len(made)], fields, sequence)
        for fields, sequence in zip(deliveries, order, strict=False)
    ]
    WebhookEvent.objects.bulk_create(row.event for row in rows)
    WebhookDelivery.objects.bulk_create(rows)
    if stop:
        stopped = tenant if stop == "tenant" else None
        Switch.objects.create(kind="webhooks", tenant=stopped, reason="x", engaged_at=NOW)
    return made


def _endpoint(tenant, fields):
    off: dict[str, dict[str, Any]] = {
        "disabled": {"disabled_reason": "tenant"},
        "removed": {"removed_at": NOW},
    }
    more = off.get(fields["status"], {})
    failing: dict[str, Any] = (
        {"first_failure_at": NOW - 300 * SECOND} if fields["consecutive_failures"] else {}
    )
    return make_endpoint(tenant, **fields, **more, **failing)


def _delivery(endpoint, fields, sequence):
    event = WebhookEvent(
        tenant_id=endpoint.tenant_id, type="balance.low", body=b"{}", created_at=NOW
    )
    return WebhookDelivery(
        tenant_id=endpoint.tenant_id,
        event=event,
        endpoint=endpoint,
        status="pending",
        payment_id=fields["payment"],
        sequence=sequence,
        next_attempt_at=fields["due"],
        queued_at=NOW + fields["queued"] * SECOND,
        leased_until=fields["leased_until"],
        lease_version=1,
        attempts=1,
        failures=fields["failures"],
        is_manual=fields["is_manual"],
        is_parked=fields["is_parked"],
        created_at=NOW,
    )


ATTEMPT_COLUMNS = (
    "delivery_id", "number", "status_code", "error", "response", "response_headers",
    "duration_ms", "started_at",
)  # fmt: skip


def stored():
    """What a claim or a recording may change, by model."""
    return {
        "endpoints": {row["id"]: row for row in WebhookEndpoint.objects.values()},
        "deliveries": {row["id"]: row for row in WebhookDelivery.objects.values()},
        "attempts": list(
            WebhookAttempt.objects.order_by("delivery_id", "number").values(*ATTEMPT_COLUMNS)
        ),
    }


def as_claimed(row):
    return {
        **row,
        "leased_until": NOW + LEASE,
        "lease_version": row["lease_version"] + 1,
        "attempts": row["attempts"] + 1,
        "is_parked": False,
    }


def as_parked(row):
    due = row["queued_at"] + claims.ORDER_WAIT
    return {**row, "is_parked": True, "next_attempt_at": due, "leased_until": None}


def with_all_of_a_job():
    return WebhookDelivery.objects.select_related("event", "endpoint__tenant")


def job_for(found):
    """What a dispatcher gets of a delivery as it was before the claim."""
    return Job.of(found)._replace(
        lease_version=found.lease_version + 1,
        attempt=found.attempts + 1,
        is_reclaimed=found.leased_until is not None,
    )


def queue(*deliveries, slots=100, retry_slots=100, stop=None, **endpoint):
    """An example with one endpoint; a delivery's place is its sequence."""
    return example(
        endpoints=[ENABLED | endpoint],
        deliveries=list(deliveries),
        order=list(range(1, 41)),
        stop=stop,
        slots=slots,
        retry_slots=retry_slots,
        from_start=True,
    )


FLYING = row(leased_until=NOW + SECOND)
SOONER, LATER = NOW - 30 * SECOND, NOW - SECOND


# As much is in flight as may be; a failing endpoint gets one at a time, and none while it pauses.
@queue(*[FLYING] * IN_FLIGHT_PER_ENDPOINT, *[row()] * 5)
@queue(FLYING, row(), consecutive_failures=BREAKER_FAILURES)
@queue(row(), row(), consecutive_failures=BREAKER_FAILURES)
@queue(row(), consecutive_failures=BREAKER_FAILURES, paused_until=NOW + SECOND)
# Nothing is sent where operators stopped it, or to a removed endpoint; to one that is off, what was
# asked for.
@queue(row(), stop="tenant")
@queue(row(), stop="everybody")
@queue(row(), status="removed")
@queue(row(), row(is_manual=True), status="disabled")
# The first of an endpoint comes first, also among late retries, which have slots of their own.
@queue(row(due=SOONER), row(), slots=1)
@queue(row(due=SOONER, failures=2), row(failures=2), row(due=LATER), retry_slots=1)
# What waits for one in flight takes no turn, and does not hide what may be sent.
@queue(FLYING | {"payment": "a"}, *[row(payment="a")] * 3, row(due=SOONER), slots=1)
# What comes before its earlier event is parked; it takes a turn, and gives its old lease back.
@queue(row(payment="a", due=LATER), row(payment="a"), row(due=SOONER), slots=1)
@queue(row(payment="a", due=LATER), row(payment="a", leased_until=LATER))
# It waits for an hour; what has no payment waits for nothing.
@queue(row(payment="a", due=LATER), row(payment="a", queued=-3600))
@queue(row(due=LATER), row())
@settings(max_examples=60)
@given(
    endpoints=ENDPOINTS,
    deliveries=QUEUES,
    order=st.permutations(range(1, 41)),
    stop=STOPS,
    slots=st.integers(1, 12) | st.just(100),
    retry_slots=st.integers(1, 6) | st.just(100),
    from_start=st.booleans(),
)
def test_a_claim_hands_out_what_the_simple_version_would(
    endpoints, deliveries, order, stop, slots, retry_slots, from_start
):
    with rolled_back():
        made = fill_queue(endpoints, deliveries, order, stop)
        after = "" if from_start else min(row.pk for row in made)
        planned = reference.plan(slots=slots, after=after, now=NOW)
        expected = stored()

        before = {item.pk: item for item in with_all_of_a_job()}

        claimed = claims.claim(slots=slots, retry_slots=retry_slots, after=after, now=NOW)

        turns = {row.pk: number for number, row in planned.turns}
        given_out = {job.delivery_id for job in claimed.jobs}
        assert given_out <= turns.keys()
        dealt = planned.numbers(slots=slots, retry_slots=retry_slots)
        assert sorted(turns[delivery_id] for delivery_id in given_out) == dealt
        assert sum(job.failures >= 2 for job in claimed.jobs) <= retry_slots
        assert claimed.resume_after == planned.resume_after
        assert set(claimed.jobs) == {job_for(before[key]) for key in given_out}
        kept = expected["deliveries"]
        kept |= {key: as_claimed(kept[key]) for key in given_out}
        found = stored()
        parked = parked_of(planned, given_out, found["deliveries"])
        assert claimed.parked == len(parked)
        kept |= {key: as_parked(kept[key]) for key in parked}
        assert found == expected


OK = Answer(status=200, body=b"thanks", headers=(("Server", "nginx"),), duration_ms=31)
BROKEN = Answer(status=500, body=b"oops", duration_ms=2_000)
BUSY = Answer(status=503, headers=(("Retry-After", "7"), ("Via", "1.1 a")), retry_after="7")
SILENT = Answer(failure=Failure.TIMEOUT, duration_ms=10_000)
ANSWERS = st.lists(
    st.tuples(
        st.sampled_from([OK, OK, OK, BROKEN, BUSY, SILENT]),
        st.sampled_from([1, 1, 1, 0, 2]),  # the version that the result knows; 1 is in force
        st.integers(-5, 0),
        MAY_BE,  # whether the try was written down before
    ),
    min_size=40,
    max_size=40,
)


def tries(*answers, deliveries=None, **endpoint):
    """An example with one endpoint: what came of the try of each delivery, in their order."""
    return example(
        endpoints=[ENABLED | endpoint],
        deliveries=list(deliveries or [FLYING] * len(answers)),
        order=list(range(1, 41)),
        answers=list(answers),
    )


def came(answer, *, version=1, started=0):
    return (answer, version, started, False)


RETRY_OF_A = row(payment="a", due=NOW + 300 * SECOND)
PARKED_OF_A = RETRY_OF_A | {"is_parked": True}
OPEN = BREAKER_FAILURES - 1


# The end of an event lets go of what is parked behind it, and hurries no retry; a failure that is
# tried again ends nothing. What is being sent, or ended in this very batch, is left alone.
@tries(
    *[came(OK)] * 4,
    deliveries=[
        FLYING | {"payment": "a"},
        RETRY_OF_A | {"failures": 1},
        PARKED_OF_A,
        PARKED_OF_A | {"payment": "b"},
    ],
)
@tries(*[came(BROKEN)] * 2, deliveries=[FLYING | {"payment": "a"}, PARKED_OF_A])
@tries(
    came(OK),
    came(OK),
    came(OK, version=0),
    deliveries=[FLYING | {"payment": "a"}, *[PARKED_OF_A | {"leased_until": NOW + SECOND}] * 2],
)
@tries(came(OK), deliveries=[FLYING | {"payment": "a"}, PARKED_OF_A | {"due": SOONER}])
# An endpoint fails since its first failure, or since the first one after its last success.
@tries(*[came(BROKEN, started=at) for at in (-2, -4, -3)])
@tries(came(SILENT, started=-5), came(OK), *[came(BUSY, started=at) for at in (-1, -3, -2)])
@tries(came(OK), came(BROKEN), deliveries=[FLYING, FLYING | {"failures": 10}])  # and given up
# From the fifth failure on it pauses, for a minute at most.
@tries(came(BROKEN), consecutive_failures=OPEN - 1)
@tries(came(BROKEN), consecutive_failures=OPEN)
@tries(came(BROKEN), consecutive_failures=OPEN + 6)
# One that goes on succeeding is noted once a minute, one that succeeds again at once.
@tries(came(OK), consecutive_failures=1, last_success_at=LATER)
@tries(came(OK), last_success_at=NOW - 60 * SECOND)
@tries(came(OK), last_success_at=NOW - 61 * SECOND)
@tries(came(OK), last_success_at=NOW - 45 * SECOND)
@settings(max_examples=20)  # each row of them is recorded one by one
@given(
    endpoints=ENDPOINTS,
    deliveries=TRIED,
    order=st.permutations(range(1, 41)),
    answers=ANSWERS,
)
def test_a_recording_leaves_what_the_simple_version_would(endpoints, deliveries, order, answers):
    with rolled_back():
        fill_queue(endpoints, deliveries, order)
        found = list(with_all_of_a_job().order_by("sequence"))
        batch = [
            result_of(
                Job.of(item)._replace(lease_version=version, attempt=version),
                answer,
                now=NOW + started * SECOND,
            )
            for item, (answer, version, started, _) in zip(found, answers, strict=False)
        ]
        known = [item for item, (*_, is_known) in zip(found, answers, strict=False) if is_known]
        WebhookAttempt.objects.bulk_create(
            WebhookAttempt(delivery=item, number=1, duration_ms=7, started_at=NOW) for item in known
        )
        with rolled_back():
            counted = reference.record(batch, NOW)
            expected = stored()

        assert results.record(batch, now=NOW) == counted

        assert stored() == expected
