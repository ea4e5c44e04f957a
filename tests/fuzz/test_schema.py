"""schemathesis tries the whole document against the started product, with all of its checks.

`./run test --nightly tests/fuzz` does the same with many more examples.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

from tests.fuzz.tenant import Stocked, stock
from tests.scenarios.product import running
from tests.servers import free_port

HERE = Path(__file__).parent
SEEDS = (1, 2, 3)
EXAMPLES, NIGHTLY_EXAMPLES = 2, 300
# The coverage phase does not depend on the seed: the first one runs it for all.
PHASES = {1: "examples,coverage,fuzzing,stateful"}
# As deployed, but for the pace, and for a receiver on this machine.
SETTINGS = {
    "API_READS_PER_SECOND": "100000",
    "API_WRITES_PER_SECOND": "100000",
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(7200),
    pytest.mark.django_db(transaction=True),
]


def schemathesis(address: str, made: Stocked, *, seed: int, examples: int) -> str:
    """The report of one run, empty when it found nothing."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli"),
            f"--config-file={HERE / 'schemathesis.toml'}",
            *("run", f"{address}/api/schema", "--checks=all", "--workers=2", "--no-color"),
            *(f"--seed={seed}", f"--max-examples={examples}"),
            f"--phases={PHASES.get(seed, 'fuzzing,stateful')}",
        ],
        cwd=HERE.parents[1],
        env=os.environ | {"BALLAST_KEY": made.key, "BALLAST_IDS": json.dumps(made.ids)},
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_everything_the_document_says_is_true(tmp_path, request):
    examples = NIGHTLY_EXAMPLES if request.config.getoption("--nightly") else EXAMPLES
    made = stock()

    with running(tmp_path, free_port(), "valkey", "web", **SETTINGS) as product:
        reports = [
            schemathesis(product.base_url, made, seed=seed, examples=examples) for seed in SEEDS
        ]

    assert not any(reports), "\n".join(reports)
    call_command("check_ledger", "--full")
