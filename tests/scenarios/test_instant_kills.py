"""Workers are killed at every step between the order of an instant payment or request and the last
word on it: the operator moves the money of each once, and what we tell is what it has."""

from __future__ import annotations

import random
import sys
from collections import Counter
from typing import Any

import pytest

from balance import invariants
from balance.models import Balance
from common.clock import utc_now
from funding.models import FundingMethod, FundingTransaction
from networks.instant.iso import documents, writer
from networks.instant.iso.profiles import PROFILES
from networks.instant.models import Conversation, InstantEvent, Message
from networks.instant.network import InstantNetwork
from payments.models import Payment, PaymentMethod
from tests.builders import make_source, make_tenant
from tests.funding.builders import top_up
from tests.networks.instant.builders import RAIL
from tests.networks.instant.standin import Life, a_life
from tests.payments.builders import fund, pay
from tests.samples import by_day
from tests.scenarios import instant_mortal
from tests.scenarios.mortal import Point, points_of
from transfers.inbox.models import InboundEvent

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.timeout(3600)]

SEED, SAMPLE, KILLS_MIN = 20261129, 6, 100
STEP, PARTS = 6, 2  # so many of all steps are tried at night, in parts by themselves
KILLED = {"submit", "listen", "send", "apply"}
FUNDS = 50_000_000
# Settles. Settles in silence, is lost, times out, is answered twice, the line breaks, is posted
# later, comes back, is answered out of order, is refused.
PAYEES = (
    *("7770001", "51002", "51003", "51008", "51007", "51009", "51004", "51005", "51010", "40004"),
)
PAYERS = ("52001", "52003", "52005", "52006")  # pays, twice, unanswered, refuses
# At once for the operator, whose clock is ours.
PROMPT = {"ask_after": 0.0, "pending_seconds": 0.05, "late_seconds": 0.05}
ENDS_WITHIN = 12  # times that a worker lives after the deaths of others


class Orders:
    """A tenant's orders, each of another amount."""

    def __init__(self, life: Life) -> None:
        self.life = life
        self.tenant = make_tenant()
        self.sources = {each: make_source(self.tenant, account_number=each) for each in PAYERS}
        self.kills: Counter[str] = Counter()
        self._number = 0
        fund(self.tenant, FUNDS)

    def live(self, *deaths: Point) -> list[list[Point]]:
        """Some orders, workers who die over them, and others: the steps of each who lives."""
        self._order()
        for death in deaths:
            ended = instant_mortal.run(dies_at=death)
            self.kills.update(ended.works[-1:] if ended.is_killed else [])
            instant_mortal.time_passes(90)
        return self._finish()

    def _order(self) -> None:
        self._number += 1
        now, turn = utc_now(), self._number
        for number in (PAYEES[0], PAYEES[1 + turn % (len(PAYEES) - 1)]):
            pay(self.tenant, 10_000 + turn, to=number, method=PaymentMethod.RTP, now=now)
        source = self.sources[PAYERS[turn % len(PAYERS)]]
        top_up(self.tenant, amount=20_000 + turn, source=source, method=FundingMethod.RTP, now=now)

    def _finish(self) -> list[list[Point]]:
        lives = []
        for _ in range(ENDS_WITHIN):
            lives.append(points_of(instant_mortal.run().works))
            if not self._open():
                return lives
            instant_mortal.time_passes(90)
        raise AssertionError(f"still open: {self._open()}")

    def _open(self) -> list[tuple[str, str]]:
        over = ("completed", "failed", "returned", "canceled")
        return [
            (row.pk, row.status)
            for model in (FundingTransaction, Payment)
            for row in model._default_manager.exclude(status__in=over)
        ] + list(
            Conversation.objects.filter(
                status__in=("sent", "paying", "answering", "coming_back")
            ).values_list("pk", "status")
        )


@pytest.mark.parametrize("first", by_day(range(PARTS), {0}))
@pytest.mark.parametrize("profile", ["rtp", "fednow"])
def test_killed_at_every_step(request, connect, profile, first):
    """Without `--nightly`: at a sample of the steps. At night every `STEP`th, by two deaths."""
    nightly = request.config.getoption("--nightly")
    chance = random.Random(f"{SEED} {profile} {first}")
    with a_life(profile) as life:
        life.operator.ask("terms", **PROMPT)
        before = life.we.position
        connect(InstantNetwork(RAIL))
        orders = Orders(life)
        points, later, *_ = orders.live()  # at first, and once something was silent
        again = later if nightly else [each for each in later if each[0] == "send"]
        chosen = points[first * STEP // PARTS :: STEP] if nightly else sample(points, chance)
        for point in chosen:
            orders.live(point, chance.choice(again))
        told = f"{profile}: {orders.kills.total()} kills in {len(points)} and {len(later)} steps"
        sys.stdout.write(f"{told}: {dict(orders.kills)}\n")
        assert set(orders.kills) == KILLED
        assert orders.kills.total() >= (KILLS_MIN if nightly else SAMPLE)
        money_moved_as_the_operator_says(life)
        messages_are_those_of_the_operator(life)
        what_is_told_is_what_is_stored()
        gained = life.we.position - before - unasked()
        assert money_of(orders.tenant) - FUNDS == gained
        assert invariants.check(now=utc_now(), full=True).findings == []


def sample(points, chance):
    """Of each kind of work the same number."""
    kinds = sorted(KILLED - {"send"})  # of whom nobody is silent, at first
    of_each = SAMPLE // len(kinds)
    return [
        point
        for kind in kinds
        for point in chance.sample([each for each in points if each[0] == kind], of_each)
    ]


def money_moved_as_the_operator_says(life):
    """Each payment that is done moved its money once, each that failed not or there and back."""
    record = life.operator.ask("payments")
    settled = [each for each in record if each["status"] == "settled"]
    given_back = {each["returns_id"] for each in settled}
    sent = Counter(each["end_to_end_id"] for each in settled if each["direction"] == "out")
    back = {each["end_to_end_id"] for each in settled if each["id"] in given_back}
    for paid in Payment.objects.all():
        moved = (sent[paid.pk], paid.pk in back)
        assert moved in {"completed": [(1, False)], "failed": [(0, False), (1, True)]}[paid.status]
    assert sent.keys() <= {paid.pk for paid in Payment.objects.all()}

    came = Counter(each["end_to_end_id"] for each in settled if each["direction"] == "in")
    for asked in FundingTransaction.objects.all():
        assert bool(came[asked.pk]) == (asked.status == "completed"), asked.pk


def messages_are_those_of_the_operator(life):
    """What left is there with the bytes that we keep, and what it handed over is kept here."""
    ours = {(row.direction, row.message_id): row for row in Message.objects.all()}
    assert len(ours) == Message.objects.count()
    profile = PROFILES[life.profile]
    at_operator = all_of(life, "messages")
    for each in at_operator:
        row = ours[("out" if each["direction"] == "in" else "in"), each["message_id"]]
        content = each["content"].encode()
        if each["direction"] == "in":
            assert content in {row.content, writer.duplicate(row.content, profile)}
        else:
            assert documents.canonical(content) == row.content
            assert each["acknowledged_at"]
    arrived = {each["message_id"] for each in at_operator if each["direction"] == "in"}
    left = Message.objects.filter(direction="out", status__in=("sent", "answered"))
    assert {row.message_id for row in left} <= arrived
    assert not Message.objects.filter(status__in=("received", "to_send", "silent")).exists()


def all_of(life, command):
    """Everything that a command of the operator tells page by page."""
    found: list[dict[str, Any]] = []
    while page := life.operator.ask(command, after=found[-1]["id"] if found else 0):
        found += page
    return found


def what_is_told_is_what_is_stored():
    """Each event was told once, with the same words, and moved what it is about."""
    columns = ("instruction_id", "kind", "amount", "code")
    untold = InstantEvent.objects.filter(voided_at=None, acknowledged=False)
    assert {row.due_at > utc_now() for row in untold} <= {True}  # it is foretold
    # What nobody asked for is about no order, so nobody is told.
    events = InstantEvent.objects.filter(acknowledged=True).exclude(instruction_id="")
    assert Counter(events.values_list(*columns)) == Counter(
        InboundEvent.objects.values_list(*columns)
    )
    lost = InboundEvent.objects.exclude(instruction_id="").exclude(outcome="applied")
    assert not lost.exists()


def unasked():
    """Cents that came, and are a person's matter."""
    received = InstantEvent.objects.filter(kind="received")
    return sum(received.values_list("amount", flat=True))


def money_of(tenant):
    """All of it; nothing is on its way any more."""
    balance = Balance.objects.get(tenant=tenant)
    assert (balance.locked, balance.pending) == (0, 0)
    return balance.available
