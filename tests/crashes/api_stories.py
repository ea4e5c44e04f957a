"""Every operation of the API that changes something, by its method and path."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from common.clock import text_of, utc_now
from config import api_v1
from funding.models import SourceVerification
from payments.services import recipients
from tenants.actors import SYSTEM
from tests.builders import make_linked_source, make_source, publish
from tests.crashes.every_call import Story
from tests.crashes.world import Act, World
from tests.payments.builders import account
from webhooks.models import WebhookDelivery

BANK_ACCOUNT = {
    "accountNumber": "9876543",
    "routingNumber": "021000021",
    "accountHolderName": "Paid Inc",
    "accountHolderType": "business",
    "accountType": "checking",
}
WRITES = ("post", "patch", "delete")


def topup(world: World) -> Act:
    world.low()
    return world.post("balance/topup", {"amount": 5_000, "fundingSourceId": world.source.pk})


def configure(world: World) -> Act:
    body = {
        "enabled": True,
        "lowBalanceThreshold": 500,
        "fundingAmount": 700,
        "fundingMethod": "ach_debit",
        "fundingSourceId": world.source.pk,
    }
    return world.post("balance/auto-funding/config", body)


def link(world: World) -> Act:
    body = {
        "linkProcessorToken": "processor-sandbox-acme",
        "linkAccountId": "acc_1",
        "accountHolderName": "Acme Inc",
    }
    return world.post("balance/funding-sources", body)


def enter(world: World) -> Act:
    return world.post("balance/funding-sources/manual", BANK_ACCOUNT)


def remove_source(world: World) -> Act:
    world.low()
    return world.send("DELETE", f"balance/funding-sources/{world.source.pk}")


def make_default(world: World) -> Act:
    second = make_linked_source(world.tenant) if world.source else None
    assert second is not None
    return world.post(f"balance/funding-sources/{second.pk}/default")


def verify(world: World) -> Act:
    source = make_source(world.tenant, account_number="50001", now=utc_now())
    World.finish_all()
    first, second = SourceVerification.objects.get(source=source).amounts
    body = {"amounts": [first, second]}
    return world.post(f"balance/funding-sources/{source.pk}/verify", body)


def cancel_funding(world: World) -> Act:
    funding = world.funding()
    world.low()
    return world.post(f"funding/transactions/{funding.pk}/cancel")


def pay(world: World) -> Act:
    world.money()
    world.low()
    return world.post("payments", {"amount": 5_000, "method": "rtp", "recipient": BANK_ACCOUNT})


def cancel_payment(world: World) -> Act:
    world.money()
    payment = world.payment()
    world.low()
    return world.post(f"payments/{payment.pk}/cancel")


def save_recipient(world: World) -> Act:
    return world.post("recipients", BANK_ACCOUNT)


def remove_recipient(world: World) -> Act:
    kept = recipients.save(
        tenant_id=world.tenant.pk, details=account(), actor=SYSTEM, now=utc_now()
    )
    return world.send("DELETE", f"recipients/{kept.pk}")


def process_due(world: World) -> Act:
    world.funding()  # alone: of two movements, either may be first
    return world.post("sandbox/process-due")


def step_funding(world: World) -> Act:
    funding = world.funding()
    return world.post(f"sandbox/funding-transactions/{funding.pk}/advance")


def step_payment(world: World) -> Act:
    world.money()
    payment = world.payment()
    return world.post(f"sandbox/payments/{payment.pk}/advance")


def register(world: World) -> Act:
    return world.post("webhooks", {"url": "https://93.184.215.14/new", "events": ["*"]})


def change(world: World) -> Act:
    return world.send("PATCH", f"webhooks/{world.endpoint.pk}", {"events": ["payment.completed"]})


def remove_endpoint(world: World) -> Act:
    return world.send("DELETE", f"webhooks/{world.endpoint.pk}")


def rotate_secret(world: World) -> Act:
    return world.post(f"webhooks/{world.endpoint.pk}/rotate-secret", {})


def ping(world: World) -> Act:
    return world.post(f"webhooks/{world.endpoint.pk}/test")


def replay(world: World) -> Act:
    failed_delivery(world)
    now, hour = utc_now(), timedelta(hours=1)
    window = {"from": text_of(now - hour), "to": text_of(now + hour)}
    return world.post(f"webhooks/{world.endpoint.pk}/replay", window)


def failed_delivery(world: World) -> WebhookDelivery:
    """Of an event that its endpoint never took."""
    event = publish(world.tenant, now=utc_now())
    deliveries = WebhookDelivery.objects.filter(event_id=event)
    deliveries.update(status="failed", next_attempt_at=None, failures=11)
    return deliveries.get()


def resend(world: World) -> Act:
    return world.post(f"webhooks/deliveries/{failed_delivery(world).pk}/resend")


BEGINNINGS: dict[str, Callable[[World], Act]] = {
    "POST balance/topup": topup,
    "POST balance/auto-funding/config": configure,
    "POST balance/funding-sources": link,
    "POST balance/funding-sources/manual": enter,
    "DELETE balance/funding-sources/<str:source_id>": remove_source,
    "POST balance/funding-sources/<str:source_id>/default": make_default,
    "POST balance/funding-sources/<str:source_id>/verify": verify,
    "POST funding/transactions/<str:funding_id>/cancel": cancel_funding,
    "POST payments": pay,
    "POST payments/<str:payment_id>/cancel": cancel_payment,
    "POST recipients": save_recipient,
    "DELETE recipients/<str:recipient_id>": remove_recipient,
    "POST sandbox/process-due": process_due,
    "POST sandbox/funding-transactions/<str:funding_id>/<str:name>": step_funding,
    "POST sandbox/payments/<str:payment_id>/<str:name>": step_payment,
    "POST webhooks": register,
    "PATCH webhooks/<str:endpoint_id>": change,
    "DELETE webhooks/<str:endpoint_id>": remove_endpoint,
    "POST webhooks/<str:endpoint_id>/rotate-secret": rotate_secret,
    "POST webhooks/<str:endpoint_id>/test": ping,
    "POST webhooks/<str:endpoint_id>/replay": replay,
    "POST webhooks/deliveries/<str:delivery_id>/resend": resend,
}
# They hand over to the bank and apply what it says, in a transaction for each step.
IN_STEPS = {name for name in BEGINNINGS if name.startswith("POST sandbox/")}

# A test call that died keeps others waiting for twenty seconds. A sandbox's bank that took the step
# before the answer was lost refuses to take it again: 409, read the object.
MAY_WAIT = {
    "POST webhooks/<str:endpoint_id>/test",
    "POST sandbox/funding-transactions/<str:funding_id>/<str:name>",
    "POST sandbox/payments/<str:payment_id>/<str:name>",
}

STORIES = [
    Story(name, begin, takes_key=True, in_steps=name in IN_STEPS, may_wait=name in MAY_WAIT)
    for name, begin in BEGINNINGS.items()
]


def operations() -> set[str]:
    """Every operation that may change something, as the routes have it."""
    return {
        f"{method.upper()} {route.pattern}"
        for route in api_v1.urlpatterns
        for method in getattr(route.callback, "actions", ())
        if method in WRITES
    }
