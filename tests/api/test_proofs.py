"""GET /balance/proofs: a tenant's balances in proofs of funds, and the proof of one day."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from solvency.api.examples import EXAMPLES
from tests.builders import ApiClient, make_key
from tests.solvency.builders import NEXT_DAY, fund, live, take
from tests.solvency.test_verify_script import SCRIPT

pytestmark = pytest.mark.django_db

PROOFS = "/api/v1/balance/proofs"


@pytest.fixture
def ada():
    return live("Ada")


@pytest.fixture
def api(ada):
    fund(ada, 1_000)
    fund(live("Bob"), 20)
    take()
    fund(ada, 5)
    take(NEXT_DAY)
    return ApiClient(make_key(ada))


def verified(proof: Any, tenant_id: str, folder: Any) -> subprocess.CompletedProcess[str]:
    (folder / "proof.json").write_text(json.dumps(proof))
    command = [sys.executable, str(SCRIPT), str(folder / "proof.json"), "--tenant", tenant_id]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_days_are_listed_newest_first(api):
    first = api.get(PROOFS, {"limit": 1}).json()
    second = api.get(PROOFS, {"limit": 1, "cursor": first["nextCursor"]}).json()

    assert first["data"] == [
        {
            "day": "2026-11-23",
            "takenAt": "2026-11-20T15:00:00.000000Z",
            "available": 1_005,
            "settled": 0,
            "locked": 0,
            "overdrawn": 0,
        }
    ]
    assert (second["data"][0]["day"], second["data"][0]["available"]) == ("2026-11-20", 1_000)
    assert second["hasMore"] is False


def test_the_proof_of_a_day_holds(api, ada, tmp_path):
    answer = api.get(f"{PROOFS}/2026-11-20").json()

    assert answer["data"]["tenantId"] == ada.pk
    done = verified(answer, ada.pk, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"10.00 USD of {ada.pk}" in done.stdout


@pytest.mark.parametrize("day", ["2026-11-21", "20261120", "2026-W47-5", "yesterday", "2026-13-01"])
def test_no_other_day_has_one(api, day):
    assert api.get(f"{PROOFS}/{day}").status_code == 404


def test_a_tenant_sees_none_of_anybody_else(api):
    stranger = ApiClient(make_key(live("Cy")))

    assert stranger.get(PROOFS).json()["data"] == []
    assert stranger.get(f"{PROOFS}/2026-11-20").status_code == 404


def test_the_example_of_the_reference_holds(tmp_path):
    proof = EXAMPLES["Proof"]["default"]

    done = verified(proof, proof["tenantId"], tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
