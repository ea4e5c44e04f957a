"""The chapters about instant payments of the live tenant: a request that its own bank shows to it,
a payment over FedNow, and one whose receiving bank takes no instant payments.

The operator of both networks is the stand-in beside the copy, reached by HTTPS with mutual TLS.
"""

from __future__ import annotations

import time

from ballast_client import calls
from ballast_client.types import BankAccountIn, Payment

from demo.story.api import manage
from demo.story.console import chapter, check, dollars, say, wait_for
from demo.story.live_tenant import Live
from demo.story.payers_bank import PayersBank

BY_RTP, BY_FEDNOW, BY_ACH = 9_000, 2_500, 4_000
MOVED = BY_RTP - BY_FEDNOW - BY_ACH
SECONDS_MAX = 10.0
HOLDER = "Harbor Supply"
# A bank that takes part in neither network.
_ELSEWHERE: BankAccountIn = {
    "accountNumber": "5550123",
    "routingNumber": "101000019",
    "accountHolderName": "Lakeside Printing",
    "accountHolderType": "business",
    "accountType": "checking",
}


def live(tenant: Live) -> None:
    """Money in by RTP, out by FedNow, and out where neither leads."""
    had = tenant.show_balance()["availableBalance"]
    _requested(tenant)
    _paid(tenant)
    _automatic(tenant)
    has = tenant.show_balance()["availableBalance"]
    check(has == had + MOVED, f"{dollars(has)} available")


def show_days() -> None:
    """The networks' days are those of the calendar: none ends within a demo."""
    chapter("The networks' own days end when ours do")
    rails = manage("close_day")["rails"]
    for rail, ends in (("rtp", "midnight"), ("fednow", "19:00")):
        said = rails[rail]
        check(said["difference"] == 0, f"{rail}: closed at zero up to {said['day']}")
        say(f"what moved since is on the statement of its day, which ends at {ends}, Eastern")


def _requested(tenant: Live) -> None:
    chapter(f"Top up {dollars(BY_RTP)} by RTP: its own bank asks, a person approves")
    source = tenant.made["sources"]["operating"]
    asked = tenant.ballast.send(calls.top_up(BY_RTP, funding_source_id=source, method="rtp"))
    asked = tenant.wait_for_status(asked["id"], "pending")
    page = tenant.owner.read(f"/dashboard/funding/{asked['id']}")
    check("Approve this request at" in page, "its page says where to approve it, and until when")
    bank = PayersBank(tenant.made["payersBank"])
    amount = dollars(BY_RTP)
    request = wait_for("the request at the payer's bank", lambda: bank.find(HOLDER, amount))
    check(amount in bank.read(request), f"{bank.name} shows it to {HOLDER}, its customer")
    bank.approve(request)
    approved_at = time.monotonic()
    done = tenant.wait_for_status(asked["id"], "completed")
    _require_instant(approved_at, f"{amount} are available after the approval")
    check((done["network"], done["returned"]) == ("rtp", False), "by RTP, for good")


def _paid(tenant: Live) -> None:
    chapter(f"Pay {dollars(BY_FEDNOW)} out over FedNow")
    began_at = time.monotonic()
    order = calls.pay(BY_FEDNOW, recipient=tenant.made["payee"], method="rtp")
    payment = tenant.ballast.send(order)
    paid = tenant.wait_for_payment(payment["id"], ["completed", "failed"])
    _require_instant(began_at, "it arrived after the order")
    check((paid["status"], paid["network"]) == ("completed", "fednow"), "by FedNow, for good")


def _automatic(tenant: Live) -> None:
    chapter(f"Pay {dollars(BY_ACH)} automatically, to a bank that takes no instant payments")
    order = calls.pay(BY_ACH, recipient=_ELSEWHERE, method="auto")
    payment = tenant.ballast.send(order)
    say(f"{payment['id']} begins by {payment['methodUsed']}")

    def by_ach() -> Payment | None:
        found = tenant.ballast.send(calls.payment(payment["id"]))
        return found if found["methodUsed"] == "ach_credit" else None

    again = wait_for("its way to change", by_ach)
    first = again["attempts"][0]
    check(
        (first["outcome"], first["network"]) == ("refused", "fednow"),
        f"FedNow does not reach that bank ({first['code']}); the same payment goes by ACH",
    )
    tenant.release(BY_ACH)
    done = tenant.wait_for_payment(payment["id"], ["completed"])
    ways = [f"{each['method']} {each['outcome']}" for each in done["attempts"]]
    check(ways == ["rtp refused", "ach_credit completed"], "attempts: " + ", ".join(ways))


def _require_instant(since: float, what: str) -> None:
    seconds = time.monotonic() - since
    check(seconds < SECONDS_MAX, f"{seconds:.1f} seconds: {what}")
