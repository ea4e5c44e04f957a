"""Top-ups by the thousand, due at once: one of each tenant that the product made, and copies of it
with ids of the product's own.

As a program it is the hand of another checkout: started there, with that one's Python, it makes the
tenants and answers each line (a number of top-ups) when so many are committed.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import django
from django.db import transaction
from django.db.models import Model

Copied = TypeVar("Copied", bound=Model)
INSERTED_AT_ONCE = 500
AMOUNT = 1_234


class Template(NamedTuple):
    """A top-up as the product made it: its row, its one line of history, its one event."""

    funding: Any
    history: Any
    event: Any


@dataclass(frozen=True)
class Backlog:
    """What may be copied; tenants take turns."""

    templates: Sequence[Template]

    def add(self, count: int, *, network: str = "") -> None:
        """Commit `count` top-ups that are due, and wake the workers as each of them would.

        `network`: another one than the product chose.
        """
        from common.clock import utc_now
        from common.engine.wakeups import enqueue_on_commit

        now = utc_now()
        made = [self._copy(number, network, now) for number in range(count)]
        with transaction.atomic():
            for rows in zip(*made, strict=True):
                manager: Any = type(rows[0])._default_manager
                manager.bulk_create(rows, batch_size=INSERTED_AT_ONCE)
            _expect([each.funding for each in made])
            enqueue_on_commit("funding.submit_due")

    def _copy(self, number: int, network: str, now: Any) -> Template:
        of = self.templates[number % len(self.templates)]
        funding = _copy(of.funding, next_attempt_at=now, network=network or of.funding.network)
        history = _copy(of.history, funding_id=funding.pk)
        event = _copy(of.event, payment_id=funding.pk)
        event.body = (
            bytes(of.event.body)
            .replace(of.event.pk.encode(), event.pk.encode())
            .replace(of.funding.pk.encode(), funding.pk.encode())
        )
        return Template(funding, history, event)


def prepare(tenants: int, url: str | None) -> tuple[Backlog, list[Any]]:
    """Tenants whose top-ups are told to `url` or to nobody, and those tenants as
    `seeding.Customer`.

    The first top-ups come before the endpoints, so that a copy has no delivery of its own to send.
    """
    from benchmarks import deliveries, seeding

    customers = [seeding.customer() for _ in range(tenants)]
    templates = [_template(customer) for customer in customers]
    if url is not None:
        for customer in customers:
            deliveries.endpoint(customer.tenant, url)
    return Backlog(templates), customers


def _template(customer: Any) -> Template:
    from common.clock import utc_now
    from funding.models import FundingEvent
    from funding.services import topups
    from funding.services.lifecycle import TopUp
    from tenants.actors import SYSTEM
    from webhooks.models import WebhookEvent

    made = topups.request(
        tenant_id=customer.tenant.pk,
        mode=customer.tenant.mode,
        topup=TopUp(source_id=customer.source.pk, amount=AMOUNT, description="Benchmark"),
        actor=SYSTEM,
        now=utc_now(),
    )
    return Template(
        made, FundingEvent.objects.get(funding=made), WebhookEvent.objects.get(payment_id=made.pk)
    )


def _copy(row: Copied, **changes: Any) -> Copied:
    columns = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
    fresh = {row._meta.pk.attname: row._meta.pk.get_default()}
    return type(row)(**columns | fresh | changes)


def _expect(fundings: Sequence[Any]) -> None:
    """Count them as pending, as each top-up does. Last in the transaction, by tenant."""
    from balance import services as ledger

    expected: Counter[str] = Counter()
    for funding in fundings:
        expected[funding.tenant_id] += funding.amount
    for tenant_id in sorted(expected):
        ledger.change_pending(tenant_id=tenant_id, delta=expected[tenant_id])


def main(tenants: int, url: str) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    backlog, _customers = prepare(tenants, url)
    _answer("ready")
    for line in sys.stdin:
        backlog.add(int(line))
        _answer("added")


def _answer(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
