"""The pages of the product, served as in a deployment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management import call_command

from benchmarks import processes
from benchmarks.load import Request
from benchmarks.processes import Server


@contextmanager
def serving() -> Iterator[Server]:
    """Serve pages for the block, as fast as somebody asks. Raises CannotMeasure."""
    call_command("collectstatic", interactive=False, verbosity=0)  # without it no page is served
    port = processes.free_port()
    unpaced = {"PAGES_PER_MINUTE": "1000000"}
    with processes.program(
        processes.gunicorn(port), name="web", port=port, environment=unpaced
    ) as web:
        yield web


def page(path: str, cookie: str) -> Request:
    """What a browser asks for a page, signed in by `cookie`."""
    head = f"Accept-Encoding: gzip\r\nCookie: {cookie}\r\n"
    return Request(method="GET", path=path, key="", headers=lambda: head)
