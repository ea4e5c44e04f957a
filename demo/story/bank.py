"""The chapters about a live tenant, whose money moves through files to a bank, and instantly.

The bank is the stand-in beside the copy: a program of its own, reached by SFTP. A banking day of it
takes some seconds.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from ballast_client import ApiError, calls
from ballast_client.types import Proof

from demo.story import instant
from demo.story.api import BASE_URL, manage
from demo.story.browser import Person
from demo.story.console import StoryError, chapter, check, dollars, say, wait_for
from demo.story.live_tenant import Live
from demo.story.story import Story
from devstack.odfi import client

GOOD, EMPTY, MOVED, PAID = 60_000, 12_000, 8_000, 15_000
LEFT = GOOD + MOVED - PAID


def live(story: Story) -> None:
    """From the connection to the bank's own books."""
    tenant = Live.connect()
    fundings = _top_up(tenant)
    tenant.release(GOOD + EMPTY + MOVED)
    _settle(tenant, fundings)
    _corrected(tenant.owner)
    _pay(tenant)
    _compare(tenant)
    _close(tenant, LEFT, title="The day closes at zero, and its proof of funds is verified")
    instant.live(tenant)
    left = LEFT + instant.MOVED
    _close(tenant, left, title="The bank's next day, and the proof with what moved instantly")
    instant.show_days()


def _top_up(tenant: Live) -> dict[str, str]:
    chapter("Three top-ups by ACH, from three bank accounts")
    sources, fundings = tenant.made["sources"], {}
    for name, amount in (("operating", GOOD), ("empty", EMPTY), ("moved", MOVED)):
        funding = tenant.top_up(amount, sources[name])
        fundings[name] = funding["id"]
        say(f"{dollars(amount)} from {name!r}: {funding['id'][:14]}… is {funding['status']}")
    for funding_id in fundings.values():
        tenant.wait_for_status(funding_id, "pending")
    return fundings


def _settle(tenant: Live, fundings: dict[str, str]) -> None:
    chapter("The bank's days pass: two settle, one comes back")
    failed = tenant.wait_for_status(fundings["empty"], "failed")
    check(
        failed["returned"] and failed["returnCode"] == "R01",
        f"{dollars(EMPTY)} came back by a return file: {failed['returnReason']}",
    )
    for name in ("operating", "moved"):
        done = tenant.wait_for_status(fundings[name], "completed")
        check(not done["returned"], f"{dollars(done['amount'])} from {name!r} are final")
    available = tenant.show_balance()["availableBalance"]
    check(available == GOOD + MOVED, f"{dollars(GOOD + MOVED)} available")


def _corrected(owner: Person) -> None:
    chapter("A notification of change: the account has another number now")

    def noted() -> bool | None:
        page = owner.read("/dashboard/bank-accounts")
        return "Details were corrected by your bank" in page or None

    wait_for("the correction", noted)
    check(True, "the tenant reads: Details were corrected by your bank")


def _pay(tenant: Live) -> None:
    chapter(f"Pay {dollars(PAID)} out, through a file as well")
    payment = tenant.ballast.send(calls.pay(PAID, recipient=tenant.made["payee"]))
    tenant.wait_for_payment(payment["id"], ["processing"])
    tenant.release(PAID)
    tenant.wait_for_payment(payment["id"], ["completed"])
    available = tenant.show_balance()["availableBalance"]
    check(available == LEFT, f"{dollars(LEFT)} left")


def _compare(tenant: Live) -> None:
    chapter("The bank's books and ours")
    moved = wait_for("the bank to settle", lambda: _moved(tenant))
    check(moved == LEFT, f"our account at the bank has {dollars(moved)} more, as the tenant has")


def _close(tenant: Live, left: int, *, title: str) -> None:
    """`left` is what the tenant has."""
    chapter(title)
    rail = tenant.made["rail"]

    def closed() -> dict[str, Any] | None:
        """The account, once the statement that shows all of it is closed."""
        try:
            rails: dict[str, Any] = manage("close_day")["rails"]
        except StoryError:  # a line of a statement is not matched yet
            return None
        if not all("day" in each for each in rails.values()):  # no proof before each has one
            return None
        said: dict[str, Any] = rails[rail]
        shows_all = said.get("bank") == tenant.at_bank()
        return said if shows_all and said["ledger"] == said["bank"] else None

    said = wait_for("the bank's statement", closed)
    check(said["difference"] == 0, f"{said['day']}: {dollars(said['bank'])} in the books and there")

    def proven() -> Proof | None:
        """The tenant's part of the proof, once that is of this day."""
        try:
            return tenant.ballast.send(calls.proof(said["day"]))
        except ApiError:
            return None

    proof = wait_for("the proof of the day", proven)
    report = manage("verify_proof", said["day"])
    check(report["ok"], f"signed: {dollars(report['tenants'])} of tenants lie at the bank")
    check(proof["available"] == left, f"{dollars(left)} of them are this tenant's")
    _verify(tenant, proof)


def _verify(tenant: Live, proof: Proof) -> None:
    """As a tenant does it, with the script and the keys that anybody can fetch."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        for path in ("/docs/verify_proof.py", "/.well-known/ballast-proof-keys.json"):
            (folder / Path(path).name).write_bytes(
                httpx.get(f"{BASE_URL}{path}", timeout=15).raise_for_status().content
            )
        (folder / "proof.json").write_text(json.dumps(proof))
        words = ("proof.json", "--tenant", tenant.made["tenantId"])
        done = subprocess.run(  # noqa: S603  # the script that we hand out
            [sys.executable, "verify_proof.py", *words, "--keys", "ballast-proof-keys.json"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    for line in (done.stdout + done.stderr).splitlines():
        say(line)
    check(done.returncode == 0, "verify_proof.py found nothing wrong")


def _moved(tenant: Live) -> int | None:
    """By how much our account at the bank has changed, once nothing of ours waits there."""
    waits = client.call(tenant.bank, "totals")["entries"].get("accepted", 0)
    return None if waits else tenant.at_bank() - tenant.bank_had
