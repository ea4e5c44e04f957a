"""`./run check`: every tool that judges the code, one line for each, all of them every time."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from devstack import console, environment, hygiene, slots
from devstack.paths import ROOT
from devstack.signals import stop_once

# What `check --deploy` should see: a deployment, not this machine.
DEPLOYMENT = {
    "DEBUG": "False",
    "BASE_URL": "https://ballast.example",
    "ALLOWED_HOSTS": "ballast.example",
    "TRUSTED_PROXY_COUNT": "1",
    "WEBHOOK_ALLOWED_NETWORKS": "",
    "WEBHOOK_ALLOW_HTTP": "False",
    "DEVELOPMENT_ROUTES": "False",
    "ACH_BANK_CLOCK": "",
}
TOOLS_AT_ONCE = 2


@dataclass(frozen=True, kw_only=True)
class Result:
    name: str
    output: str
    passed: bool
    seconds: float


def run() -> int:
    """Run all checks; 1 if any failed."""
    with stop_once():
        pair = slots.claim_free_pair("check")
        try:
            pair.start()
            variables = environment.development(pair.profile)
            return _run_all(_checks(variables))
        finally:
            pair.close()


def _checks(variables: Mapping[str, str]) -> list[tuple[str, Callable[[], tuple[bool, str]]]]:
    python, ruff = sys.executable, [sys.executable, "-m", "ruff"]
    deployed = {**variables, **DEPLOYMENT}
    commands: list[tuple[str, Sequence[str], Mapping[str, str]]] = [
        ("types (mypy)", [python, "-m", "mypy", "."], variables),
        ("format (ruff)", [*ruff, "format", "--check", "--output-format=concise"], variables),
        ("lint (ruff)", [*ruff, "check", "--output-format=concise"], variables),
        ("imports (import-linter)", [_beside_python("lint-imports"), "--no-logo"], variables),
        (
            "templates (djlint)",
            [python, "-m", "djlint", "templates", "--lint", "--quiet"],
            variables,
        ),
        ("deployment (django)", _manage("check", "--deploy", "--fail-level=WARNING"), deployed),
        ("migrations (django)", _manage("makemigrations", "--check", "--dry-run"), variables),
        ("openapi.yaml (spectacular)", _manage("openapi", "--check"), variables),
        ("licenses (pip-licenses)", [python, "-m", "devstack", "licenses"], variables),
    ]
    tools = [(name, _tool(command, env)) for name, command, env in commands]
    return [*tools, ("no addresses or paths of one machine", hygiene.check)]


def _beside_python(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def _manage(*arguments: str) -> list[str]:
    return [sys.executable, "manage.py", *arguments]


def _tool(command: Sequence[str], variables: Mapping[str, str]) -> Callable[[], tuple[bool, str]]:
    def run_tool() -> tuple[bool, str]:
        result = subprocess.run(
            command,
            cwd=ROOT,
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return result.returncode == 0, result.stdout

    return run_tool


def _run_all(checks: list[tuple[str, Callable[[], tuple[bool, str]]]]) -> int:
    with ThreadPoolExecutor(TOOLS_AT_ONCE) as pool:
        results = [pool.submit(_timed, name, check) for name, check in checks]
        failed = [result.result() for result in results if not _show(result.result())]
    if failed:
        console.report(f"{len(failed)} of {len(checks)} checks failed")
        return 1
    console.report(f"all {len(checks)} checks passed")
    return 0


def _timed(name: str, check: Callable[[], tuple[bool, str]]) -> Result:
    begun = time.monotonic()
    passed, output = check()
    return Result(name=name, output=output, passed=passed, seconds=time.monotonic() - begun)


def _show(result: Result) -> bool:
    verdict = "ok    " if result.passed else "FAILED"
    console.write_line(f"{verdict} {result.name:<40} {result.seconds:5.1f} s")
    if not result.passed:
        console.write_line(result.output.rstrip())
    return result.passed
