from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from prometheus_client import start_http_server

from common.database import roles
from webhooks.dispatcher import runs
from webhooks.dispatcher.loop import SLOTS


class Command(BaseCommand):
    help = "Deliver webhooks until SIGTERM. Start more of them to scale."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--slots", type=int, default=SLOTS, help="requests at the same time")
        parser.add_argument("--metrics-port", type=int, help="serve Prometheus metrics there")

    def handle(self, *_args: object, **options: Any) -> None:
        roles.refuse_to_start()
        with _metrics(options["metrics_port"]):
            runs.serve(slots=options["slots"])


@contextmanager
def _metrics(port: int | None) -> Iterator[None]:
    if port is None:
        yield
        return
    server, thread = start_http_server(port)
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
