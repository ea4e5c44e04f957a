"""`./run demo`: from an empty tenant to money that moves by itself, every step checked."""

from __future__ import annotations

import sys
import time
import uuid

import httpx
from ballast_client import Ballast, BallastError, calls
from ballast_client.types import FundingSource, FundingTransaction

from demo.story import bank, payments
from demo.story.api import BASE_URL, mailed_link, manage
from demo.story.console import StoryError, chapter, check, say, wait_for
from demo.story.receiver import Receiver
from demo.story.story import APPROVER, ROUTING_NUMBER, Story, approve, expect_event

OWNER = "Northwind Trading LLC"
STEPS = ("reserved", "pending", "in_transit", "completed")


def open_an_account(story: Story) -> None:
    chapter("A tenant, a key, a webhook receiver")
    story.tenant = manage("create_tenant", "--name", "Northwind", "--mode", "sandbox")["tenantId"]
    key = manage("create_key", "--tenant", story.tenant, "--name", "demo")["apiKey"]
    say(f"tenant {story.tenant}, key {key[:17]}…")
    story.ballast = Ballast(key, base_url=BASE_URL)
    story.receiver = Receiver()
    hook = story.ballast.send(calls.register_webhook(story.receiver.url, ["*"]))
    story.receiver.secret = hook["secret"] or ""
    check(
        story.receiver.secret.startswith("whsec_"), f"registered {hook['url']}; secret shown once"
    )


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
    link = wait_for(
        "the e-mail", lambda: mailed_link(APPROVER, about="add $500.00", below="/confirm/")
    )
    scan(story, link, rows[0]["id"])
    approve(link, "500.00")
    story.wait_for_status(rows[0]["id"], "completed")
    check(story.show_balance()["availableBalance"] == 65_000, "$650.00 available")


def scan(story: Story, link: str, funding_id: str) -> None:
    for method in ("HEAD", "GET", "GET"):
        httpx.request(method, link, timeout=15)
    httpx.post(link, data={"decision": "approve"}, timeout=15)
    status = story.funding(funding_id)["status"]
    check(status == "awaiting_confirmation", "a mail scanner opened the link: nothing happened")


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
            open_an_account, link_accounts, top_up, returns, auto_funding,
            payments.supplier, payments.trouble, payments.queue, payments.second_person,
            replay, bank.live, audit,
        ):  # fmt: skip
            part(story)
    except (StoryError, BallastError) as error:
        sys.stdout.write(f"\n ✗ {error}\n")
        return 1
    sys.stdout.write(f"\nThe whole story took {time.monotonic() - started:.0f} seconds.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
