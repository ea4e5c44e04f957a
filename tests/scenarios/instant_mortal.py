"""A worker of instant rails as a process that dies at one of its steps.

Every call to the operator is two steps for its request and two for its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.client import HTTPSConnection
from typing import Any

from django.core.cache import cache
from django.db.models import F

from common.clock import utc_now
from common.leases import Leased
from funding.models import FundingTransaction
from funding.transfer import FUNDING
from networks import registry
from networks.instant import connecting, sending, settling, taking
from networks.instant.models import InstantLine, Message
from networks.instant.network import InstantNetwork
from networks.instant.receiving import listening
from payments.models import Payment
from payments.transfer import PAYMENTS
from tests.networks.instant.builders import RAIL
from tests.scenarios import mortal
from tests.scenarios.mortal import NEVER, Death, Ended, Point
from transfers import submission
from transfers.inbox import messages
from transfers.inbox.models import InboundEvent

# Of everything that a worker does within seconds: money for a request that is answered at once
# comes in the second round, what became of it in the third.
ROUNDS = 3
QUEUES: tuple[type[Leased], ...] = (FundingTransaction, Payment, Message, InstantLine)


def run(*, dies_at: Point = NEVER) -> Ended:
    """All sweeps some times, in a process of its own."""
    connecting.close()  # the fork opens its own
    return mortal.run(_live, dies_at=dies_at)


def time_passes(seconds: float) -> None:
    """What a dead worker has claimed is free, and what nobody has answered is due."""
    by = timedelta(seconds=seconds)
    for queue in QUEUES:
        queue._default_manager.filter(next_attempt_at__isnull=False).update(
            next_attempt_at=F("next_attempt_at") - by, leased_until=F("leased_until") - by
        )
    waiting = InboundEvent.objects.filter(next_attempt_at__isnull=False)
    waiting.update(next_attempt_at=F("next_attempt_at") - by)
    cache.delete_many([f"collecting:{RAIL}:{prefix}" for prefix in ("ftx_", "pay_")])


def _live(death: Death) -> None:
    registry.connect(InstantNetwork(RAIL), modes=["sandbox"])
    with _counted_calls(death):
        for _ in range(ROUNDS):
            for work, do in _WORKS.items():
                death.begin(work)
                do()


def _submit() -> None:
    submission.submit_due(FUNDING, now=utc_now())
    submission.submit_due(PAYMENTS, now=utc_now())


def _send() -> None:
    taking.release_waiting(RAIL, now=utc_now())
    sending.send_due(RAIL, now=utc_now())


def _apply() -> None:
    settling.finish_pending(now=utc_now())
    messages.process(FUNDING, now=utc_now())
    messages.process(PAYMENTS, now=utc_now())


_WORKS: dict[str, Callable[[], Any]] = {
    "submit": _submit,
    "send": _send,
    "listen": lambda: listening.listen(RAIL, seconds=15, now=utc_now()),
    "apply": _apply,
}


@contextmanager
def _counted_calls(death: Death) -> Iterator[None]:
    """Until the process ends."""
    for name in ("request", "getresponse"):
        setattr(HTTPSConnection, name, _counted(death, getattr(HTTPSConnection, name)))
    yield


def _counted(death: Death, real: Callable[..., Any]) -> Callable[..., Any]:
    def call(line: HTTPSConnection, *given: Any, **named: Any) -> Any:
        return death.around(lambda: real(line, *given, **named))

    return call
