"""The two statements of a dispatcher do what a slow and simple version does, on any queue."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import transaction
from hypothesis import given
from hypothesis import strategies as st

from common.engine.http.client import Answer
from tenants.switches import Switch
from tests.builders import NOW, make_endpoint, make_tenant
from tests.webhooks import reference
from tests.webhooks.claiming import result_of
from webhooks.dispatcher import claims, results
from webhooks.dispatcher.claims import LEASE
from webhooks.models import WebhookAttempt, WebhookDelivery, WebhookEndpoint, WebhookEvent

pytestmark = pytest.mark.django_db

SECOND = timedelta(seconds=1)
AROUND_NOW = st.integers(-120, 30).map(lambda seconds: NOW + seconds * SECOND)
ENDPOINTS = st.lists(
    st.fixed_dictionaries(
        {
            "status": st.sampled_from(["enabled"] * 5 + ["disabled", "removed"]),
            "consecutive_failures": st.sampled_from([0, 0, 0, 1, 4, 5, 9]),
            "paused_until": st.none() | AROUND_NOW,
            "last_success_at": st.none() | AROUND_NOW,
        }
    ),
    min_size=1,
    max_size=4,
)
DELIVERIES = st.lists(
    st.fixed_dictionaries(
        {
            "endpoint": st.integers(0, 3),
            "payment": st.sampled_from(["", "a", "b", "c"]),
            "due": AROUND_NOW,
            "queued": st.sampled_from([-7200, -3600, -3599, -60, 0]),
            "failures": st.sampled_from([0, 0, 0, 1, 2, 10]),
            "leased_until": st.none() | st.none() | AROUND_NOW,
            "is_manual": st.sampled_from([False, False, False, True]),
            "is_parked": st.sampled_from([False, False, True]),
        }
    ),
    max_size=40,
)
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
    status = fields["status"]
    more = {
        "disabled": {"disabled_reason": "tenant"},
        "removed": {"removed_at": NOW},
    }.get(status, {})
    failing = {"first_failure_at": NOW - 300 * SECOND} if fields["consecutive_failures"] else {}
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


def stored():
    """What a claim or a recording may change, by model."""
    attempts = ("delivery_id", "number", "status_code", "error", "duration_ms", "started_at")
    return {
        "endpoints": {row["id"]: row for row in WebhookEndpoint.objects.values()},
        "deliveries": {row["id"]: row for row in WebhookDelivery.objects.values()},
        "attempts": sorted(WebhookAttempt.objects.values_list(*attempts)),
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


@given(
    endpoints=ENDPOINTS,
    deliveries=DELIVERIES,
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

        claimed = claims.claim(slots=slots, retry_slots=retry_slots, after=after, now=NOW)

        turns = {row.pk: number for number, row in planned.turns}
        given_out = {job.delivery_id for job in claimed.jobs}
        assert given_out <= turns.keys()
        dealt = planned.numbers(slots=slots, retry_slots=retry_slots)
        assert sorted(turns[delivery_id] for delivery_id in given_out) == dealt
        assert sum(job.failures >= 2 for job in claimed.jobs) <= retry_slots
        assert claimed.resume_after == planned.resume_after
        rows = expected["deliveries"]
        rows |= {key: as_claimed(rows[key]) for key in given_out}
        found = stored()
        parked = parked_of(planned, given_out, found["deliveries"])
        assert claimed.parked == len(parked)
        rows |= {key: as_parked(rows[key]) for key in parked}
        assert found == expected


ANSWERS = st.lists(
    st.tuples(
        st.sampled_from([200, 200, 500, 503]),
        st.sampled_from([1, 1, 1, 0, 2]),  # the version that the result knows; 1 is in force
        st.integers(-5, 0),
    ),
    min_size=40,
    max_size=40,
)


def job_of(row, version):
    values = dict.fromkeys(claims.Job._fields)
    return claims.Job(
        **values
        | {
            "delivery_id": row.pk,
            "lease_version": version,
            "attempt": version,
            "failures": row.failures,
            "is_manual": row.is_manual,
            "endpoint_id": row.endpoint_id,
        }
    )


@given(
    endpoints=ENDPOINTS,
    deliveries=DELIVERIES,
    order=st.permutations(range(1, 41)),
    answers=ANSWERS,
)
def test_a_recording_leaves_what_the_simple_version_would(endpoints, deliveries, order, answers):
    with rolled_back():
        fill_queue(endpoints, deliveries, order)
        batch = [
            result_of(job_of(row, version), Answer(status=status), now=NOW + started * SECOND)
            for row, (status, version, started) in zip(
                WebhookDelivery.objects.order_by("sequence"), answers, strict=False
            )
        ]
        with rolled_back():
            counted = reference.record(batch, NOW)
            expected = stored()

        assert results.record(batch, now=NOW) == counted

        assert stored() == expected
