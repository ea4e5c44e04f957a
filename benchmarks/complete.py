"""From accepted to completed, over the whole product: web, worker, beat, dispatcher, sandbox bank.

Accepting and completing at once, draining a backlog (in turns with another checkout, if one is
given), settlements, and how far more workers get with a network that takes its time.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, cast

from balance import invariants
from benchmarks import (
    api,
    backlog,
    database,
    deliveries,
    load,
    processes,
    seeding,
    slow_bank,
    stack,
)
from benchmarks.backlog import Backlog
from benchmarks.deliveries import Receiver
from benchmarks.errors import CannotMeasure
from benchmarks.figures import Figure, Section, ratios
from benchmarks.load import Turns
from benchmarks.options import Options
from benchmarks.stack import Checkout, Stack
from common.clock import utc_now

TENANTS = 100
CONNECTIONS = 8
LOOK_SECONDS = 0.05
# Of a backlog that drains too slowly to be waited for.
OTHER_SECONDS_MAX = 12.0
SHIPPED_WORKERS = 2
# Tenants whose books are audited after what is handed to the slow network, which completes nothing.
AUDITED = 3

# All that is in the way of an empty ledger.
_TABLES = (
    *("balance_transaction", "balance", "balance_checkpoint", "balance_adjustment"),
    *("balance_operator_line", "balance_operator_day"),
    *("funding_fundingtransaction", "funding_fundingevent", "network_inbox_inboundevent"),
    *("sandbox_bank_sandboxinstruction", "sandbox_bank_sandboxevent"),
    *deliveries.TABLES,
)
# Each completed funding is one posting, and nothing else is posted here.
_COMPLETED = "SELECT coalesce(sum(sequence), 0) FROM balance"
_OF_STATUS = "SELECT count(*) FROM funding_fundingtransaction WHERE status = %(status)s"
_TO_SEND = """
SELECT count(*) FROM funding_fundingtransaction
WHERE next_attempt_at IS NOT NULL AND held_at IS NULL AND parked_for = '' AND network = %(network)s
"""
# The bank keeps its settlements to itself until it is told to report them.
_WITHHOLD = """
CREATE FUNCTION bench_withhold() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NEW.due_at := NEW.due_at + interval '1 day'; RETURN NEW; END $$;
CREATE TRIGGER bench_withhold BEFORE INSERT ON sandbox_bank_sandboxevent
    FOR EACH ROW WHEN (NEW.kind = 'final') EXECUTE FUNCTION bench_withhold()
"""
_REPORT = """
UPDATE sandbox_bank_sandboxevent SET due_at = now() WHERE due_at > now() AND NOT acknowledged
"""
_STOP_WITHHOLDING = "DROP FUNCTION bench_withhold() CASCADE"


@dataclass(frozen=True)
class Sizes:
    """How much, and for how many seconds."""

    samples: int
    warm: float
    window: float
    backlog: int
    settlements: int
    due: int
    slice: float


@dataclass(frozen=True)
class Side:
    """A checkout under measurement: how to give it top-ups, and how much it has completed."""

    checkout: Checkout
    add: Callable[[int], object]
    completed: Callable[[], int]


def measure(options: Options) -> Section:
    """Raises CannotMeasure."""
    seeding.require_own_database()
    full = Sizes(options.pairs, 4, 5, 5_000, 10_000, 50_000, 2)
    sizes = Sizes(1, 1, 2, 200, 200, 12_000, 0.5) if options.quick else full
    _start_over()
    with deliveries.receiver() as receiver:
        work, customers = backlog.prepare(TENANTS, receiver.url("fast"))
        topups = Turns([api.requests(customer)["topup"] for customer in customers])
        figures = []
        for workers in (SHIPPED_WORKERS,) if options.quick else (SHIPPED_WORKERS, 1, 4):
            figures += _at_once(topups, workers, sizes, options)
        figures += _draining(work, receiver, sizes, options)
        figures += _settlements(work, receiver, sizes, options)
    _require_clean_ledger(options)
    figures += _slow_network(sizes, options)
    _start_over()
    return Section("Complete", _text(sizes, options), figures)


_TEXT = """gunicorn, Celery worker (2 processes unless said) and beat, dispatcher, sandbox bank
without pauses, one endpoint for each of {tenants} tenants on a fast local receiver; real ids. At
once: top-ups over HTTP on {connections} connections, {samples} windows of {window:g} s after
{warm:g} s. Backlogs are copies of a top-up that the product made, committed at once while
everything runs; the time counts from that commit, the rate of draining from the first completion
on. Settlements: the bank reports all of them at once, on what is in transit. Slow network: every
call takes 50 ms and does nothing else; tenants without endpoints, {due:,} due before each pair,
slices of {slice:g} s once work has begun. Fundings are counted in the database, webhooks where they
arrive; the full audit finds nothing after the settlements, nor at the end with three tenants.
{against}"""
_AGAINST = """The other checkout has a new database on the same servers and ran in turns with this
one; its rate is that of the first {seconds:g} s."""


def _text(sizes: Sizes, options: Options) -> str:
    return _TEXT.format(
        tenants=TENANTS,
        connections=CONNECTIONS,
        samples=sizes.samples,
        window=sizes.window,
        warm=sizes.warm,
        due=sizes.due,
        slice=sizes.slice,
        against=_AGAINST.format(seconds=OTHER_SECONDS_MAX) if options.against else "",
    )


# --- Accepting and completing at once


def _at_once(topups: Turns, workers: int, sizes: Sizes, options: Options) -> list[Figure]:
    accepted: list[float] = []
    completed: list[float] = []
    asked = _count("completed") + _waiting()
    with stack.running(workers=workers) as product:
        port = product.port
        asked += _topups(port, topups, sizes.warm)
        cpu = product.cpu_seconds()
        begun = time.perf_counter()
        for _ in range(sizes.samples):
            before, at = database.scalar(_COMPLETED), time.perf_counter()
            done = _topups(port, topups, sizes.window)
            seconds = time.perf_counter() - at
            asked += done
            accepted.append(done / seconds)
            completed.append((database.scalar(_COMPLETED) - before) / seconds)
            options.tell(
                f"{workers}: {accepted[-1]:.0f}/s accepted, {completed[-1]:.0f}/s completed"
            )
        spent = {name: value - cpu[name] for name, value in product.cpu_seconds().items()}
        seconds = time.perf_counter() - begun
        _await_completed(asked, seconds=120)
        deliveries.await_empty_queue(seconds=60)
    if (found := _count("completed")) != asked:
        raise CannotMeasure(f"{found} fundings are completed, {asked} were asked for")
    name = f"{workers} worker{'s' if workers > 1 else ''}"
    _tell_cpu(options, name, spent, seconds, sum(accepted) * sizes.window)
    aim = 0.9 if workers == SHIPPED_WORKERS else None
    return [
        Figure(
            name=f"{name}: completed/s while accepting ÷ accepted/s",
            values=ratios([value or 1e-9 for value in completed], accepted),
            aim=aim,
        ),
        Figure(name=f"{name}: accepted/s", values=accepted),
        Figure(name=f"{name}: completed/s meanwhile", values=completed),
    ]


def _topups(port: int, topups: Turns, seconds: float) -> int:
    return len(load.run(port, topups, connections=CONNECTIONS, seconds=seconds).times)


# --- Draining


def _draining(work: Backlog, receiver: Receiver, sizes: Sizes, options: Options) -> list[Figure]:
    ours = Side(stack.HERE, work.add, lambda: database.scalar(_COMPLETED))
    seconds: list[float] = []
    rates: list[float] = []
    others: list[float] = []
    with _other_side(receiver, options) as other:
        for _ in range(sizes.samples):
            rate, whole = _drain(ours, receiver, sizes.backlog, options)
            rates.append(rate)
            seconds.append(whole)
            if other:
                others.append(_drain_for_a_while(other, sizes.backlog))
            beside = f", the other {others[-1]:.0f}/s" if others else ""
            options.tell(f"draining: {rate:.0f}/s, all of it {whole:.1f} s{beside}")
    figures = [
        Figure(
            name=f"{sizes.backlog:,} reserved fundings to completed, their webhooks sent",
            unit="s",
            values=seconds,
            aim=15,
            at_most=True,
        ),
        Figure(name="draining: completed/s", values=rates),
    ]
    if others:
        figures += [
            Figure(name="draining ÷ the other checkout", values=ratios(rates, others), aim=8),
            Figure(name="draining, the other checkout: completed/s", values=others),
        ]
    return figures


def _drain(side: Side, receiver: Receiver, count: int, options: Options) -> tuple[float, float]:
    """Completions per second, and seconds until all are completed and told."""
    with stack.running(side.checkout) as product:
        receiver.forget()
        before = side.completed()
        cpu = product.cpu_seconds()
        side.add(count)
        begun = time.perf_counter()
        rate = _rate(side, before + count, seconds=120)
        deliveries.await_empty_queue(seconds=60)
        seconds = time.perf_counter() - begun
        spent = {name: value - cpu[name] for name, value in product.cpu_seconds().items()}
    _tell_cpu(options, "draining", spent, seconds, count)
    if side.completed() < before + count:
        raise CannotMeasure(f"{side.completed() - before} of {count} were completed")
    if (arrived := len(receiver.arrivals())) < 2 * count:  # processing, completed
        raise CannotMeasure(f"{arrived} webhooks of {count} fundings arrived")
    return rate, seconds


def _drain_for_a_while(side: Side, count: int) -> float:
    with stack.running(side.checkout):
        before = side.completed()
        side.add(count)
        return _rate(side, before + count, seconds=OTHER_SECONDS_MAX)


def _rate(side: Side, target: int, *, seconds: float) -> float:
    """Completions per second, from the last look that saw none, until there are so many or time is
    up. Raises CannotMeasure where there is none."""
    first = found = side.completed()
    since = at = time.perf_counter()
    end = since + seconds
    while found < target and at < end:
        time.sleep(LOOK_SECONDS)
        if found == first:
            since = at
        found, at = side.completed(), time.perf_counter()
    if found == first:
        raise CannotMeasure(f"nothing was completed within {seconds:.0f} s")
    return (found - first) / (at - since)


@contextmanager
def _other_side(receiver: Receiver, options: Options) -> Iterator[Side | None]:
    if options.against is None:
        yield None
        return
    checkout = stack.other(options.against)
    program = processes.ROOT / "benchmarks" / "backlog.py"
    hand = subprocess.Popen(  # noqa: S603  # our own command, no shell
        # -P: what it imports is the other checkout's.
        [checkout.python, "-P", str(program), str(TENANTS), receiver.url("other")],
        cwd=checkout.folder,
        env=stack.variables(checkout) | {"PYTHONPATH": str(checkout.folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        _expect(hand, "ready")

        def add(count: int) -> None:
            stream = cast("IO[str]", hand.stdin)
            stream.write(f"{count}\n")
            stream.flush()
            _expect(hand, "added")

        yield Side(checkout, add, lambda: database.scalar_of(stack.OTHER_DATABASE, _COMPLETED))
    finally:
        hand.kill()
        hand.wait()


def _expect(hand: subprocess.Popen[str], word: str) -> None:
    if (said := cast("IO[str]", hand.stdout).readline().strip()) != word:
        raise CannotMeasure(f"the other checkout said {said!r}, not {word!r}")


# --- Settlements


def _settlements(work: Backlog, receiver: Receiver, sizes: Sizes, options: Options) -> list[Figure]:
    took: list[float] = []
    count = sizes.settlements
    database.execute(_WITHHOLD)
    try:
        with stack.running() as product:
            for _ in range(sizes.samples):
                work.add(count)
                _await(lambda: _count("in_transit") >= count, seconds=120)
                deliveries.await_empty_queue(seconds=120)
                took.append(_settle(count, product, options))
                options.tell(f"{count} settlements: {took[-1]:.1f} s")
                deliveries.await_empty_queue(seconds=120)
    finally:
        database.execute(_STOP_WITHHOLDING)
    name = f"{count:,} settlement messages applied"
    return [Figure(name=name, unit="s", values=took, aim=12, at_most=True)]


def _settle(count: int, product: Stack, options: Options) -> float:
    target = database.scalar(_COMPLETED) + count
    cpu = product.cpu_seconds()
    begun = time.perf_counter()
    database.execute(_REPORT)
    _await_completed(target, seconds=120)
    seconds = time.perf_counter() - begun
    spent = {name: value - cpu[name] for name, value in product.cpu_seconds().items()}
    _tell_cpu(options, "settling", spent, seconds, count)
    return seconds


# --- A network that takes its time


def _slow_network(sizes: Sizes, options: Options) -> list[Figure]:
    """Nobody is told of it, so that workers have both cores."""
    work, customers = backlog.prepare(TENANTS, None)
    one: list[float] = []
    four: list[float] = []
    for number in range(sizes.samples):
        work.add(sizes.due - _to_send(), network=slow_bank.NAME)
        turns = [(1, one), (4, four)]
        for workers, rates in turns if number % 2 == 0 else reversed(turns):
            rates.append(_handed_over(workers, sizes))
        options.tell(f"slow network: {one[-1]:.0f}/s with one worker, {four[-1]:.0f}/s with four")
    for customer in customers[:AUDITED]:
        _require_clean_ledger(options, customer.tenant.pk)
    return [
        Figure(name="slow network: four workers ÷ one", values=ratios(four, one), aim=3),
        Figure(name="slow network, one worker: handed over/s", values=one),
        Figure(name="slow network, four workers: handed over/s", values=four),
    ]


def _handed_over(workers: int, sizes: Sizes) -> float:
    """Per second of a slice, which begins when each worker has had its first."""
    before = _to_send()
    with stack.running(workers=workers, application="benchmarks.slow_bank"):
        _await(lambda: _to_send() < before, seconds=30)
        time.sleep(sizes.slice / 4)
        first, since = _to_send(), time.perf_counter()
        time.sleep(sizes.slice)
        last, at = _to_send(), time.perf_counter()
    if last == 0:
        raise CannotMeasure("fewer were due than a slice takes")
    return (first - last) / (at - since)


def _to_send() -> int:
    return database.scalar(_TO_SEND, network=slow_bank.NAME)


# --- What all of them ask


def _count(status: str) -> int:
    return database.scalar(_OF_STATUS, status=status)


def _waiting() -> int:
    return sum(map(_count, ("reserved", "pending", "in_transit")))


def _await_completed(target: int, *, seconds: float) -> None:
    _await(lambda: database.scalar(_COMPLETED) >= target, seconds=seconds)


def _await(is_so: Callable[[], bool], *, seconds: float) -> None:
    end = time.perf_counter() + seconds
    while not is_so():
        if time.perf_counter() > end:
            raise CannotMeasure(f"it is not done after {seconds:.0f} s")
        time.sleep(LOOK_SECONDS)


def _tell_cpu(
    options: Options, name: str, spent: Mapping[str, float], seconds: float, count: float
) -> None:
    each = ", ".join(f"{part} {value / count * 1000:.2f}" for part, value in spent.items())
    busy = sum(spent.values()) / seconds
    options.tell(f"{name}: CPU ms of each: {each}; {busy:.2f} cores busy")


def _require_clean_ledger(options: Options, tenant_id: str | None = None) -> None:
    """Of all tenants or of one, in full. Raises CannotMeasure."""
    begun = time.perf_counter()
    report = invariants.check(now=utc_now(), tenant_id=tenant_id, full=True)
    options.tell(f"the full audit took {time.perf_counter() - begun:.1f} s")
    if not report.ok:
        raise CannotMeasure(f"the ledger is not clean: {report.findings[0]}")


def _start_over() -> None:
    database.empty(*_TABLES, and_references=True)
