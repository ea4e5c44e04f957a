"""`/metrics` for Prometheus: Django's own figures, and those that somebody on call is woken for."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from datetime import datetime

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound
from django.views.decorators.http import require_safe
from django_prometheus.exports import ExportToDjangoView
from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from balance import figures, rolling
from common import queues
from common.clock import utc_now
from networks.ach import figures as ach
from networks.ach.inbound import waiting
from networks.instant import figures as instant
from networks.instant import participants, position
from reconciliation import due, failing, suspense, unproven
from seals import figures as seals
from solvency import coverage
from tenants.services import access, alarms, switches
from transfers.inbox import reviews
from webhooks.dispatcher import heartbeats


class QueueAges(Collector):
    """For how many seconds the oldest due row of each queue waits; one indexed query per queue.

    Alert on this: it grows whether workers, beat or the broker stop.
    """

    def collect(self) -> Iterator[Metric]:
        now = utc_now()
        ages = GaugeMetricFamily(
            "ballast_oldest_due_seconds", "Age of the oldest due row", labels=["queue"]
        )
        for queue in queues.states(now=now):
            ages.add_metric([queue.name], queue.age(now))
        yield ages


class Alarms(Collector):
    """What a person must look at, one small query each (docs/operations.md, What to watch)."""

    def collect(self) -> Iterator[Metric]:
        now = utc_now()
        yield from _ledger(now)
        yield from _seals(now)
        yield from _to_banks(now)
        yield from _days(now)
        yield from _suspense(now)
        yield from _failing(now)
        yield from _coverage()
        from_banks = waiting.count(now=now)
        at_lines, in_review = waiting.at_lines(), reviews.waiting().count()
        on_instant = instant.waiting()
        yield from _positions()
        for name, words, value in (
            ("inbound_review", "Messages of networks that wait for staff", in_review),
            ("ach_review", "Files and records of banks that wait", from_banks.in_review),
            ("ach_overdue", "Records of banks past their last day", from_banks.overdue),
            ("ach_stuck", "Files to banks that a person has to let go on", at_lines.files),
            ("ach_lines_in_trouble", "Rails whose files are not fetched", at_lines.lines),
            ("instant_review", "Conversations on instant rails for a person", on_instant.in_review),
            ("instant_faulty", "Messages with a fault, for a person", on_instant.faulty),
            ("instant_lines_in_trouble", "Instant networks that are not heard", on_instant.lines),
            (
                "superusers_seen",
                "Superusers who signed in during the last day",
                alarms.superusers_seen(now=now),
            ),
            (
                "access_emergencies",
                "Access that two people gave without its delay during the last day",
                access.emergencies(now=now),
            ),
            (
                "unproven_days",
                "Closed days that should have a proof of funds by now",
                len(unproven.late_days(now=now)),
            ),
            ("switches_engaged", "What staff have stopped", switches.engaged_now().count()),
            (
                "dispatcher_alive",
                "1 while a webhook dispatcher is at work",
                heartbeats.is_dispatcher_alive(now=now),
            ),
        ):
            yield GaugeMetricFamily(f"ballast_{name}", words, value=float(value))


def _positions() -> Iterator[Metric]:
    """Money at instant networks, and how many banks each network's list names."""
    free = GaugeMetricFamily(
        "ballast_instant_position_cents",
        "What may still be paid of the money at an instant network",
        labels=["rail"],
    )
    short = GaugeMetricFamily(
        "ballast_instant_position_low",
        "1 while payments wait for it, or it is below what its terms say",
        labels=["rail"],
    )
    for each in position.standings():
        if each.is_kept:
            free.add_metric([each.rail], each.free)
            short.add_metric([each.rail], each.is_low)
    banks = GaugeMetricFamily(
        "ballast_instant_participants",
        "Banks on an instant network's list; none: every bank is tried",
        labels=["network"],
    )
    for network, count in participants.counts().items():
        banks.add_metric([network], count)
    yield from (free, short, banks)


def _ledger(now: datetime) -> Iterator[Metric]:
    """Yields nothing before the first check has ended: alert on absence, too."""
    check = figures.last_verdict()
    if check is None or check.finished_at is None:
        return
    age = (now - check.finished_at).total_seconds()
    yield GaugeMetricFamily(
        "ballast_ledger_findings", "Findings of the last ledger check", value=check.findings
    )
    yield GaugeMetricFamily(
        "ballast_ledger_check_age_seconds", "Since the last ledger check ended", value=age
    )
    oldest = rolling.oldest_proof() or now
    yield GaugeMetricFamily(
        "ballast_ledger_full_check_age_seconds",
        "Since when every tenant was proven from its first row",
        value=(now - oldest).total_seconds(),
    )


def _seals(now: datetime) -> Iterator[Metric]:
    """Yields nothing before the first round, or the first accepted line: alert on absence, too."""
    state = seals.state()
    if state is not None:
        yield GaugeMetricFamily(
            "ballast_seal_age_seconds",
            "Since the moment up to which everything is sealed",
            value=(now - state.upto).total_seconds(),
        )
    ages = GaugeMetricFamily(
        "ballast_seal_published_age_seconds",
        "Since what is sealed was published, by way",
        labels=["way"],
    )
    for way, at in seals.published_at().items():
        if at is not None:
            ages.add_metric([way], (now - at).total_seconds())
    yield ages


def _to_banks(now: datetime) -> Iterator[Metric]:
    found = ach.on_the_way(now=now)
    left_out = GaugeMetricFamily(
        "ballast_ach_left_out",
        "Entries that the last file left out, by what they wait for",
        labels=["rail", "waits_for"],
    )
    for (rail, why), count in found.left_out.items():
        left_out.add_metric([rail, why], count)
    yield left_out
    stopped = GaugeMetricFamily(
        "ballast_ach_stopped", "Parts of rails that staff have stopped", labels=["rail", "part"]
    )
    for (rail, part), count in found.stopped.items():
        stopped.add_metric([rail, part], count)
    yield stopped
    yield GaugeMetricFamily(
        "ballast_ach_late_files",
        "Files that are not sent, with entries that missed two cut-offs",
        value=found.late,
    )
    yield GaugeMetricFamily(
        "ballast_ach_unanswered",
        "Files at a bank that should have acknowledged them",
        value=found.unanswered,
    )
    not_final = GaugeMetricFamily(
        "ballast_ach_not_final",
        "Debits due to be final whose bank's files of the day are not read",
        labels=["rail"],
    )
    for rail, count in found.not_final.items():
        not_final.add_metric([rail], count)
    yield not_final


def _days(now: datetime) -> Iterator[Metric]:
    """Of days of settlement accounts that should be closed by now, by rail."""
    open_days = GaugeMetricFamily(
        "ballast_unclosed_days", "Days that should be closed", labels=["rail"]
    )
    cents = GaugeMetricFamily(
        "ballast_unreconciled_cents",
        "Unmatched lines of the bank, and overdue lines of the books, of such days",
        labels=["rail"],
    )
    for each in due.standings(now=now):
        open_days.add_metric([each.rail], len(each.late_days))
        cents.add_metric([each.rail], each.unreconciled)
    yield open_days
    yield cents


def _suspense(now: datetime) -> Iterator[Metric]:
    """Of lines of banks that two people have to explain, by rail."""
    cents = GaugeMetricFamily(
        "ballast_suspense_cents",
        "Credits and debits in suspense, which do not cancel each other out",
        labels=["rail"],
    )
    ages = GaugeMetricFamily(
        "ballast_suspense_oldest_seconds", "Age of the oldest line in suspense", labels=["rail"]
    )
    for each in suspense.standings():
        cents.add_metric([each.rail], each.sums.gross)
        ages.add_metric([each.rail], each.age(now).total_seconds())
    yield cents
    yield ages


def _failing(now: datetime) -> Iterator[Metric]:
    """Nothing of a sweep that works."""
    ages = GaugeMetricFamily(
        "ballast_reconciliation_failing_seconds",
        "Since when each run of a sweep of reconciliation has failed",
        labels=["sweep", "rail"],
    )
    for each in failing.failures():
        ages.add_metric([str(each.sweep), each.rail], (now - each.since).total_seconds())
    yield ages


def _coverage() -> Iterator[Metric]:
    """Without a sample before the first proof of funds: alert on absence, too."""
    cents = GaugeMetricFamily(
        "ballast_tenants_not_covered_cents",
        "What tenants own beyond what lies at the banks, by the newest proof of funds",
    )
    if report := coverage.newest():
        cents.add_metric([], coverage.missing(report))
    yield cents


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """404 without `METRICS_TOKEN`; open to everybody only in DEBUG without a token."""
    if not _may_read(request):
        return HttpResponseNotFound()
    registry = CollectorRegistry()
    registry.register(QueueAges())
    registry.register(Alarms())
    response: HttpResponse = ExportToDjangoView(request)
    response.content += generate_latest(registry)
    return response


def _may_read(request: HttpRequest) -> bool:
    token = settings.METRICS_TOKEN
    if not token:
        return bool(settings.DEBUG)
    given = request.headers.get("Authorization", "")
    return hmac.compare_digest(given.encode(), f"Bearer {token}".encode())
