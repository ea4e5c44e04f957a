"""The chapters about money going out: a supplier, trouble, the queue, the second person."""

from __future__ import annotations

import secrets

from ballast_client import Refused, calls
from ballast_client.types import BankAccountIn, Payment

from demo.story.api import mailed_link, manage
from demo.story.browser import Person
from demo.story.console import StoryError, chapter, check, wait_for
from demo.story.story import APPROVER, ROUTING_NUMBER, Story, expect_event


def supplier(story: Story) -> None:
    chapter("Save a supplier once, pay $120.00 out of the balance")
    saved = story.ballast.send(calls.save_recipient(account("1122334455")))
    check("1122334455" not in str(saved), f"saved {saved['id']}; its number never comes back")
    story.supplier = saved["id"]
    payment = pay(story, 12_000)
    summary = story.show_balance()
    check(summary["lockedBalance"] == 12_000, "$120.00 are locked while the bank works")
    story.wait_for_payment(payment["id"], ["completed"])
    event = expect_event(story, payment["id"], "payment.completed")
    check(event["data"]["direction"] == "out", "the event says that the money went out")
    check(story.show_balance()["availableBalance"] == 53_000, "$530.00 left, nothing locked")
    try:
        pay(story, 99_999_900)
    except Refused as refusal:
        check(refusal.code == "insufficient_balance", f"more than that: {refusal.detail}")
    else:
        raise StoryError("a payment larger than the balance was taken")


def trouble(story: Story) -> None:
    chapter("A closed account: R02 after completion by ACH, AC04 at once by RTP")
    by_ach = story.ballast.send(calls.pay(3_000, recipient=account("20002")))
    by_rtp = story.ballast.send(calls.pay(2_000, recipient=account("40004"), method="rtp"))
    rejected = story.wait_for_payment(by_rtp["id"], ["failed"])
    check(rejected["failureCode"] == "AC04", f"RTP said no: {rejected['failureMessage']}")
    back = story.wait_for_payment(by_ach["id"], ["returned"])
    check(bool(back["statusTimestamps"]["completedAt"]), "the ACH payment had completed before")
    check(back["returnCode"] == "R02", f"then it came back: {back['returnReason']}")
    expect_event(story, by_ach["id"], "payment.returned")
    check(story.show_balance()["availableBalance"] == 53_000, "every cent is back: $530.00")


def queue(story: Story) -> None:
    chapter("Payments that wait for money: big before small, and one is canceled")
    story.ballast.send(calls.configure_auto_funding(fundingAmount=30_000))
    big, given_up, small = (pay(story, amount, wait=True) for amount in (60_000, 2_000, 1_000))
    statuses = {payment["status"] for payment in (big, given_up, small)}
    check(statuses == {"waiting_for_funds"}, "$600.00 is not there, so all three wait in line")
    story.ballast.send(calls.cancel_payment(given_up["id"]))
    check(
        read(story, small)["status"] == "waiting_for_funds", "$10.00 would fit, yet does not pass"
    )
    check(story.show_balance()["lockedBalance"] == 0, "waiting locks nothing")
    before = automatic(story)
    arriving = story.top_up(20_000, story.linked)
    story.wait_for_status(arriving["id"], "completed")
    for payment in (big, small):
        story.wait_for_payment(payment["id"], ["processing", "completed"])
    locks = [
        row["sourceId"] for row in story.ballast.each(calls.balance_transactions(type=["lock"]))
    ]
    check(
        locks[:2] == [small["id"], big["id"]], "the money came: first the big one, then the small"
    )
    check(read(story, given_up)["status"] == "canceled", "the canceled one stayed where it was")
    started = [funding for funding in automatic(story) if funding not in before]
    check(len(started) == 1, "below $200.00: the payment itself started one automatic funding")
    for payment in (big, small):
        story.wait_for_payment(payment["id"], ["completed"])
    story.wait_for_status(started[0], "completed")
    check(story.show_balance()["availableBalance"] == 42_000, "$420.00 after it arrived")


def second_person(story: Story) -> None:
    chapter("Above $100.00 a second person approves")
    password = secrets.token_urlsafe(16)
    person = ("--email", APPROVER, "--password", password, "--role", "approver")
    manage("create_user", "--tenant", story.tenant, *person)
    manage("set_payment_approval", "--tenant", story.tenant, "--above", "10000")
    payment = pay(story, 15_000)
    check(
        payment["requiresConfirmation"], "$150.00: set aside, and not sent before somebody agrees"
    )
    check(story.show_balance()["lockedBalance"] == 15_000, "$150.00 are locked meanwhile")
    page = "/dashboard/approvals/"
    link = wait_for("the e-mail", lambda: mailed_link(APPROVER, about="pay $150.00", below=page))
    approver = Person(APPROVER, password)
    path = page + link.rpartition("/")[2]
    check("$150.00" in approver.read(path), "the e-mail only says where: the approver signs in")
    approver.send(path, acting_for=story.tenant, decision="approve", typed_amount="150.00")
    paid = story.wait_for_payment(payment["id"], ["completed"])
    check(bool(paid["confirmedAt"]), "confirmed, sent, completed")
    check(story.show_balance()["availableBalance"] == 27_000, "$270.00 left")


def pay(story: Story, amount: int, *, wait: bool = False) -> Payment:
    call = calls.pay(amount, recipient=story.supplier, wait_for_funds=wait)
    return story.ballast.send(call)


def read(story: Story, payment: Payment) -> Payment:
    return story.ballast.send(calls.payment(payment["id"]))


def automatic(story: Story) -> list[str]:
    fundings = story.ballast.each(calls.funding_transactions(trigger="auto_funding"))
    return [funding["id"] for funding in fundings]


def account(number: str) -> BankAccountIn:
    return {
        "accountNumber": number,
        "routingNumber": ROUTING_NUMBER,
        "accountHolderName": "Supplier Inc",
        "accountHolderType": "business",
        "accountType": "checking",
    }
