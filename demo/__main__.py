"""`./run demo`: from an empty tenant to money that moves by itself, every step checked."""

from __future__ import annotations

import re
import sys
import time
import uuid
from typing import Any

import httpx
from ballast_client import Ballast, BallastError, Refused, calls
from ballast_client.requests import Call
from ballast_client.types import BalanceSummary, FundingSource, FundingTransaction

from demo.api import BASE_URL, confirmation_link, manage
from demo.console import StoryError, chapter, check, dollars, say, wait_for
from demo.receiver import Receiver

OWNER = "Northwind Trading LLC"
ROUTING_NUMBER = "021000021"
APPROVER = "cfo@northwind.example"
STEPS = ("reserved", "pending", "in_transit", "completed")


class Story:
    """What the chapters hand on to each other."""

    tenant: str
    ballast: Ballast
    receiver: Receiver
    linked: str
    by_hand: str

    def top_up(self, amount: int, source: str) -> FundingTransaction:
        return self.ballast.send(calls.top_up(amount, funding_source_id=source))

    def funding(self, funding_id: str) -> FundingTransaction:
        return self.ballast.send(calls.funding_transaction(funding_id))

    def wait_for_status(self, funding_id: str, status: str) -> FundingTransaction:
        def probe() -> FundingTransaction | None:
            found = self.funding(funding_id)
            return found if found["status"] == status else None

        return wait_for(f"{funding_id[:14]}… to be {status}", probe)

    def show_balance(self) -> BalanceSummary:
        summary = self.ballast.send(calls.balance_summary())
        say(
            f"balance: {dollars(summary['availableBalance'])} available, "
            f"{dollars(summary['pendingBalance'])} pending, "
            f"{dollars(summary['lockedBalance'])} locked"
        )
        return summary


def open_an_account(story: Story) -> None:
    chapter("A tenant, a key, a webhook receiver")
    story.tenant = manage("create_tenant", "--name", "Northwind", "--mode", "sandbox")["tenantId"]
    key = manage("create_key", "--tenant", story.tenant, "--name", "demo")["apiKey"]
    say(f"tenant {story.tenant}, key {key[:17]}…")
    story.ballast = Ballast(key, base_url=BASE_URL)
    story.receiver = Receiver()
    hook = story.ballast.send(calls.register_webhook(story.receiver.url, ["*"]))
    story.receiver.secret = hook["secret"]
    check(hook["secret"].startswith("whsec_"), f"registered {hook['url']}; secret shown once")


def link_accounts(story: Story) -> None:
    chapter("Two bank accounts: one linked, one by hand")
    linked = story.ballast.send(
        calls.link_account(
            "processor-sandbox-northwind", "acc_operating", account_holder_name=OWNER
        )
    )
    by_hand = enter_account(story, "9876543210")
    story.linked, story.by_hand = linked["id"], by_hand["id"]
    for source in (linked, by_hand):
        say(f"{source['type']}: {source['bankName']} ··{source['last4']} is {source['status']}")
    check("9876543210" not in str(by_hand), "the account number never comes back")


def enter_account(story: Story, number: str) -> FundingSource:
    return story.ballast.send(
        calls.enter_account(
            account_number=number, routing_number=ROUTING_NUMBER, account_holder_name=OWNER
        )
    )


def top_up(story: Story) -> None:
    chapter("Top up $250.00 by ACH debit")
    funding = story.top_up(25_000, story.linked)
    seen = [funding["status"]]
    say(f"{funding['id']} is {seen[0]}, expected {funding['expectedAvailabilityDate']}")

    def probe() -> FundingTransaction | None:
        found = story.funding(funding["id"])
        if found["status"] != seen[-1]:
            seen.append(found["status"])
            say(f"  → {found['status']}")
        return found if found["status"] in {"completed", "failed"} else None

    final = wait_for("the bank", probe)
    check(final["status"] == "completed", "the money arrived")
    reached = [name for name in STEPS if final["statusTimestamps"][camel(name) + "At"]]
    check(tuple(reached) == STEPS, "it went " + " → ".join(reached))
    check(story.show_balance()["availableBalance"] == 25_000, "the summary says $250.00 available")
    rows = list(story.ballast.each(calls.balance_transactions()))
    check(
        [(row["type"], row["amount"]) for row in rows] == [("credit", 25_000)],
        "the statement shows one credit of $250.00",
    )
    for name in ("created", "processing", "completed"):
        expect_event(story, funding["id"], f"payment.{name}")


def camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


def expect_event(story: Story, payment_id: str, type: str) -> dict[str, Any]:
    item = wait_for(
        f"the event {type}", lambda: story.receiver.find(payment_id=payment_id, type=type)
    )
    check(
        item.hex_signature_ok and item.standard_signature_ok,
        f"{type}: both signatures verified (one by the standardwebhooks library)",
    )
    return item.event


def returns(story: Story) -> None:
    chapter("An account without funds: R01 in transit")
    source = enter_account(story, "10001")
    funding = story.top_up(10_000, source["id"])
    final = story.wait_for_status(funding["id"], "failed")
    check(final["returned"] and final["returnCode"] == "R01", f"returned: {final['returnReason']}")
    expect_event(story, funding["id"], "payment.returned")
    check(story.show_balance()["availableBalance"] == 25_000, "the balance did not move")

    chapter("A late return: completed, then R01 all the same")
    source = enter_account(story, "20001")
    funding = story.top_up(7_500, source["id"])
    story.wait_for_status(funding["id"], "completed")
    story.show_balance()
    final = story.wait_for_status(funding["id"], "failed")
    check(bool(final["statusTimestamps"]["completedAt"]), "it had completed before")
    expect_event(story, funding["id"], "payment.returned")
    debits = list(story.ballast.each(calls.balance_transactions(type=["debit"])))
    check([row["amount"] for row in debits] == [7_500], "a debit took the $75.00 back")
    check(story.show_balance()["availableBalance"] == 25_000, "$250.00 again")


def auto_funding(story: Story) -> None:
    chapter("Auto-funding with an approval by e-mail")
    story.ballast.send(
        calls.configure_auto_funding(
            enabled=True,
            lowBalanceThreshold=20_000,
            fundingAmount=50_000,
            fundingMethod="ach_debit",
            confirmationThreshold=30_000,
            confirmationEmails=[APPROVER],
            fundingSourceId=story.by_hand,
        )
    )
    say("below $200.00 add $500.00; over $300.00 ask first")
    manage(
        "adjust_balance", "--tenant", story.tenant, "--type", "debit", "--amount", "10000",
        "--reason", "demo: let the balance fall",
    )  # fmt: skip
    check(story.show_balance()["availableBalance"] == 15_000, "the balance fell to $150.00")
    rows = list(story.ballast.each(calls.funding_transactions(status=["awaiting_confirmation"])))
    check(len(rows) == 1 and rows[0]["trigger"] == "auto_funding", "one funding awaits approval")
    link = wait_for("the e-mail", lambda: confirmation_link(APPROVER))
    scan(story, link, rows[0]["id"])
    approve(story, link, rows[0]["id"])


def scan(story: Story, link: str, funding_id: str) -> None:
    for method in ("HEAD", "GET", "GET"):
        httpx.request(method, link, timeout=15)
    httpx.post(link, data={"decision": "approve"}, timeout=15)
    status = story.funding(funding_id)["status"]
    check(status == "awaiting_confirmation", "a mail scanner opened the link: nothing happened")


def approve(story: Story, link: str, funding_id: str) -> None:
    with httpx.Client(timeout=15, follow_redirects=True) as browser:
        page = browser.get(link).text
        check("$500.00" in page, "the page shows $500.00 and asks to type it")
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        if token is None:
            raise StoryError("the confirmation page has no form")
        form = {"csrfmiddlewaretoken": token[1], "decision": "approve", "typed_amount": "500.00"}
        answer = browser.post(link, data=form, headers={"Referer": link})
    check(answer.status_code == 200, "the approver typed the amount and approved")
    story.wait_for_status(funding_id, "completed")
    check(story.show_balance()["availableBalance"] == 65_000, "$650.00 available")


def pay(story: Story) -> None:
    chapter("Pay a supplier $120.00 out of the balance")
    payment = story.ballast.send(pay_supplier(12_000))
    summary = story.show_balance()
    check(summary["lockedBalance"] == 12_000, "$120.00 are locked while the bank works")
    read: Call[Any] = Call(method="GET", path=f"/payments/{payment['id']}")

    def probe() -> bool | None:
        return story.ballast.send(read)["status"] == "completed" or None

    wait_for("the payment", probe)
    event = expect_event(story, payment["id"], "payment.completed")
    check(event["data"]["direction"] == "out", "the event says that the money went out")
    check(story.show_balance()["availableBalance"] == 53_000, "$530.00 left, nothing locked")
    try:
        story.ballast.send(pay_supplier(99_999_900))
    except Refused as refusal:
        check(refusal.code == "insufficient_balance", f"more than that: {refusal.detail}")
    else:
        raise StoryError("a payment larger than the balance was taken")


def pay_supplier(amount: int) -> Call[Any]:
    recipient = {
        "accountNumber": "1122334455",
        "routingNumber": ROUTING_NUMBER,
        "accountHolderName": "Supplier Inc",
        "accountHolderType": "business",
        "accountType": "checking",
    }
    body = {"amount": amount, "method": "ach_credit", "recipient": recipient}
    return Call(method="POST", path="/payments", body=body)


def replay(story: Story) -> None:
    chapter("The same top-up sent twice with one Idempotency-Key")
    call = calls.top_up(1_000, funding_source_id=story.linked, idempotency_key=str(uuid.uuid4()))
    first, second = story.ballast.respond(call), story.ballast.respond(call)
    check(first.content == second.content, "the second answer is byte-equal to the first")
    check(second.headers.get("Idempotent-Replayed") == "true", "and says that it is a replay")
    exactly = calls.funding_transactions(minAmount=1_000, maxAmount=1_000)
    same = list(story.ballast.each(exactly))
    check(len(same) == 1, "there is one funding transaction")
    story.wait_for_status(same[0]["id"], "completed")


def audit(story: Story) -> None:
    chapter("Check the ledger")
    result = manage("check_ledger", "--full")
    check(result["ok"], "check_ledger: every balance is explained, every event has its transition")
    story.show_balance()


def main() -> int:
    started = time.monotonic()
    story = Story()
    try:
        for part in (
            open_an_account, link_accounts, top_up, returns, auto_funding, pay, replay, audit,
        ):  # fmt: skip
            part(story)
    except (StoryError, BallastError) as error:
        sys.stdout.write(f"\n ✗ {error}\n")
        return 1
    sys.stdout.write(f"\nThe whole story took {time.monotonic() - started:.0f} seconds.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
