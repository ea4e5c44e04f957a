"""Banking days at the stand-in bank, on which tenants move money and much goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from itertools import count, islice
from typing import Any

from django.test import override_settings

from balance.models import Balance
from config.beat import SCHEDULE
from config.celery import app
from networks import registry
from networks.ach.network import AchNetwork
from networks.calendar import EASTERN, next_banking_day
from networks.sandbox.bank import SandboxBank
from reconciliation import accounts, clearing
from reconciliation.accounts import Opening
from reconciliation.models import BookedLine, ClearingKind, StatementFormat
from tenants.models import Mode, Tenant
from tests.builders import make_source, make_tenant
from tests.devstack.odfi.conftest import Bank
from tests.funding.builders import top_up
from tests.networks.ach.builders import RAIL
from tests.networks.ach.standin import at, connect_rail, eastern, recorded, run
from tests.payments.builders import pay

FIRST_DAY = date(2035, 12, 19)  # a Wednesday; the next Tuesday is Christmas Day
CLOCK = eastern(FIRST_DAY, "08:00").isoformat()
FEE, STRANGE = 1_250, 77_700  # cents
# What becomes of some of each 200 transfers, by the digits that tell the bank so: 2 % come back, a
# quarter of these when they are final. Others complete.
FATES = {17: "10001", 57: "10001", 108: "10003", 142: "60001", 183: "20002"}
_NUMBERED = 200
_COMPLETES = "900000077"  # an account
_PAID = 3  # each third transfer is a payment, once there is money to pay with
_POOR_DAYS = 4  # at the beginning
_LATE_DAYS = 3  # banking days from settlement to a late return
_PARTS = ("networks.", "funding.", "payments.", "reconciliation.")
QUIET_DAYS = 4  # at the end, until the last transfer is final and on a statement
KINDS_OF_TROUBLE = 6  # one a day, in turn; the last one is none
_ROUNDS = 3  # of all sweeps, until nothing is left to do
# Nobody is asked about new recipients. What a rail can do is not read anew for each transfer.
_SETTINGS = {"RECIPIENT_COOL_DOWN_HOURS": 0, "ROUTES_KNOWN_SECONDS": 3_600}


def sweeps() -> list[Any]:
    """All of networks, funding, payments and reconciliation that beat starts, as it names them."""
    app.loader.import_default_modules()
    names = [each["task"] for each in SCHEDULE.values() if each["task"].startswith(_PARTS)]
    return [app.tasks[name] for name in names]


def banking_days(first: date) -> Iterator[date]:
    """All of them from a banking day on."""
    day = first
    while True:
        yield day
        day = next_banking_day(day)


@contextmanager
def beginning(
    bank: Bank, *, tenants: int, days: int, transfers: int, quiet_days: int = QUIET_DAYS
) -> Iterator[Quarter]:
    """The first morning: the bank has our account, and live tenants' money goes to it. Their own
    accounts were verified elsewhere."""
    with override_settings(**_SETTINGS):
        verified = registry.connect(SandboxBank(), modes=[Mode.LIVE])
        quarter = Quarter(
            bank, tenants=tenants, days=days, transfers=transfers, quiet_days=quiet_days
        )
        verified()
        disconnect = registry.connect(AchNetwork(RAIL), modes=[Mode.LIVE])
        try:
            quarter.open()
            yield quarter
        finally:
            disconnect()


class Quarter:
    """`days` banking days, with `transfers` new ones on each but the last `quiet_days`: two
    fundings for each payment, once there is money to pay with."""

    def __init__(
        self,
        bank: Bank,
        *,
        tenants: int,
        days: int,
        transfers: int,
        quiet_days: int,
    ) -> None:
        self.bank, self.transfers = bank, transfers
        self.tenants = [
            make_tenant(name=f"Tenant {number}", mode=Mode.LIVE) for number in range(tenants)
        ]
        self.days = list(islice(banking_days(FIRST_DAY), days))
        self.busy_days = days - quiet_days
        self.sources = {
            each.pk: make_source(each, account_number="900000099") for each in self.tenants
        }
        self.sweeps = sweeps()
        self.numbers = count(1)
        # Of each funding that does not complete, an account of its own, since it may be blocked.
        self.fated = {
            number: make_source(self._tenant(number), account_number=f"{number}{digits}")
            for number in range(1, 1 + transfers * self.busy_days)
            if (digits := FATES.get(number % _NUMBERED))
            if number % _PAID or number <= transfers * _POOR_DAYS
        }
        self.now = eastern(FIRST_DAY, "08:00")
        self.unacknowledged: list[int] = []

    def open(self) -> None:
        """Agree with the bank, and put the account in force. From then on, a new source of funds
        would have to be verified."""
        connect_rail(self.bank, dual_release=False, auto_release_below=10**11)
        self.bank.ask("terms", late_return_days=_LATE_DAYS)
        said = self.bank.ask("account")
        opening = Opening(
            rail=RAIL,
            number=said["number"],
            format=StatementFormat.BAI2,
            opened_on=date.fromisoformat(said["day"]),
            cents=said["opening"],
        )
        accounts.put_in_force(opening, reason="As the bank says", by="ops", now=self.now)

    def pass_by(self) -> None:
        """Live through all days."""
        for number, day in enumerate(self.days):
            self.goes_on(day, "09:00")
            if number < self.busy_days:
                self._move_money()
                self._disturb(number)
            for hour in ("09:15", "09:46"):  # entries are taken; their file leaves
                self.goes_on(day, hour)
            self.bank.ask("fault", name="all", on=False)
            self.bank.ask("terms", customer_id="1987654321")
            self.goes_on(day, "14:01")  # what the bank refused goes with the next file
            self._acknowledge()
            self._clear()

    def next_morning(self) -> None:
        """Live until the statement of the day has come, and whatever else came with it."""
        self.goes_on(next_banking_day(self.now.astimezone(EASTERN).date()), "09:00")

    def goes_on(self, day: date, hour: str) -> None:
        """Live until an Eastern time of a day."""
        self.now = at(self.bank, day, hour)
        for _ in range(_ROUNDS):
            self.now += timedelta(seconds=60)
            run(self.now, *self.sweeps)
            self.bank.ask("scan")

    def _move_money(self) -> None:
        for number in islice(self.numbers, self.transfers):
            tenant = self._tenant(number)
            digits, amount = FATES.get(number % _NUMBERED), 1_000 + number % 977
            if number % _PAID == 0 and self._available(tenant) > amount:
                # An account of its own here, too: a corrected one would not be corrected again.
                pay(tenant, amount, to=f"{number}{digits}" if digits else _COMPLETES, now=self.now)
            else:
                source = self.fated.get(number, self.sources[tenant.pk])
                top_up(tenant, source=source, amount=amount, now=self.now)

    def _tenant(self, number: int) -> Tenant:
        return self.tenants[number % len(self.tenants)]

    def _available(self, tenant: Tenant) -> int:
        balance = Balance.objects.filter(tenant=tenant).first()
        return balance.available if balance else 0

    def _disturb(self, number: int) -> None:
        """What goes wrong on a day, in turn."""
        match number % KINDS_OF_TROUBLE:
            case 0:
                self.bank.ask("charge", amount=FEE)
            case 1:  # a file of somebody whom the bank does not know
                self.bank.ask("terms", customer_id="1000000000")
            case 2:
                self.bank.ask("fault", name="no_ack", times=1)
            case 3:
                self.bank.ask("credit", amount=STRANGE)
            case 4:
                self.bank.ask("fault", name="lost_answer", times=1)

    def _acknowledge(self) -> None:
        """Send the acknowledgements that were lost the day before."""
        for number in self.unacknowledged:
            self.bank.ask("acknowledge", file=number)
        known = [row["id"] for row in self.bank.ask("files")]
        sent = recorded(self.bank, "SELECT name FROM sent WHERE folder = 'ack'")
        answered = {int(name.split(".")[-2]) for (name,) in sent}
        self.unacknowledged = [number for number in known if number not in answered]

    def _clear(self) -> None:
        """Two people clear what was in suspense, and nobody asked for it back."""
        for row in BookedLine.objects.filter(booked_as="suspense"):
            if clearing.in_suspense(row):
                kind, reason = ClearingKind.INCOME, "Interest, says the bank"
                made = clearing.propose(row, kind, reason=reason, by="ann", now=self.now)
                clearing.approve(made.pk, by="bo", now=self.now)
