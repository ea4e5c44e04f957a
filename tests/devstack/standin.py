"""`./run up` with two small programs in the product's place, and the bank beside them.

Run as `python -m tests.devstack.standin PORT`.
`web` answers /healthz; `worker` has a child of its own, as Celery's worker has.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace

from devstack import programs as devstack_programs
from devstack import up
from devstack.__main__ import run_reporting
from devstack.copies import Recipe
from devstack.paths import ROOT, Profile
from devstack.processes import Program

WEB = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"ok")
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""
WORKER = """
import os, time
print("working", flush=True)
os.fork()
time.sleep(600)
"""


def prepare(_profile: Profile, _variables: Mapping[str, str], _sink: object) -> None:
    pass


def bank(profile: Profile) -> Program:
    """The real one, in the copy's own folder as the others are."""
    return _in_its_folder(devstack_programs.bank(profile), profile)


def operator(profile: Profile) -> Program:
    """The real one, too."""
    return _in_its_folder(devstack_programs.operator(profile), profile)


def _in_its_folder(program: Program, profile: Profile) -> Program:
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    return replace(program, folder=profile.home, environment=variables)


def programs(profile: Profile, port: int, variables: Mapping[str, str]) -> list[Program]:
    return [
        _python("web", WEB, str(port), profile=profile, variables=variables),
        _python("worker", WORKER, profile=profile, variables=variables),
    ]


def _python(
    name: str, code: str, *arguments: str, profile: Profile, variables: Mapping[str, str]
) -> Program:
    return Program(
        name=name,
        command=[sys.executable, "-c", code, *arguments],
        environment=variables,
        folder=profile.home,
        stop_seconds=5,
    )


if __name__ == "__main__":
    recipe = Recipe(prepare=prepare, programs=programs, neighbors=(bank, operator))
    sys.exit(run_reporting(lambda: up.up(port=int(sys.argv[1]), recipe=recipe)))
