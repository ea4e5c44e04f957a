"""Another bank asks for money back: two people answer, and everybody sees what they agree to."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from common.clock import utc_now
from desk.instant import asks
from networks.instant.giving_back import REASONS
from networks.instant.models import Conversation, ReturnAsk
from networks.instant.models.rails import InstantVersion
from tenants.models import AuditEvent, User
from tests.builders import browser_of, make_staff
from tests.desk.exceptions import shown
from tests.desk.instant import LIST, Talk, address, audited, talk
from tests.networks.instant.builders import request
from tests.networks.instant.life import hear, wait
from tests.payments.builders import fund

__all__ = ["talk"]
pytestmark = pytest.mark.django_db
WHY = "Their bank called, and the payer confirmed it"


@pytest.fixture
def ask(talk: Talk) -> ReturnAsk:
    """A request of ours was paid, and the payer's bank asks for the money back."""
    return asked_back(talk)


def asked_back(talk: Talk) -> ReturnAsk:
    now = utc_now()
    money = talk.operator.transfer(now=now)
    talk.money_comes(money, now)
    talk.operator.say(talk.operator.ask_back(money, now=now))
    hear()
    return ReturnAsk.objects.latest("pk")


def paid_back(talk: Talk, acme: Any) -> ReturnAsk:
    """A request of acme's for 12.34 was paid, and the payer's bank asks for the money back."""
    now = utc_now()
    talk.bank.submit_many([request(now, tenant_id=acme.pk)], now=now)
    asked: Any = talk.operator.taken()[0]
    money = talk.operator.payment_of(asked, now=now)
    talk.money_comes(money, now)
    talk.operator.say(talk.operator.ask_back(money, now=now))
    hear()
    return ReturnAsk.objects.latest("pk")


def at(ask: ReturnAsk, part: str = "") -> str:
    return f"{LIST}returns/{ask.pk}/{part}"


def propose(browser: Any, ask: ReturnAsk, answer: str = "give", **typed: Any) -> str:
    reply = browser.post(at(ask, "propose/"), {"answer": answer, "reason": WHY, **typed})
    ask.refresh_from_db()
    return html.unescape(reply.content.decode())


def decide(browser: Any, ask: ReturnAsk, decision: str = "approve", **typed: Any) -> str:
    """By the page that shows what is proposed now, and then the page that follows."""
    sent = {"decision": decision, "seen": ask.proposal, **typed}
    reply = browser.post(at(ask, "decide/"), sent, follow=True)
    ask.refresh_from_db()
    return html.unescape(reply.content.decode())


def said(talk: Talk) -> list[tuple[str, str]]:
    """What the network was told since."""
    wait(0)
    return [(each.kind, str(getattr(each, "status", ""))) for each in talk.operator.taken()]


class TestTwoPeople:
    def test_give_the_money_back(self, desk, kim, sam, talk, ask):
        assert "Propose an answer" in shown(desk, at(ask))
        propose(desk, ask)
        assert "Decide" not in shown(desk, at(ask))
        page = shown(kim, at(ask, "decide/"))
        assert "Give $12.34 back" in page
        assert WHY in page

        decide(kim, ask)

        assert (ask.status, ask.gives_back, ask.proposed_by) == ("given_back", True, sam.pk)
        assert sorted(said(talk)) == [("camt.029", "IPAY"), ("pacs.004", "")]
        assert audited("return_ask.") == ["return_ask.proposed", "return_ask.approved"]
        assert "Approved by kim@ballast.example" in shown(desk, at(ask))
        back = Conversation.objects.get(kind="give_back")
        assert address(back) in shown(desk, address(ask.conversation))

    @pytest.mark.parametrize(("has", "falls"), [(1_233, True), (1_234, False)])
    def test_see_whose_balance_it_is_taken_from(self, desk, kim, talk, acme, has, falls):
        fund(acme, has)
        ask = paid_back(talk, acme)
        propose(desk, ask)

        page = shown(kim, at(ask, "decide/"))

        assert "of Acme" in page
        assert f"${has / 100:.2f} is available there now" in page
        assert ("giving back takes it below zero" in page) is falls
        decide(kim, ask)
        assert "is available there now" not in shown(desk, at(ask))

    def test_need_no_news_of_what_they_gave_back(self, desk, kim, talk, ask):
        propose(desk, ask)
        decide(kim, ask)
        back = Conversation.objects.get(kind="give_back")

        assert "Told to the rest of Ballast" not in shown(desk, address(back))
        assert "Told to the rest of Ballast" in shown(desk, address(ask.conversation))

    def test_keep_it_for_a_reason(self, desk, kim, talk, ask):
        propose(desk, ask, "LEGL")

        decide(kim, ask)

        assert (ask.status, ask.reason_code) == ("refused", "LEGL")
        assert said(talk) == [("camt.029", "RJCR")]
        assert "Keep it. The law says no" in shown(desk, at(ask))
        (line,) = AuditEvent.objects.filter(action="return_ask.proposed")
        assert (line.details["givesBack"], line.details["code"]) == (False, "LEGL")

    def test_may_disagree(self, desk, kim, talk, ask):
        propose(desk, ask)

        decide(kim, ask, "reject")

        assert (ask.status, ask.gives_back, said(talk)) == ("open", None, [])
        assert audited("return_ask.") == ["return_ask.proposed", "return_ask.rejected"]


class TestOnePerson:
    @pytest.mark.parametrize("decision", ["approve", "reject", ""])
    def test_does_not_decide_about_their_own(self, desk, talk, ask, decision):
        propose(desk, ask)
        User.objects.filter(email="sam@ballast.example").update(email="sammy@ballast.example")

        decide(desk, ask, decision)

        assert (ask.status, said(talk)) == ("proposed", [])
        assert audited("return_ask.") == ["return_ask.proposed"]
        assert "You proposed it" in shown(desk, at(ask, "decide/"))

    def test_takes_back_what_they_proposed(self, desk, talk, ask):
        propose(desk, ask)

        desk.post(at(ask, "take-back/"), {"seen": ask.proposal})

        ask.refresh_from_db()
        assert ask.status == "open"
        assert audited("return_ask.") == ["return_ask.proposed", "return_ask.taken_back"]

    def test_does_not_take_back_what_others_proposed(self, desk, kim, ask):
        propose(desk, ask)

        kim.post(at(ask, "take-back/"), {"seen": ask.proposal})

        ask.refresh_from_db()
        assert ask.status == "proposed"
        assert audited("return_ask.") == ["return_ask.proposed"]

    def test_whose_account_is_younger_than_the_proposal_does_not_approve(self, desk, talk, ask):
        propose(desk, ask)
        newcomer = browser_of(make_staff("new@ballast.example", since=utc_now()))

        page = decide(newcomer, ask)

        assert "Your account is younger than the proposal." in page
        assert (ask.status, said(talk)) == ("proposed", [])

    def test_who_left_has_nothing_approved(self, desk, kim, sam, talk, ask):
        propose(desk, ask)
        User.objects.filter(pk=sam.pk).update(is_active=False)

        page = decide(kim, ask)

        assert "does not work here any more" in page
        assert (ask.status, said(talk)) == ("proposed", [])


class TestStalePages:
    def test_agree_to_nothing_that_they_did_not_show(self, desk, kim, talk, ask):
        propose(desk, ask, "CUST")
        seen = ask.proposal
        desk.post(at(ask, "take-back/"), {"seen": seen})
        propose(desk, ask, "give")

        page = decide(kim, ask, seen=seen)

        assert "Another answer was proposed meanwhile." in page
        assert (ask.status, said(talk)) == ("proposed", [])

    def test_without_what_they_showed_agree_to_nothing(self, desk, kim, talk, ask):
        propose(desk, ask)

        decide(kim, ask, seen="")

        assert (ask.status, said(talk)) == ("proposed", [])

    def test_sent_twice_act_once(self, desk, kim, talk, ask):
        propose(desk, ask)
        seen = ask.proposal
        decide(kim, ask, seen=seen)

        page = decide(kim, ask, seen=seen)

        assert "or it was sent" in page
        assert sorted(said(talk)) == [("camt.029", "IPAY"), ("pacs.004", "")]
        assert len(audited("return_ask.")) == 2

    def test_propose_once(self, desk, kim, ask):
        propose(desk, ask)

        assert "Somebody has said what the answer is to be." in propose(kim, ask, "CUST")
        assert audited("return_ask.") == ["return_ask.proposed"]


class TestForms:
    @pytest.mark.parametrize("typed", [{"answer": ""}, {"answer": "XXXX"}, {"reason": " "}])
    def test_take_one_of_the_answers_and_a_reason(self, desk, ask, typed):
        propose(desk, ask, **{"answer": "give", **typed})

        assert (ask.status, audited("return_ask.")) == ("open", [])

    @pytest.mark.parametrize("name", ["ira_1", "%00", "inc_01kf0000000000000000000000"])
    def test_of_what_is_not_there_are_not_found(self, desk, name):
        assert desk.get(f"{LIST}returns/{name}/").status_code == 404

    def test_of_a_rail_without_terms_are_refused(self, desk, kim, talk, ask):
        propose(desk, ask)
        InstantVersion.objects.update(account_token="nothing that opens")

        assert "call a developer" in decide(kim, ask)
        assert ask.status == "proposed"

    @pytest.mark.parametrize("held", ["propose", "approve"])
    def test_each_need_their_power(self, desk, staff_with, ask, held):
        propose(desk, ask)
        browser = staff_with("instant.view_returnask", f"instant.{held}_returnask")

        found = [browser.get(at(ask, part)).status_code for part in ("propose/", "decide/")]

        assert found == ([200, 403] if held == "propose" else [403, 200])

    def test_are_offered_to_nobody_who_only_looks(self, staff_with, ask):
        page = shown(staff_with("instant.view_returnask"), at(ask))

        assert "It was sent twice (DUPL)" in page
        assert "Propose an answer" not in page


class TestList:
    def test_has_them_until_they_are_answered(self, desk, kim, ask):
        page = shown(desk, "/admin/desk/exceptions/")
        assert "Asked back: It was sent twice (DUPL)" in page
        assert at(ask) in page
        propose(desk, ask)
        assert "Another person than who proposed it" in shown(desk, "/admin/desk/exceptions/")

        decide(kim, ask)

        assert "Asked back" not in shown(desk, "/admin/desk/exceptions/")


def test_every_reason_to_keep_it_is_offered():
    page = str(asks.AnswerForm()["answer"])

    assert re.findall(r'<option value="(\w*)"', page) == ["", asks.GIVES, *REASONS]
