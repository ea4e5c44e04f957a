"""The desk's pages of instant payments: readable, silent, never too wide."""

from __future__ import annotations

import pytest

from common.clock import utc_now
from desk import doers
from desk.instant import asks
from networks.instant.models import Conversation, ReturnAsk
from tenants import actors
from tests.browser.conftest import in_every_look
from tests.browser.test_desk_ach import kim, sam
from tests.browser.test_instant import looked_at
from tests.desk.instant import LIST, MESSAGES, Talk, address
from tests.networks.instant.life import hear, wait

__all__ = ["kim", "sam"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(600),
]


@pytest.fixture
def pages(transactional_db, kim, acme, tmp_path):
    """Payments in every state of mind, messages with faults, and money that is asked back."""
    talk = Talk(tmp_path)
    paid = talk.request_paid(tenant_id=acme.pk, description="Top-up of November")
    silent = talk.pay(tenant_id=acme.pk, amount=98_765_432_1)
    for _ in range(12):
        wait(700)
    stray = talk.stray(amount=4_200)
    fault = talk.answer_to_nothing()
    talk.garbage(b"<Document>1000200</Document>")
    now = utc_now()
    money = talk.operator.transfer(now=now)
    talk.money_comes(money, now)
    for _ in range(2):
        talk.operator.say(talk.operator.ask_back(money, now=now))
    hear()
    asked, open_one = ReturnAsk.objects.order_by("pk")
    doer = doers.person(actors.staff(kim.pk))
    why = "Their bank called at nine, and their customer confirmed it in writing"
    asks.propose(ask=asked, answer=asks.GIVES, reason=why, doer=doer, now=now)
    credit = Conversation.objects.get(kind="credit", original=paid)
    back = f"{LIST}returns/"
    return [
        LIST,
        f"{LIST}?review=open",
        address(paid),
        address(silent),
        address(stray),
        address(stray, "resolve/"),
        address(credit),
        MESSAGES,
        f"{MESSAGES}?show=all",
        address(fault),
        address(fault, "reveal/"),
        f"{back}{asked.pk}/",
        f"{back}{asked.pk}/decide/",
        f"{back}{open_one.pk}/",
        f"{back}{open_one.pk}/propose/",
        "/admin/desk/exceptions/",
    ]


@in_every_look
def test_pages(visit, sam, pages, scheme, viewport):
    visitor = visit(sam, scheme=scheme, viewport=viewport)

    assert looked_at(visitor, pages, f"{scheme}-{viewport['width']}") == {}


@in_every_look
def test_the_text_of_a_message(visit, sam, pages, scheme, viewport):
    visitor = visit(sam, scheme=scheme, viewport=viewport)
    visitor.goto(pages[9])

    visitor.page.get_by_role("button", name="Show the message").click()

    text = visitor.page.get_by_role("group", name="Message").inner_text()
    assert "<OrgnlMsgId>" in text
    assert visitor.sideways_scroll() == 0
    assert visitor.barriers() == []
