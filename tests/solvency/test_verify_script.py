"""`docs/verify_proof.py`, run as anybody would run it: it believes what we prove, and nothing that
was changed."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from balance import services as ledger
from solvency import inclusion, reports, signing
from solvency.models import ProofReport
from tests.balance.builders import movement
from tests.solvency.builders import (
    DAY,
    NEXT_DAY,
    OWN_FUNDS,
    adjust,
    fund,
    leave,
    live,
    settle,
    take,
)

pytestmark = pytest.mark.django_db

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "verify_proof.py"


class Files:
    """Three tenants in a proof, and the files that one of them has."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ada, self.bob, self.cy = live("Ada"), live("Bob"), live("Cy")
        fund(self.ada, 123_456)
        fund(self.bob, 2_000)
        settle(self.cy, 70)
        self.report = take(not_on_statement=25)
        self.proof = self.proof_of(self.ada)
        self.keys: dict[str, Any] = signing.published()

    def proof_of(self, tenant: Any, day: Any = DAY) -> dict[str, Any]:
        return inclusion.proof_of(inclusion.leaf_of(tenant.pk, day))

    def run(self, *options: str, tenant: str | None = None) -> subprocess.CompletedProcess[str]:
        (self.folder / "proof.json").write_text(json.dumps(self.proof))
        (self.folder / "keys.json").write_text(json.dumps(self.keys))
        of = ["--tenant", tenant or self.ada.pk]
        return subprocess.run(
            [sys.executable, str(SCRIPT), "proof.json", "--keys", "keys.json", *of, *options],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )

    def signed_anew(self, change: Callable[[dict[str, Any]], Any], key: str = "own") -> None:
        """Another report under a good signature: what an operator could try."""
        said = json.loads(self.proof["report"])
        change(said)
        self.proof["report"] = json.dumps(said, sort_keys=True, separators=(",", ":"))
        self.sign(key)

    def sign(self, key: str = "own") -> None:
        if key == "own":
            _, self.proof["signature"] = signing.sign(self.proof["report"])
        else:
            made = Ed25519PrivateKey.generate().sign(self.proof["report"].encode())
            self.proof["signature"] = base64.b64encode(made).decode()


@pytest.fixture
def files(tmp_path):
    return Files(tmp_path)


def test_a_proof_holds(files):
    done = files.run("--day", DAY.isoformat())

    assert (done.returncode, done.stderr) == (0, "")
    assert files.report.digest in done.stdout
    assert f"1,234.56 USD of {files.ada.pk} are in the sum of all tenants" in done.stdout
    assert "the difference is zero" in done.stdout


def test_it_says_how_much_more_the_bank_has_than_tenants_own(files):
    own = f"{OWN_FUNDS // 100:,}.{OWN_FUNDS % 100:02d} USD"

    assert f"The bank has what all tenants own, and {own} more." in files.run().stdout


def test_a_key_that_has_the_name_of_another_one_is_wrong(files):
    """Of a replaced key nobody can tell which of the two signed for us."""
    (own,) = files.keys["keys"]
    another = own | {"publicKey": base64.b64encode(bytes(32)).decode()}
    files.keys = {"keys": [another, own]}

    assert "two of the published keys have one name" in files.run().stderr


def test_a_key_that_was_replaced_does_not_sign_for_the_old_one(files):
    files.sign("another")

    assert "the signature is not that of the key" in files.run().stderr


def test_a_shortfall_is_wrong_though_both_sides_agree(files):
    """Nothing at the bank explains what staff credited."""
    adjust(files.ada, OWN_FUNDS + 1)
    files.report = take(NEXT_DAY)
    files.proof = files.proof_of(files.ada, NEXT_DAY)

    done = files.run()

    assert done.returncode == 1
    assert "WRONG: tenants own 0.01 USD more than the bank has for them." in done.stderr


def test_money_out_that_is_not_final_is_no_shortfall(files):
    """It has left the bank, and is locked until it is final."""
    ledger.lock(**movement(files.ada, OWN_FUNDS + 60_000))
    leave(files.ada, OWN_FUNDS + 60_000)
    files.report = take(NEXT_DAY)
    files.proof = files.proof_of(files.ada, NEXT_DAY)

    assert files.run().returncode == 0


def test_every_tenants_proof_holds(files):
    for tenant in (files.bob, files.cy):
        files.proof = files.proof_of(tenant)
        assert files.run(tenant=tenant.pk).returncode == 0


def test_a_report_alone_holds_and_so_does_what_the_api_answers(files):
    whole = files.proof
    files.proof = reports.signed(files.report)
    assert "are in the sum" not in files.run().stdout

    files.proof = {"data": whole}
    assert "are in the sum" in files.run().stdout


def test_it_says_what_it_did_not_check(files):
    files.run()
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "proof.json", "--tenant", files.ada.pk],
        cwd=files.folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "NOT CHECKED: the signature" in done.stdout


def change(**values: Any) -> Callable[[Files], Any]:
    return lambda files: files.proof.update(values)


def change_step(place: int, **values: Any) -> Callable[[Files], Any]:
    return lambda files: files.proof["path"][place].update(values)


def resign(part: str, **values: Any) -> Callable[[Files], Any]:
    return lambda files: files.signed_anew(lambda said: said[part].update(values))


def _other_leaf(files: Files) -> None:
    files.proof |= {"index": 1 - files.proof["index"] if files.proof["index"] < 2 else 0}


def _more_for_me(files: Files) -> None:
    files.proof["available"] += 1


def _moved_between_kinds(files: Files) -> None:
    files.proof["available"] -= 1
    files.proof["locked"] += 1


def _other_salt(files: Files) -> None:
    files.proof["salt"] = files.proof_of(files.bob)["salt"]


def _replayed(files: Files) -> None:
    """Yesterday's report under today's leaf."""
    take(NEXT_DAY)
    files.proof |= reports.signed(ProofReport.objects.get(day=NEXT_DAY))


def _somebody_elses(files: Files) -> None:
    files.proof = files.proof_of(files.bob) | {"tenantId": files.ada.pk}


def _by_another_key(files: Files) -> None:
    files.sign("other")


def _twice(files: Files) -> None:
    """A report that one reader takes for another: a name twice."""
    files.proof["report"] = '{"difference":5,' + files.proof["report"][1:]
    files.sign()


def _fewer_leaves(files: Files) -> None:
    """A node as a leaf: two tenants fewer, one step less."""
    files.proof["path"] = files.proof["path"][1:]
    files.signed_anew(lambda said: said["tenants"].update(leaves=2))


def _less_in_the_sums(files: Files) -> None:
    """The operator leaves ten cents of others out of the report, and of the bank."""

    def less(said: dict[str, Any]) -> None:
        said["tenants"]["available"] -= 10
        said["bank"][0]["closing"] -= 10
        for line in said["operator"]:
            line["debit" if line["account"] == "settlement" else "credit"] -= 10

    files.signed_anew(less)


def _half_cents(files: Files) -> None:
    files.signed_anew(lambda said: said["bank"][0].update(closing=said["bank"][0]["closing"] + 0.0))


def _missing_at_the_bank(files: Files) -> None:
    files.signed_anew(lambda said: said["bank"][0].update(closing=0))


def _missing_in_the_books(files: Files) -> None:
    files.signed_anew(lambda said: said["operator"].clear())


FORGED: dict[str, tuple[Callable[[Files], Any], str]] = {
    "a cent more for me": (_more_for_me, "not in the root"),
    "a cent moved between kinds": (_moved_between_kinds, "not in the root"),
    "another place": (_other_leaf, "WRONG"),
    "a place that is none": (change(index=7), "no such leaf"),
    "a negative balance": (change(available=-1), "is no amount in cents"),
    "a balance above 63 bits": (change(available=2**63), "is no amount in cents"),
    "a balance with a point": (change(available=123456.0), "is no amount in cents"),
    "another tenant's salt": (_other_salt, "not in the root"),
    "another tenant's leaf": (_somebody_elses, "not in the root"),
    "a sibling below zero": (change_step(0, available=-2_000), "is no amount in cents"),
    "a sibling with another sum": (change_step(0, available=7), "not in the root"),
    "a sibling with another digest": (change_step(0, digest="00" * 32), "not in the root"),
    "a sum that overflows": (change_step(0, settled=2**63 - 1, locked=2**63 - 1), "WRONG"),
    "no path": (change(path=[]), "the path is too short"),
    "a node as a leaf": (_fewer_leaves, "WRONG"),
    "a report of another day": (_replayed, "not in the root"),
    "a signature by another key": (_by_another_key, "the signature is not that of the key"),
    "a key that is not published": (change(keyId="other"), "is not published"),
    "no signature": (change(signature=""), "WRONG"),
    "a report with a name twice": (_twice, "can be read in two ways"),
    "a report of something else": (
        lambda files: files.signed_anew(lambda said: said.update(format="x")),
        "this is no proof of funds",
    ),
    "signed: another root": (resign("tenants", root="00" * 32), "not in the root"),
    "signed: another sum": (resign("tenants", locked=5), "the sum of locked"),
    "signed: less of all others": (_less_in_the_sums, "the sum of available"),
    "signed: money that nobody owes": (
        resign("receivables", amount=100),
        "are owed",
    ),
    "signed: cents with a point": (_half_cents, "is no whole number of cents"),
    "signed: money missing at the bank": (_missing_at_the_bank, "the books say"),
    "signed: money missing in the books": (_missing_in_the_books, "the books say 0"),
    "signed: a difference": (
        lambda files: files.signed_anew(lambda said: said.update(difference=1)),
        "a difference of 1",
    ),
    "no proof at all": (lambda files: setattr(files, "proof", []), "this is no proof of funds"),
}


@pytest.mark.parametrize("name", list(FORGED))
def test_a_forged_one_does_not_hold(files, name):
    forge, said = FORGED[name]
    forge(files)

    done = files.run()

    assert done.returncode == 1
    assert done.stdout == ""
    assert said in done.stderr


def test_it_is_of_the_day_and_the_tenant_that_were_asked_for(files):
    assert "this is the proof of 2026-11-20" in files.run("--day", "2026-11-19").stderr
    assert f"this is the proof of {files.ada.pk}" in files.run(tenant=files.bob.pk).stderr
