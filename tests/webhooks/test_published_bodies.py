"""Bodies of events against the document, both ways: what is sent is described, and what is
described is sent."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from funding.models import FundingMethod
from funding.services import auto_funding, sources, topups
from payments.models import PaymentMethod
from payments.services import orders
from tenants.actors import SYSTEM
from tests import document
from tests.api.test_openapi import closed
from tests.builders import NOW, make_auto_funding, make_endpoint, make_source, make_tenant
from tests.funding.builders import run_due as run_funding
from tests.funding.builders import top_up
from tests.payments.builders import fund, pay, run_due
from webhooks.models import WebhookEvent
from webhooks.services import pings

LATER = NOW + timedelta(days=3)


def content_of(name):
    item = document.load()["webhooks"][name]["post"]
    return item["requestBody"]["content"]["application/json"]


def told_in():
    """Money in: it completes, is canceled, comes back early and late, and is asked about."""
    acme = make_tenant()
    usual = make_source(acme)
    top_up(acme, source=usual)
    for number in ("10001", "10002", "20001"):  # early, with an account that has ended, late
        top_up(acme, source=make_source(acme, account_number=number))
    canceled = top_up(acme, source=usual)
    topups.cancel(tenant_id=acme.pk, funding_id=canceled.pk, actor=SYSTEM, now=NOW)
    top_up(acme, source=make_source(acme, account_number="41004"), method=FundingMethod.RTP)
    asking = make_tenant(name="Asking")
    make_source(asking)
    make_auto_funding(
        asking, confirmation_threshold=100, confirmation_emails=["boss@asking.example"]
    )
    auto_funding.evaluate(tenant_id=asking.pk, now=NOW)
    run_funding(rounds=8)
    run_funding(now=LATER, rounds=4)
    sources.remove(tenant_id=acme.pk, source_id=usual.pk, actor=SYSTEM, now=LATER)


def told_out():
    """Money that goes out: at once or after waiting, canceled, refused, returned early and late."""
    acme = make_tenant(name="Payer")
    waiting = pay(acme, 1_000, wait=True)
    orders.cancel(tenant_id=acme.pk, payment_id=waiting.pk, actor=SYSTEM, now=NOW)
    fund(acme, 1_000_000)
    for number in ("10001", "20001", "000123456789"):
        pay(acme, to=number)
    pay(acme, to="41004", method=PaymentMethod.RTP)
    run_due(rounds=8)
    run_due(now=LATER, rounds=4)


def told_of_auto_funding():
    """The month's limit is used up; another tenant's debit comes back."""
    capped, stopped = make_tenant(name="Capped"), make_tenant(name="Stopped")
    make_source(capped)
    make_auto_funding(capped, monthly_limit=100)
    make_source(stopped, account_number="10001")
    make_auto_funding(stopped)
    for tenant in (capped, stopped):
        auto_funding.evaluate(tenant_id=tenant.pk, now=NOW)
    run_funding(rounds=4)


def told_to(receiver):
    """What a test call sends: the only body that is not stored."""
    acme = make_tenant(name="Trying")
    endpoint = make_endpoint(acme, url=receiver.url())
    pings.ping(tenant_id=acme.pk, endpoint_id=endpoint.pk, mode=acme.mode, now=NOW)
    return [request.body for request in receiver.requests]


@pytest.fixture
def told(db, receiver):
    """Every body that the product wrote, by the type of its event."""
    told_in()
    told_out()
    told_of_auto_funding()
    stored = [bytes(event.body) for event in WebhookEvent.objects.order_by("pk")]
    bodies: dict[str, list[dict[str, Any]]] = {}
    for text in stored + told_to(receiver):
        body = json.loads(text)
        bodies.setdefault(body["type"], []).append(body)
    return bodies


def moves(name, bodies):
    """(direction, status) of each body of a payment event."""
    return {(body["data"]["direction"], body["data"]["status"]) for body in bodies}


def described_moves(name):
    properties = document.resolve(content_of(name)["schema"])["properties"]
    return {
        (data["properties"]["direction"]["const"], status)
        for data in properties["data"]["oneOf"]
        for status in data["properties"]["status"]["enum"]
    }


def shape(data):
    """What an example must have in common with a body that was sent."""
    return {
        name: value.partition("_")[0] if name.endswith("Id") else type(value).__name__
        for name, value in data.items()
    } | {name: data[name] for name in ("direction", "status", "sequence", "reason") if name in data}


def objects_in(schema):
    """Every object with members that a schema describes, at any depth."""
    schema = document.resolve(schema) if isinstance(schema, dict) else schema
    inner = schema.values() if isinstance(schema, dict) else schema
    if isinstance(schema, dict) and "properties" in schema:
        yield schema
    for item in inner:
        if isinstance(item, (dict, list)):
            yield from objects_in(item)


@pytest.mark.parametrize("name", document.load()["webhooks"])
def test_receivers_are_told_to_expect_new_members(name):
    described = list(objects_in(content_of(name)["schema"]))

    assert len(described) >= 2  # the body and its data
    assert [item for item in described if "additionalProperties" in item] == []


def test_everything_sent_is_described_and_everything_described_is_sent(told):
    documented = document.load()["webhooks"]
    assert told.keys() == documented.keys()
    for name, bodies in told.items():
        content = content_of(name)
        schema = closed(content["schema"])
        assert [document.faults(schema, body) for body in bodies] == [[]] * len(bodies)
        if name.startswith("payment."):
            assert moves(name, bodies) == described_moves(name), name
        sent = [shape(body["data"]) for body in bodies]
        for example in document.examples(content).values():
            assert document.faults(schema, example) == []
            assert shape(example["data"]) in sent, name
