"""schemathesis tries the whole document against the started product, with all of its checks.

`./run test --nightly tests/fuzz` does the same with many more examples.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from django.core.management import call_command

from tests.fuzz.tenant import Stocked, stock
from tests.scenarios.product import running
from tests.servers import free_port

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Size:
    """Requests per operation, and walks along links."""

    examples: int
    walks: int


SMALL, NIGHTLY = Size(examples=2, walks=150), Size(examples=300, walks=3_000)
# The seed, and the phases: the first two do not depend on the seed, so they run once. Each run is a
# test with a product of its own, so that they share out.
RUNS = (
    (1, "examples,coverage"),
    (1, "fuzzing,stateful"),
    pytest.param(2, "fuzzing,stateful", marks=pytest.mark.nightly),
    pytest.param(3, "fuzzing,stateful", marks=pytest.mark.nightly),
)
# In each run of walks. It may end early: the generator asks what was answered before, and
# Hypothesis stops where that makes it inconsistent. 3 to 23 of the 153 links in each, seen.
LINKS_FOLLOWED_MIN = 2
# As deployed, but for the pace, and for a receiver on this machine.
SETTINGS = {
    "API_READS_PER_SECOND": "100000",
    "API_WRITES_PER_SECOND": "100000",
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.timeout(7200),
    pytest.mark.django_db(transaction=True),
]


def write_settings(path: Path, size: Size) -> Path:
    """Our settings, and how many walks: of that the command line says nothing."""
    walks = f"\n[phases.stateful.generation]\nmax-examples = {size.walks}\n"
    path.write_text((HERE / "schemathesis.toml").read_text() + walks)
    return path


def schemathesis(
    address: str, made: Stocked, settings: Path, *, seed: int, phases: str, size: Size
) -> tuple[str, int]:
    """The report of one run, empty when it found nothing, and how many links it followed."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", f"--config-file={settings}"),
            # One worker: threads that parse syntax trees at once trip over Python 3.11 (gh-106905).
            # Every check is on without --checks, which would undo what the settings loosen.
            *("run", f"{address}/api/schema", "--workers=1", "--no-color"),
            *(f"--seed={seed}", f"--max-examples={size.examples}"),
            f"--phases={phases}",
        ],
        cwd=HERE.parents[1],
        env=os.environ | {"BALLAST_KEY": made.key, "BALLAST_IDS": json.dumps(made.ids)},
        capture_output=True,
        text=True,
        check=False,
    )
    links = re.search(r"API Links:\s+(\d+) covered", done.stdout)
    assert links or "stateful" not in phases, done.stdout + done.stderr
    report = "" if done.returncode == 0 else done.stdout + done.stderr
    return report, int(links[1]) if links else 0


@pytest.mark.parametrize(("seed", "phases"), RUNS)
def test_everything_the_document_says_is_true(tmp_path, request, seed, phases):
    size = NIGHTLY if request.config.getoption("--nightly") else SMALL
    settings = write_settings(tmp_path / "schemathesis.toml", size)
    made = stock(rails=["sandbox"])  # where the lines of its money are

    with running(tmp_path, free_port(), "valkey", "web", **SETTINGS) as product:
        # A product that has just started may need longer for the document than schemathesis waits.
        httpx.get(f"{product.base_url}/api/schema", timeout=120).raise_for_status()
        report, links = schemathesis(
            product.base_url, made, settings, seed=seed, phases=phases, size=size
        )

    assert not report, report
    assert links >= LINKS_FOLLOWED_MIN or "stateful" not in phases
    call_command("check_ledger", "--full")
