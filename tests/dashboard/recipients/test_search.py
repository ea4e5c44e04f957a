"""What the search box of the payment form finds."""

from __future__ import annotations

import pytest

from payments import selectors as payments
from payments.models import Recipient
from payments.services import recipients
from tenants.actors import SYSTEM
from tests.builders import NOW
from tests.payments.builders import account

PATH = "/dashboard/recipients/search"


def make(tenant, number, holder, nickname=""):
    details = account(number, holder_name=holder)
    return recipients.save(
        tenant_id=tenant.pk, details=details, nickname=nickname, actor=SYSTEM, now=NOW
    )


@pytest.fixture
def people(acme, rival):
    make(acme, "11116789", "Supplier LLC", "Paper mill")
    make(acme, "22226700", "Al Smith")
    make(acme, "33334444", "Royal Paper Inc")
    make(acme, "44446789", "100% Cotton_Co")
    make(rival, "55556789", "Paper of the rival")


def asked(browser, text):
    return browser.get(PATH, {"q": text})


def names(browser, text):
    return [one["name"] for one in asked(browser, text).json()["recipients"]]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ["100% Cotton_Co", "Al Smith", "Paper mill", "Royal Paper Inc"]),
        ("al", ["Al Smith", "Royal Paper Inc"]),  # what begins with it comes first
        ("PAPER", ["Paper mill", "Royal Paper Inc"]),
        ("supplier", ["Paper mill"]),  # the name on the account
        ("6789", ["100% Cotton_Co", "Paper mill"]),
        ("67", ["100% Cotton_Co", "Al Smith", "Paper mill"]),
        ("89", []),  # only the beginning of the four digits
        ("1111", []),  # no other digit of the number
        ("paper 6789", ["Paper mill"]),
        ("Paper mill, JPMorgan Chase ··6789", ["Paper mill"]),  # as a choice reads
        ("%", ["100% Cotton_Co"]),
        ("_", ["100% Cotton_Co"]),
        ("nobody", []),
        ("·", ["100% Cotton_Co", "Al Smith", "Paper mill", "Royal Paper Inc"]),
        ("\0", []),
        ("p" * 101, []),
        ("' OR 1=1 --", []),
        ("paper " * 5 + "nobody", ["Paper mill", "Royal Paper Inc"]),  # five words count
        ("paper " * 4 + "nobody", []),
    ],
    ids=range(19),
)
def test_finds_by_names_and_last_four_digits(people, dana_browser, text, found):
    assert names(dana_browser, text) == found


def test_says_name_holder_bank_and_last_four_digits_and_no_number(people, acme, dana_browser):
    response = asked(dana_browser, "mill")

    assert response.json() == {
        "recipients": [
            {
                "id": Recipient.objects.get(nickname="Paper mill").pk,
                "name": "Paper mill",
                "holder": "Supplier LLC",
                "account": "JPMorgan Chase\N{NO-BREAK SPACE}··6789",
            }
        ],
        "more": False,
    }
    assert "11116789" not in response.content.decode()
    assert "no-store" in response["Cache-Control"]


def test_finds_nobody_who_was_removed(people, acme, dana_browser):
    mill = Recipient.objects.get(nickname="Paper mill")
    recipients.remove(tenant_id=acme.pk, recipient_id=mill.pk, actor=SYSTEM, now=NOW)

    assert names(dana_browser, "mill") == []


def test_says_that_there_are_more(acme, dana_browser):
    for number in range(21):
        make(acme, f"9000{number:02}", f"Payee {number:02}")

    found = asked(dana_browser, "payee").json()

    assert [one["name"] for one in found["recipients"]] == [f"Payee {n:02}" for n in range(20)]
    assert found["more"] is True
    assert asked(dana_browser, "payee 07").json()["more"] is False


def test_finds_nobody_of_another_tenant(people, ravi, sign_in):
    assert names(sign_in(ravi), "") == ["Paper of the rival"]


@pytest.mark.parametrize("text", ["", "payee", "4321"])
def test_reads_the_newest_only(acme, dana_browser, monkeypatch, text):
    monkeypatch.setattr(payments, "SEARCHED_MAX", 2)
    for number in range(3):
        make(acme, f"900{number}4321", f"Payee {number}")

    assert names(dana_browser, text) == ["Payee 1", "Payee 2"]
