"""`./run coverage`: the whole suite measured, one line per package, some held to a floor."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from devstack import console, suite
from devstack.paths import ROOT

COVERAGE = [sys.executable, "-m", "coverage"]
# Every Python process measures itself from its first line, the workers and web servers that tests
# start too. pytest-cov would begin after Django's models are imported.
MEASURING = {
    "COVERAGE_PROCESS_START": str(ROOT / "pyproject.toml"),
    "COVERAGE_FILE": str(ROOT / ".coverage"),
}
FLOOR_PERCENT = 95.0
HELD_TO_FLOOR = frozenset({"approvals", "balance", "common", "funding", "payments", "webhooks"})


def run(_arguments: Sequence[str]) -> int:
    """Run all tests, print the table; fails with the tests or with a package under the floor."""
    subprocess.run([*COVERAGE, "erase"], cwd=ROOT, check=True)
    failure = suite.run_phases(MEASURING)
    subprocess.run([*COVERAGE, "combine", "--quiet"], cwd=ROOT, check=True)
    percents = by_package(_measured())
    console.write_line("")
    for package, percent in sorted(percents.items()):
        console.write_line(_line(package, percent))
    is_low = any(percents.get(package, 0.0) < FLOOR_PERCENT for package in HELD_TO_FLOOR)
    return failure or int(is_low)


def by_package(report: Mapping[str, Any]) -> dict[str, float]:
    """Covered lines in percent, by first folder, out of coverage's JSON report."""
    covered: dict[str, int] = defaultdict(int)
    lines: dict[str, int] = defaultdict(int)
    for name, file in report["files"].items():
        package = Path(name).parts[0]
        covered[package] += file["summary"]["covered_lines"]
        lines[package] += file["summary"]["num_statements"]
    return {package: 100 * covered[package] / lines[package] for package in lines if lines[package]}


def _measured() -> Mapping[str, Any]:
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [*COVERAGE, "json", "--quiet", f"-o{file.name}"]
        subprocess.run(command, cwd=ROOT, check=True)
        report: Mapping[str, Any] = json.loads(Path(file.name).read_text())
        return report


def _line(package: str, percent: float) -> str:
    floor = f"  (at least {FLOOR_PERCENT:.0f} %)" if package in HELD_TO_FLOOR else ""
    mark = "LOW " if floor and percent < FLOOR_PERCENT else "    "
    return f"{mark}{package:<12} {percent:5.1f} %{floor}"
