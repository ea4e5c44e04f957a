"""What cannot be right: a named fault, the message is kept, and nothing moves."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from common.clock import utc_now
from networks.instant import rails
from networks.instant.iso import writer
from networks.instant.models import Conversation, InstantEvent, Message
from networks.instant.receiving import applying, faults, listening, storing
from tests.networks.instant.builders import RAIL, make_rail, payment, request
from tests.networks.instant.life import hear, kinds, the
from tests.networks.instant.operator import only

pytestmark = pytest.mark.django_db

SETTLED = {"rtp": "ACTC", "fednow": "ACSC"}


@pytest.fixture
def order(operator, bank, now):
    told = payment()
    bank.submit_many([told], now=now)
    return only(operator.taken())


def the_fault():
    message = Message.objects.get(status="faulty")
    assert message.fault_detail
    return message.fault


def test_what_cannot_be_read_is_kept(operator, order, bank):
    bomb = b'<!DOCTYPE a [<!ENTITY b "b">]><a>&b;</a>'
    operator.put(bomb)
    operator.put(bomb)
    operator.put(b"\xff\xfe not XML")

    assert hear() == 3

    kept = Message.objects.filter(direction="in").order_by("pk")
    assert [(each.fault, each.copies) for each in kept] == [
        ("doctype_refused", 1),
        ("xml_malformed", 0),
    ]
    assert kept[0].content == bomb
    assert list(operator.home.glob("inbound/*")) == []


def test_a_message_that_has_no_canonical_form_keeps_no_other(operator, order, bank, now):
    """Schemas let a declaration of a name space pass that nobody uses."""
    content = operator.content(operator.transfer(now=now))
    bent = content.replace(b" xmlns", b' xmlns:x="relative/one" xmlns', 1)
    operator.put(bent)
    operator.say(operator.report(order, SETTLED[operator.name], now=now))

    assert hear() == 2

    assert (the_fault(), kinds(bank)) == ("xml_malformed", ["settled", "final"])
    assert Message.objects.get(status="faulty").content == bent


def test_what_a_former_release_called_otherwise_is_counted(operator, now):
    rail = rails.current(RAIL)
    storing.store(rail, b"<a/>", now=now)
    Message.objects.update(fault="version_unsupported")

    storing.store(rail, b"<a/>", now=now)

    assert Message.objects.get().copies == 1


def test_an_answer_to_nothing(operator, order, now):
    stranger = replace(order, message_id=operator.message_id(now))
    operator.say(operator.report(stranger, SETTLED[operator.name], now=now))
    hear()

    assert (the_fault(), InstantEvent.objects.count()) == ("answers_nothing", 0)


def test_an_answer_to_another_rails_message(operator, order, now, tmp_path):
    make_rail(tmp_path / "other", name="other", profile=operator.name)
    stranger = operator.report(order, SETTLED[operator.name], now=now)
    other = replace(operator, home=tmp_path / "other")
    other.say(stranger)

    listening.listen("other", seconds=0, now=utc_now())

    assert (the_fault(), InstantEvent.objects.count()) == ("of_another_rail", 0)


def test_an_answer_with_the_id_of_another_tenants_payment(operator, order, bank, now):
    other = payment(tenant_id="ten_rival")
    bank.submit_many([other], now=now)
    operator.say(
        operator.report(order, SETTLED[operator.name], now=now, original_end_to_end_id=other.id)
    )
    hear()

    assert (the_fault(), InstantEvent.objects.count()) == ("ids_disagree", 0)


def test_a_message_of_tomorrow(operator, order, now):
    later = now + timedelta(days=1)
    operator.say(operator.report(order, SETTLED[operator.name], now=later))
    hear()

    assert (the_fault(), InstantEvent.objects.count()) == ("clock_ahead", 0)


@pytest.mark.parametrize("is_duplicate", [False, True])
def test_a_message_that_was_ahead_of_our_clock_counts_when_it_comes_again(
    operator, order, now, bank, is_duplicate
):
    rail, slow = rails.current(RAIL), now - timedelta(hours=1)
    content = operator.content(operator.report(order, SETTLED[operator.name], now=now))
    again = writer.duplicate(content, rail.profile) if is_duplicate else content
    for each in (content, again):
        storing.store(rail, each, now=slow)
    assert (the_fault(), Message.objects.get(direction="in").copies) == ("clock_ahead", 1)

    for _ in range(2):
        operator.put(again)
    hear()

    assert kinds(bank) == ["settled", "final"]
    first, second = Message.objects.filter(direction="in").order_by("pk")
    assert (first.status, first.content, first.copies) == ("faulty", content, 1)
    assert first.fault_detail == (
        "It was made at a time that is still to come. It was judged anew when it came again"
    )
    assert (second.status, second.fault, second.copies) == ("applied", "", 1)


def test_money_that_was_ahead_of_our_clock_is_known_by_its_id(operator, now):
    money = operator.transfer(now=now)
    storing.store(rails.current(RAIL), operator.content(money), now=now - timedelta(hours=1))
    operator.say(money, operator.report(money, SETTLED[operator.name], now=now))
    hear()

    assert Conversation.objects.get().status == "final"


def test_an_old_message_is_late_and_counts(operator, order, now, bank):
    operator.say(operator.report(order, SETTLED[operator.name], now=now - timedelta(hours=3)))
    hear()

    assert kinds(bank) == ["settled", "final"]


def test_an_answer_to_what_is_over(operator, bank, now):
    told = request(now, expires_at=now - timedelta(seconds=2))
    bank.submit_many([told], now=now)
    asked = only(operator.taken())
    hear()
    assert the(told.id).status == "expired"

    operator.say(operator.answer(asked, "ACTC", now=now))
    hear()

    assert (the_fault(), kinds(bank)) == ("too_late", ["rejected EXPIRED"])


def test_a_message_that_breaks_us_keeps_no_other(operator, order, bank, now):
    """Whatever is wrong with it, such as a key that is gone: it is tried some times, and then a
    person looks."""
    storing.store(rails.current(RAIL), operator.content(operator.transfer(now=now)), now=now)
    Message.objects.filter(direction="in").update(content_token="gone:token")
    operator.say(operator.report(order, SETTLED[operator.name], now=now))

    hear()
    assert kinds(bank) == ["settled", "final"]
    for _ in applying.RETRY_AFTER:
        Message.objects.filter(status="received").update(next_attempt_at=now)
        hear()

    assert the_fault() == "not_applied"


def test_every_fault_has_a_sentence():
    for code in faults.SENTENCES:
        assert faults.Fault(code).detail == faults.SENTENCES[code]
