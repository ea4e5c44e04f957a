"""`/metrics` for Prometheus: Django's own figures, and how long due work has been waiting."""

from __future__ import annotations

import hmac
from collections.abc import Iterator

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotFound
from django.views.decorators.http import require_safe
from django_prometheus.exports import ExportToDjangoView
from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from common import queues
from common.clock import utc_now


class QueueAges(Collector):
    """Seconds that the oldest due row of each queue waits; one indexed query per queue.

    This is what to alert on: it grows whether workers, beat or the broker are the ones that stop.
    """

    def collect(self) -> Iterator[Metric]:
        now = utc_now()
        ages = GaugeMetricFamily(
            "ballast_oldest_due_seconds", "Age of the oldest due row", labels=["queue"]
        )
        for queue in queues.states(now=now):
            ages.add_metric([queue.name], queue.age(now))
        yield ages


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """404 for whoever does not hold `METRICS_TOKEN`; open to all only in DEBUG without a token."""
    if not _may_read(request):
        return HttpResponseNotFound()
    registry = CollectorRegistry()
    registry.register(QueueAges())
    response: HttpResponse = ExportToDjangoView(request)
    response.content += generate_latest(registry)
    return response


def _may_read(request: HttpRequest) -> bool:
    token = settings.METRICS_TOKEN
    if not token:
        return bool(settings.DEBUG)
    given = request.headers.get("Authorization", "")
    return hmac.compare_digest(given.encode(), f"Bearer {token}".encode())
