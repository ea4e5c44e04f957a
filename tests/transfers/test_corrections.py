"""A bank corrects an account: the same for money in and money out."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import DatabaseError, transaction

from balance import invariants
from networks.base import AccountType, Correction, EventKind, NetworkUnavailable
from networks.sandbox.bank import SandboxBank
from networks.sandbox.models import SandboxInstruction
from payments.services import orders, recipients
from payments.services.orders import Order
from tenants.actors import SYSTEM
from tenants.models import AuditEvent
from tests.builders import NOW
from tests.database import owner
from tests.networks.scripted import message
from tests.payments.builders import account, fund
from tests.transfers.directions import DIRECTIONS
from transfers import submission
from transfers.accounts import unsound
from transfers.corrections import KNOWN
from transfers.inbox import arrivals, corrections, messages, reviews
from transfers.inbox.models import InboundEvent, InboundOutcome

APPLIED, REVIEW = InboundOutcome.APPLIED, InboundOutcome.REVIEW
NUMBER, OTHER = "000123456789", "000777000123"
ROUTING, OTHER_ROUTING = "021000021", "011000015"
CANARY = "000777"


@pytest.fixture(params=DIRECTIONS)
def money(request):
    return DIRECTIONS[request.param]


@pytest.fixture(autouse=True)
def books_balance(db):
    """After every story the books agree with it."""
    yield
    assert invariants.check(now=NOW, full=True).findings == []


class CorrectingBank(SandboxBank):
    """The sandbox bank, which keeps what it was handed, and corrects what the test says."""

    def __init__(self):
        self.handed_over = []
        self.answers = True
        self.knows = {}
        self.events = []
        self.told = []

    def corrected(self, event_id, *, outcome, note, now):
        if not self.answers:
            raise NetworkUnavailable("down")
        self.told.append((event_id, str(outcome), note))

    def submit_many(self, instructions, *, now):
        self.handed_over += instructions
        answers = super().submit_many(instructions, now=now)
        if not self.answers:
            raise NetworkUnavailable("lost")
        return answers

    def correction(self, event_id):
        return self.knows.get(event_id)

    def poll(self, *, now, limit, id_prefix=""):
        return [*self.events, *super().poll(now=now, limit=limit, id_prefix=id_prefix)]

    def acknowledge(self, event_ids):
        known = set(event_ids)
        self.events = [event for event in self.events if event.id not in known]
        super().acknowledge(known)

    def correct(self, row, code="C01", *, id="nev-c", said=None, **values):
        """Have the bank say it about a row."""
        self.knows[id] = said or Correction(code=code, **values)
        self.events.append(message(row, EventKind.CORRECTED, id=id, code=code))

    @property
    def numbers(self):
        return [each.account.account_number for each in self.handed_over]


@pytest.fixture
def bank(connect):
    bank = CorrectingBank()
    connect(bank)
    return bank


@pytest.fixture
def sent(acme, money, bank):
    """Of money out: to a recipient on the list, to whom more payments go."""
    if money.transfer.direction == "in":
        row = money.make(acme, to=NUMBER)
    else:
        saved = recipients.save(tenant_id=acme.pk, details=account(), actor=SYSTEM, now=NOW)
        fund(acme, 10_000)
        order = Order(amount=10_000, recipient=saved.pk, method="ach_credit")
        row = orders.place(tenant_id=acme.pk, mode="sandbox", order=order, actor=SYSTEM, now=NOW)
    money.run_due(now=NOW)
    return read(row)


def read(row):
    return type(row).objects.get(pk=row.pk)


def account_of(money, row):
    return money.transfer.account(read(row))


def judged(money, id="nev-c", now=NOW):
    messages.process(money.transfer, now=now)
    event = InboundEvent.objects.get(event_id=id)
    return event.outcome, event.note


def again(money, row):
    """Another row of the same account."""
    if money.transfer.direction == "in":
        return money.make(row.tenant, to=NUMBER)
    fund(row.tenant, 10_000)
    order = Order(amount=10_000, recipient=row.recipient_id, method="ach_credit")
    return orders.place(tenant_id=row.tenant_id, mode="sandbox", order=order, actor=SYSTEM, now=NOW)


def test_the_sandbox_bank_shows_it(acme, money):
    row = money.make(acme, to="60001")
    money.run_due(now=NOW)

    account = account_of(money, row)
    assert read(row).status == money.completed
    assert (account.version, account.corrected_at) == (2, NOW)
    assert account.in_clear().account_number == "70001"
    first, second = account.versions.order_by("number")
    assert (first.code, first.in_clear().account_number) == ("", "60001")
    assert (second.code, second.in_clear().account_number) == ("C01", "70001")
    assert second.event.instruction_id == row.pk


def test_a_number_that_an_earlier_release_kept_as_it_was_typed_is_no_other(acme, money, bank):
    """It went out in upper case, and its bank repeats what went out."""
    row = money.make(acme, to="AB12")
    kept = account_of(money, row)
    kept.encrypt("ab12")
    kept.save(update_fields=("account_number_token",))
    money.run_due(now=NOW)
    bank.correct(row, account_number="AB12")

    assert judged(money) == (APPLIED, KNOWN)
    assert account_of(money, row).version == 1


@pytest.mark.parametrize(
    ("code", "values"),
    [
        ("C01", {"account_number": OTHER}),
        ("C02", {"routing_number": OTHER_ROUTING}),
        ("C03", {"routing_number": OTHER_ROUTING, "account_number": OTHER}),
        ("C05", {"account_type": AccountType.SAVINGS}),
        ("C06", {"account_number": OTHER, "account_type": AccountType.SAVINGS}),
        (
            "C07",
            {
                "routing_number": OTHER_ROUTING,
                "account_number": OTHER,
                "account_type": AccountType.SAVINGS,
            },
        ),
    ],
)
def test_corrects_what_the_code_says_and_nothing_else(money, bank, sent, code, values):
    before = account_of(money, sent).in_clear()
    everything = {
        "routing_number": OTHER_ROUTING,
        "account_number": OTHER,
        "account_type": AccountType.SAVINGS,
        "name": "SOMEBODY ELSE",
    }
    bank.correct(sent, code, **everything)

    assert judged(money) == (APPLIED, "")

    account = account_of(money, sent)
    assert vars(account.in_clear()) == vars(before) | values
    assert unsound(account, is_typed=True) == ""
    assert [unsound(each, is_typed=True) for each in account.versions.all()] == ["", ""]
    assert account.versions.get(number=1).in_clear() == before


def test_what_is_sent_from_then_on_has_it_and_what_was_sent_keeps_its_own(money, bank, sent):
    bank.correct(sent, account_number=OTHER)
    later = again(money, sent)
    judged(money)

    money.run_due(now=NOW)

    assert bank.numbers == [NUMBER, OTHER]
    assert (read(sent).account_version, read(later).account_version) == (1, 2)
    assert read(later).status == money.completed


def test_a_repeat_is_what_it_was_at_first(acme, money, bank, sent):
    """Its answer was lost, and the account was corrected before it was tried again."""
    row = again(money, sent)
    bank.answers = False
    submission.submit_due(money.transfer, now=NOW)
    bank.answers = True
    bank.correct(sent, account_number=OTHER)
    assert judged(money) == (APPLIED, "")

    money.run_due(now=NOW + timedelta(minutes=1))

    assert bank.numbers == [NUMBER] * 3
    assert read(row).status == money.completed
    assert SandboxInstruction.objects.count() == 2


def test_what_was_never_handed_over_goes_out_with_the_newest(money, bank, sent):
    """It is due, and waits for its turn."""
    row = again(money, sent)
    type(row).objects.filter(pk=row.pk).update(next_attempt_at=NOW + timedelta(hours=1))
    bank.correct(sent, account_number=OTHER)
    assert judged(money) == (APPLIED, "")

    money.run_due(now=NOW + timedelta(hours=2))

    assert bank.numbers == [NUMBER, OTHER]


class TestSeveral:
    def test_the_same_again_changes_nothing(self, money, bank, sent):
        bank.correct(sent, account_number=OTHER)
        bank.correct(sent, account_number=OTHER, id="nev-again")

        assert judged(money) == (APPLIED, "")
        assert judged(money, "nev-again") == (APPLIED, "the account has these details already")
        assert account_of(money, sent).version == 2

    def test_another_about_what_went_out_before_goes_to_a_person(self, money, bank, sent):
        bank.correct(sent, account_number=OTHER)
        bank.correct(sent, account_number="000111222333", id="nev-other")

        assert judged(money) == (APPLIED, "")
        assert judged(money, "nev-other") == (
            REVIEW,
            "the account was corrected since, to something else",
        )
        assert account_of(money, sent).in_clear().account_number == OTHER

    def test_one_about_the_corrected_account_corrects_it_again(self, money, bank, sent):
        bank.correct(sent, account_number=OTHER)
        later = again(money, sent)
        judged(money)
        money.run_due(now=NOW)
        bank.correct(later, account_number=NUMBER, id="nev-back")

        assert judged(money, "nev-back") == (APPLIED, "")

        account = account_of(money, sent)
        assert (account.version, account.in_clear().account_number) == (3, NUMBER)
        assert account.versions.count() == 3


@pytest.mark.parametrize(
    ("said", "note"),
    [
        (None, "its network has no corrected data"),
        (Correction(code="C02"), "its network has no corrected data"),
        (Correction(code="C03"), "the bank names no routing number and no account number"),
        (
            Correction(code="C03", routing_number="021000022", account_number=OTHER),
            "the corrected routing number cannot be one",
        ),
        (
            Correction(code="C03", routing_number="000000000", account_number=OTHER),
            "the corrected routing number cannot be one",
        ),
        (
            Correction(code="C03", routing_number=OTHER_ROUTING, account_number="000"),
            "the corrected account number cannot be one",
        ),
        (
            Correction(code="C03", routing_number=OTHER_ROUTING, account_number="4111111111111111"),
            "the corrected account number cannot be one",
        ),
    ],
)
def test_what_cannot_be_goes_to_a_person_and_changes_nothing(money, bank, sent, said, note):
    bank.correct(sent, "C03")
    bank.knows["nev-c"] = said

    assert judged(money) == (REVIEW, note)

    account = account_of(money, sent)
    assert (account.version, account.in_clear().account_number) == (1, NUMBER)


@pytest.mark.parametrize("code", ["C08", "C13", "C14", "C61", "X", ""])
def test_a_code_that_nobody_applies_by_itself_goes_to_a_person(money, bank, sent, code):
    bank.correct(sent, code, account_number=OTHER)

    outcome, note = judged(money)

    assert outcome == REVIEW
    assert note.endswith("not a correction that is applied by itself")


@pytest.mark.parametrize("code", ["C04", "C09"])
def test_a_name_and_an_id_are_only_noted(money, bank, sent, code):
    bank.correct(sent, code, name="SOMEBODY ELSE")

    assert judged(money) == (APPLIED, "noted: changes nothing in the account")
    assert account_of(money, sent).version == 1
    line = AuditEvent.objects.get(action__endswith="correction_noted")
    assert line.details["code"] == code


def test_about_another_amount_or_nothing_of_ours_goes_to_a_person(money, bank, sent):
    bank.correct(sent, account_number=OTHER)
    bank.events = [message(sent, EventKind.CORRECTED, id="nev-c", code="C01", amount=1)]

    assert judged(money) == (REVIEW, "another amount or currency")


def test_months_later_and_after_a_return_it_is_applied_all_the_same(acme, money, bank):
    row = money.make(acme, to="20001")
    money.run_due(now=NOW)
    assert read(row).returned
    bank.correct(row, account_number=OTHER)

    assert judged(money, now=NOW + timedelta(days=200)) == (APPLIED, "")
    assert account_of(money, row).in_clear().account_number == OTHER


def test_waits_while_the_network_does_not_answer(money, bank, sent):
    bank.correct(sent, account_number=OTHER)
    bank.correction, answers = unavailable, bank.correction
    now = NOW
    for _ in range(20):
        assert judged(money, now=now) == ("new", "")
        now += corrections.ASK_AGAIN_AFTER

    bank.correction = answers

    assert judged(money, now=now) == (APPLIED, "")


def test_what_breaks_ends_with_a_person(money, bank, sent):
    bank.correct(sent, account_number=OTHER)
    bank.knows["nev-c"] = "no correction at all"
    now = NOW
    for _ in range(corrections.TRIES_MAX):
        messages.process(money.transfer, now=now)
        now += corrections.ASK_AGAIN_AFTER

    event = InboundEvent.objects.get(event_id="nev-c")
    assert (event.outcome, event.attempts) == (REVIEW, corrections.TRIES_MAX)
    assert "AttributeError" in event.note


def test_holds_up_no_other_message_about_the_row(acme, money, bank):
    """It was stored first, and its network does not tell the data."""
    row = money.make(acme, to=NUMBER)
    submission.submit_due(money.transfer, now=NOW)
    bank.correct(row, account_number=OTHER)
    bank.poll, poll = (lambda **_: bank.events), bank.poll
    arrivals.collect(network=bank, id_prefix=money.transfer.id_prefix, now=NOW)
    bank.poll, bank.correction = poll, unavailable

    money.run_due(now=NOW)

    assert read(row).status == money.completed
    assert InboundEvent.objects.get(event_id="nev-c").outcome == "new"


def unavailable(event_id):
    raise NetworkUnavailable("down")


def test_no_message_and_no_line_of_the_audit_log_has_the_number(money, bank, sent):
    bank.correct(sent, account_number=OTHER)
    judged(money)

    rows = [*InboundEvent.objects.all(), *AuditEvent.objects.all()]
    assert not any(CANARY in str(value) for row in rows for value in vars(row).values())


class TestWhatTheDatabaseRefuses:
    """Even its owner's statements."""

    def refuses(self, rows, **changes):
        refused = pytest.raises(DatabaseError, match="pgtrigger: Cannot")
        with owner.as_owner(), refused, transaction.atomic():
            rows.update(**changes)

    def test_an_account_that_changes_without_a_version(self, money, sent):
        account = account_of(money, sent)
        rows = type(account).objects.filter(pk=account.pk)

        for changes in (
            {"routing_number": OTHER_ROUTING},
            {"last4": "0123"},
            {"fingerprint": "0" * 64},
            {"account_type": "savings"},
            {"version": 2, "corrected_at": NOW},
        ):
            self.refuses(rows, **changes)

    def test_one_that_differs_from_the_version_that_it_follows(self, money, bank, sent):
        bank.correct(sent, account_number=OTHER)
        judged(money)
        account = account_of(money, sent)
        rows = type(account).objects.filter(pk=account.pk)

        self.refuses(rows, version=1)
        self.refuses(rows, version=3)
        self.refuses(rows, last4="9999")

    def test_a_version_that_changes_or_goes(self, money, bank, sent):
        bank.correct(sent, account_number=OTHER)
        judged(money)
        versions = account_of(money, sent).versions

        self.refuses(versions, last4="9999")
        self.refuses(versions, number=7)
        refused = pytest.raises(DatabaseError, match="pgtrigger: Cannot delete")
        with owner.as_owner(), refused, transaction.atomic():
            versions.all().delete()


class TestTheNetworkIsTold:
    def test_that_the_account_was_corrected_once(self, money, bank, sent):
        bank.correct(sent, "C01", account_number="99887766")
        judged(money)
        messages.process(money.transfer, now=NOW)

        assert bank.told == [("nev-c", "applied", "")]

    def test_that_nothing_had_to_be_changed(self, money, bank, sent):
        bank.correct(sent, "C04", name="OTHER")
        _, note = judged(money)

        assert bank.told == [("nev-c", "unchanged", note)]

    def test_that_a_person_is_needed_and_then_what_came_of_it(self, money, bank, sent):
        bank.correct(sent, "C01", account_number="")
        outcome, note = judged(money)
        assert outcome == "review"
        assert bank.told == [("nev-c", "review", note)]

        event = InboundEvent.objects.get(event_id="nev-c")
        reviews.resolve(event_id=event.pk, note="the bank was wrong", actor=SYSTEM, now=NOW)
        messages.process(money.transfer, now=NOW)
        assert bank.told[1:] == [("nev-c", "resolved", "the bank was wrong")]

    def test_later_if_it_does_not_answer(self, money, bank, sent):
        bank.correct(sent, "C01", account_number="99887766")
        bank.answers = False
        assert judged(money)[0] == "applied"
        assert bank.told == []

        bank.answers = True
        messages.process(money.transfer, now=NOW + timedelta(minutes=9))
        assert bank.told == []
        messages.process(money.transfer, now=NOW + timedelta(minutes=10))
        assert [kind for _, kind, _ in bank.told] == ["applied"]
