"""What the chapters of the demo share: the tenant's world, its events, its approver."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import httpx
from ballast_client import Ballast, calls
from ballast_client.types import BalanceSummary, FundingTransaction, Payment

from demo.story.console import StoryError, check, dollars, say, wait_for
from demo.story.receiver import Receiver

ROUTING_NUMBER = "021000021"
APPROVER = "cfo@northwind.example"


class Story:
    """What the chapters hand on to each other."""

    tenant: str
    ballast: Ballast
    receiver: Receiver
    linked: str
    by_hand: str
    supplier: str

    def top_up(self, amount: int, source: str) -> FundingTransaction:
        return self.ballast.send(calls.top_up(amount, funding_source_id=source))

    def funding(self, funding_id: str) -> FundingTransaction:
        return self.ballast.send(calls.funding_transaction(funding_id))

    def wait_for_status(self, funding_id: str, status: str) -> FundingTransaction:
        def probe() -> FundingTransaction | None:
            found = self.funding(funding_id)
            return found if found["status"] == status else None

        return wait_for(f"{funding_id[:14]}… to be {status}", probe)

    def wait_for_payment(self, payment_id: str, statuses: Collection[str]) -> Payment:
        def probe() -> Payment | None:
            found = self.ballast.send(calls.payment(payment_id))
            return found if found["status"] in statuses else None

        return wait_for(f"{payment_id[:14]}… to be {' or '.join(statuses)}", probe)

    def show_balance(self) -> BalanceSummary:
        summary = self.ballast.send(calls.balance_summary())
        say(
            f"balance: {dollars(summary['availableBalance'])} available, "
            f"{dollars(summary['pendingBalance'])} pending, "
            f"{dollars(summary['lockedBalance'])} locked"
        )
        return summary


def expect_event(story: Story, payment_id: str, type: str) -> dict[str, Any]:
    item = wait_for(
        f"the event {type}", lambda: story.receiver.find(payment_id=payment_id, type=type)
    )
    check(
        item.hex_signature_ok and item.standard_signature_ok,
        f"{type}: both signatures verified (one by the standardwebhooks library)",
    )
    return item.event


def approve(link: str, amount: str) -> None:
    """What the approver does: open the link, type the amount, press the button."""
    with httpx.Client(timeout=15, follow_redirects=True) as browser:
        page = browser.get(link).text
        check(f"${amount}" in page, f"the page shows ${amount} and asks to type it")
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        if token is None:
            raise StoryError("the confirmation page has no form")
        form = {"csrfmiddlewaretoken": token[1], "decision": "approve", "typed_amount": amount}
        answer = browser.post(link, data=form, headers={"Referer": link})
    check(answer.status_code == 200, "the approver typed the amount and approved")
