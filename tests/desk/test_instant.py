"""Instant payments at the desk: each is shown message by message, and who reads them is known."""

from __future__ import annotations

import re

import pytest

from common.clock import utc_now
from common.days import day_of
from desk.home.attention import of_ach, of_instant
from desk.instant import lists, words
from desk.instant.lists import Filters
from networks.instant.models import Conversation, InstantLine, Message
from networks.instant.receiving.credits import MISMATCHES
from tenants.models import AuditEvent
from tests.balance.builders import fund
from tests.desk.instant import LIST, MESSAGES, PAYER, REASON, address, audited, shown, talk
from tests.desk.test_page_sizes import BYTES_MAX
from tests.networks.instant.builders import payment, waiting
from tests.networks.instant.life import wait
from tests.payments.builders import pay

__all__ = ["talk"]
pytestmark = pytest.mark.django_db
ROW = re.compile(r'<th scope="row"><a href="/admin/desk/instant/(\w+)/">')


def listed(browser, **query):
    """The ids on a page of the list, and where the next one begins."""
    answer = browser.get(LIST, query)
    found = ROW.findall(answer.content.decode())
    return found, answer.context["found"].page.older


def ids(*rows):
    return [row.pk for row in rows]


class TestOneConversation:
    def test_is_shown_message_by_message(self, desk, talk, acme):
        row = talk.pay(id="pay_01kf0000000000000000000000", tenant_id=acme.pk)
        talk.settle(row)

        page = shown(desk, address(row))

        assert page.index("Credit transfer (pacs.008)") < page.index("Status report (pacs.002)")
        for message in Message.objects.all():
            assert message.sha256 in page
            assert message.message_id in page
        for words_of in ("Final", "Handed over 1 time,", "settled", "$12.34", "011000015 ··0200"):
            assert words_of in page
        assert 'href="/admin/desk/payments/pay_01kf0000000000000000000000/"' in page
        assert f'href="/admin/desk/tenants/{acme.pk}/"' in page
        assert PAYER not in page

    def test_leads_to_the_money_that_it_waits_for(self, desk, talk):
        row = waiting(payment(), utc_now())

        page = shown(desk, address(row))

        assert "Waits until the rail" in page
        assert '<a class="desk-underlined" href="/admin/desk/positions/">' in page

    def test_leads_to_what_pays_it(self, desk, talk):
        row = talk.request_paid()
        money = Conversation.objects.get(kind="credit")

        assert address(money) in shown(desk, address(row))
        assert address(row) in shown(desk, address(money))

    def test_tells_a_fault_of_handing_over(self, desk, talk):
        row = talk.pay()
        Message.objects.update(fault="", fault_detail="timed out")

        assert '<p class="desk-tone--bad">timed out</p>' in shown(desk, address(row))

    def test_is_shown_in_pieces_if_it_is_long(self, desk, talk):
        row = talk.pay()
        for _ in range(lists.SHOWN + 1):
            wait(700)

        first = desk.get(address(row)).context["page"]
        rest = desk.get(address(row), {"after": first.after}).context["page"]

        assert (len(first.messages), len(rest.messages), rest.after) == (50, 2, None)

    def test_costs_the_same_however_long_it_is(self, desk, talk, django_assert_max_num_queries):
        row = talk.pay()
        for _ in range(lists.SHOWN + 1):
            wait(700)

        with django_assert_max_num_queries(22):
            desk.get(address(row))

    @pytest.mark.parametrize("wrong", ["inc_1", "pay_01kf0000000000000000000000"])
    def test_is_not_found_by_anything_else(self, desk, wrong):
        assert desk.get(f"{LIST}{wrong}/").status_code == 404

    def test_takes_the_power_to_see_messages(self, staff_with, talk):
        row = talk.pay()

        assert staff_with("instant.view_conversation").get(address(row)).status_code == 403


class TestList:
    def test_shows_the_newest_first(self, desk, talk):
        first, second = talk.pay(), talk.pay()

        assert listed(desk) == (ids(second, first), "")

    def test_of_fifty_takes_at_most_60_kb(self, desk, talk):
        talk.bank.submit_many([payment() for _ in range(lists.SHOWN)], now=utc_now())

        page = desk.get(LIST).content

        assert len(ROW.findall(page.decode())) == lists.SHOWN
        assert len(page) <= BYTES_MAX

    def test_says_how_to_begin(self, desk):
        assert "No instant payment yet" in shown(desk, LIST)

    def test_can_be_narrowed(self, desk, talk):
        paid, waits = talk.request_paid(), talk.pay()
        money = Conversation.objects.get(kind="credit")
        today = day_of(utc_now()).isoformat()

        assert listed(desk, kind="payment") == (ids(waits), "")
        assert listed(desk, status="final", day=today) == (ids(money, paid), "")
        assert listed(desk, rail="another") == ([], "")
        assert listed(desk, day="2026-01-05") == ([], "")
        assert listed(desk, review="open") == ([], "")

    def test_has_those_that_need_a_person(self, desk, talk):
        talk.pay()
        stray = talk.stray()

        assert listed(desk, review="open") == (ids(stray), "")
        assert listed(desk, review="open", kind="payment") == ([], "")
        assert "Nobody asked for it" in shown(desk, f"{LIST}?review=open")

    @pytest.mark.parametrize(
        "query",
        [
            {"kind": "x"},
            {"status": "x"},
            {"day": "x"},
            {"day": "9999-12-31"},
            {"before": "x"},
            {"rail": "\0"},
            {"q": "\0"},
        ],
    )
    def test_of_what_there_is_none_is_not_found(self, desk, query):
        assert desk.get(LIST, query).status_code == 404

    def test_is_paged(self, desk, talk):
        rows = [talk.pay() for _ in range(3)]

        first = lists.conversations(Filters(), before="", size=2)
        rest = lists.conversations(Filters(), before=first.page.older, size=2)

        assert [*first.page.rows, *rest.page.rows] == rows[::-1]
        assert (first.page.is_newest, rest.page.is_newest, rest.page.older) == (True, False, "")
        assert listed(desk, before=rows[1].pk) == (ids(rows[0]), "")

    def test_looks_through_so_many_and_says_so(self, talk):
        wanted = talk.request_paid()
        talk.pay(), talk.pay()
        asked = Filters(kind="request")

        first = lists.conversations(asked, before="", most=2)
        rest = lists.conversations(asked, before=first.page.older, most=2)

        assert (first.page.rows, first.looked_through) == ([], 2)
        assert (rest.page.rows, rest.looked_through, rest.page.older) == ([wanted], 0, "")


class TestSearch:
    def test_takes_every_id_of_a_payment(self, desk, talk, acme):
        talk.pay()
        row = talk.pay(tenant_id=acme.pk)
        names = {row.pk, row.instruction_id, row.end_to_end_id}
        names |= set(row.messages.values_list("message_id", flat=True))

        assert len(names) >= 3
        assert {name: listed(desk, q=f" {name} ")[0] for name in names} == {
            name: [row.pk] for name in names
        }

    def test_finds_messages_of_no_payment(self, desk, talk):
        stray = talk.answer_to_nothing()

        page = shown(desk, f"{LIST}?q={stray.message_id}")

        assert address(stray) in page
        assert "The message belongs to no payment" in page

    def test_of_nothing_says_so(self, desk, talk):
        talk.pay()

        assert "Nothing found" in shown(desk, f"{LIST}?q=nothing")


class TestFaulty:
    def test_messages_are_listed_with_their_fault(self, desk, talk):
        stray = talk.answer_to_nothing()
        garbage = talk.garbage(b"<Document/>")

        page = shown(desk, MESSAGES)

        assert page.index(address(garbage)) < page.index(address(stray))
        assert "It is about a message that we neither sent nor got" in page
        assert "The message is not in the network's envelope" in page

    def test_message_is_looked_at_by_a_person(self, desk, sam, talk):
        stray = talk.answer_to_nothing()
        assert "Resolve" in shown(desk, address(stray))

        desk.post(address(stray, "resolve/"), {"reason": REASON})

        stray.refresh_from_db()
        assert (stray.resolved_by, stray.resolution) == (sam.pk, REASON)
        assert audited("instant_message.") == ["instant_message.resolved"]
        assert address(stray) not in shown(desk, MESSAGES)
        assert address(stray) in shown(desk, f"{MESSAGES}?show=all")
        page = shown(desk, address(stray))
        assert "sam@ballast.example, " in page
        assert REASON in page

    def test_message_is_resolved_once(self, desk, kim, talk):
        stray = talk.answer_to_nothing()
        desk.post(address(stray, "resolve/"), {"reason": REASON})

        answer = kim.post(address(stray, "resolve/"), {"reason": "It was me"})

        assert "somebody may have resolved it" in answer.content.decode()
        stray.refresh_from_db()
        assert stray.resolution == REASON
        assert len(audited("instant_message.")) == 1

    def test_alone_can_be_resolved(self, desk, talk):
        row = talk.pay()
        message = row.messages.get()

        desk.post(address(message, "resolve/"), {"reason": REASON})

        message.refresh_from_db()
        assert (message.resolved_at, audited("instant_message.")) == (None, [])

    def test_list_of_what_there_is_not_is_not_found(self, desk):
        assert desk.get(MESSAGES, {"show": "x"}).status_code == 404
        assert desk.get(MESSAGES, {"before": "x"}).status_code == 404

    def test_list_is_read_by_who_may_not_resolve(self, staff_with, talk):
        stray = talk.answer_to_nothing()
        browser = staff_with("instant.view_message")

        assert "Resolve" not in shown(browser, address(stray))
        assert browser.post(address(stray, "resolve/"), {"reason": REASON}).status_code == 403


class TestTextOfAMessage:
    def test_is_read_without_account_numbers(self, desk, sam, talk):
        message = talk.pay().messages.get()
        assert "CdtTrfTxInf" not in shown(desk, address(message))

        page = desk.post(address(message, "read/"))

        text = page.context["text"]
        assert "<IntrBkSttlmAmt" in text
        assert PAYER not in text
        assert "***0200" in text
        assert "no-store" in page["Cache-Control"]
        (line,) = AuditEvent.objects.filter(action="instant_message.read")
        assert (line.actor_id, line.subject_id) == (sam.pk, str(message.pk))
        assert line.details["sha256"] == message.sha256

    def test_that_cannot_be_read_shows_no_digit(self, desk, talk):
        message = talk.garbage(b"<Document><Acct>1000200</Acct> of A1B2 <x></Document>")

        text = desk.post(address(message, "read/")).context["text"]

        assert text == "<Document><Acct>*******</Acct> of **** <x></Document>"

    def test_that_is_readable_but_repeats_a_number_is_masked_there(self, desk, talk):
        message = talk.pay(description=f"From {PAYER}").messages.get()

        text = desk.post(address(message, "read/")).context["text"]

        assert PAYER not in text

    def test_with_account_numbers_takes_both_powers_and_a_reason(self, desk, sam, talk):
        message = talk.pay().messages.get()
        where = address(message, "reveal/")
        assert PAYER not in shown(desk, where)
        assert audited("instant_message.") == []

        page = desk.post(where, {"reason": REASON})

        assert PAYER in page.context["text"]
        assert "no-store" in page["Cache-Control"]
        (line,) = AuditEvent.objects.filter(action="instant_message.numbers_revealed")
        assert line.actor_id == sam.pk

    @pytest.mark.parametrize(
        "held", ["funding.reveal_source_number", "payments.reveal_recipient_number"]
    )
    def test_with_account_numbers_is_refused_to_who_has_one_power(self, staff_with, talk, held):
        message = talk.pay().messages.get()
        browser = staff_with("instant.view_message", held)

        assert browser.post(address(message, "reveal/"), {"reason": REASON}).status_code == 403
        assert "With account numbers" not in shown(browser, address(message))


class TestWhatAPersonLooksAt:
    def test_says_what_to_do(self, desk, talk):
        stray = talk.stray()

        page = shown(desk, address(stray))

        assert "Nobody asked for it" in page
        assert "Find out whose money it is" in page
        assert "Told nobody: a person has it" in page

    def test_is_among_the_exceptions(self, desk, talk):
        stray = talk.stray()

        page = shown(desk, "/admin/desk/exceptions/")

        assert "Credit transfer to us: Nobody asked for it" in page
        assert address(stray) in page
        assert "Acme, 011000015 ··0200" in page
        (line,) = of_ach(now=utc_now())
        assert (line.tone, line.text) == ("warn", "Exceptions to decide: 1.")
        desk.post(address(stray, "resolve/"), {"reason": REASON, "seen": "no_request"})
        assert list(of_ach(now=utc_now())) == []

    def test_is_taken_by_somebody(self, desk, sam, kim, talk):
        stray = talk.stray()
        desk.post(f"/admin/desk/items/conversation/{stray.pk}/assign/", {"to": "me", "seen": 0})

        assert address(stray) in shown(desk, "/admin/desk/exceptions/?whose=mine")
        assert address(stray) not in shown(kim, "/admin/desk/exceptions/?whose=mine")
        assert address(stray) not in shown(kim, "/admin/desk/exceptions/?whose=unassigned")

    def test_is_resolved_with_a_reason(self, desk, sam, talk):
        stray = talk.stray()

        desk.post(address(stray, "resolve/"), {"reason": REASON, "seen": "no_request"})

        stray.refresh_from_db()
        assert (stray.resolved_by, stray.resolution) == (sam.pk, REASON)
        assert audited("instant_payment.") == ["instant_payment.resolved"]
        assert listed(desk, review="open") == ([], "")
        page = shown(desk, address(stray))
        assert "Find out whose money it is" not in page
        assert REASON in page

    def test_is_not_resolved_by_a_page_that_showed_another_reason(self, desk, talk):
        stray = talk.stray()

        answer = desk.post(address(stray, "resolve/"), {"reason": REASON, "seen": "silent"})

        assert "something new happened" in answer.content.decode()
        stray.refresh_from_db()
        assert (stray.resolved_at, audited("instant_payment.")) == (None, [])

    def test_is_resolved_once(self, desk, kim, talk):
        stray = talk.stray()
        for browser in (desk, kim):
            browser.post(address(stray, "resolve/"), {"reason": REASON, "seen": "no_request"})

        assert audited("instant_payment.") == ["instant_payment.resolved"]

    def test_has_words(self):
        assert set(words.REVIEWS) > set(MISMATCHES)


def test_the_home_counts_what_changed_nothing(desk, talk):
    assert list(of_instant()) == []
    stray = talk.answer_to_nothing()
    InstantLine.objects.update(trouble="unreachable", trouble_since=utc_now())

    faulty, line = of_instant()

    assert faulty.text == "Messages of instant networks with a fault: 1."
    assert faulty.href == MESSAGES
    assert line.text == "Instant networks that are not heard: 1."
    assert faulty.text in shown(desk, "/admin/")
    desk.post(address(stray, "resolve/"), {"reason": REASON})
    assert list(of_instant()) == [line]


def test_the_page_of_a_payment_leads_to_its_conversation(desk, talk, acme):
    fund(acme, 10_000)
    mine = pay(acme, 1_234)
    row = talk.pay(id=mine.pk, tenant_id=acme.pk)

    assert address(row) in shown(desk, f"/admin/desk/payments/{mine.pk}/")


def test_the_admin_leads_to_the_desk(desk, talk):
    row = talk.pay()
    message = row.messages.get()

    assert desk.get(f"/admin/instant/conversation/{row.pk}/change/")["Location"] == address(row)
    found = desk.get(f"/admin/instant/message/{message.pk}/change/")
    assert found["Location"] == address(message)
