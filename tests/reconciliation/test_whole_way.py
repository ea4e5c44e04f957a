"""The stand-in bank, a process of its own, puts statements into its folder; they are taken."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime

import pytest

from balance import invariants
from networks.ach import connecting
from networks.ach.connection_terms import Folders
from networks.ach.inbound import fetching
from networks.ach.models import InFile
from networks.ach.sftp.bank import connected
from reconciliation import accounts, reading
from reconciliation.accounts import Opening
from reconciliation.models import BankStatement, StatementFormat
from tests.devstack.odfi.conftest import bank  # noqa: F401
from tests.networks.ach.builders import RAIL
from tests.networks.ach.standin import OPENING_BALANCE, connect_rail

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

NOW = datetime(2035, 12, 10, 15, 0, tzinfo=UTC)


def fetch():
    with connected(connecting.settings(RAIL)) as line:
        return fetching.fetch(line, rail_id=RAIL, folders=Folders(), now=NOW).new


@pytest.mark.parametrize("form", StatementFormat)
def test_every_day_of_the_bank_is_proven(bank, form):  # noqa: F811
    connect_rail(bank)
    said = bank.ask("account")
    assert (said["day"], said["opening"]) == ("2035-12-03", OPENING_BALANCE)
    opening = Opening(
        rail=RAIL,
        number=said["number"],
        format=form,
        opened_on=date.fromisoformat(said["day"]),
        cents=said["opening"],
    )
    accounts.put_in_force(opening, reason="As the bank says", by="ops", now=NOW)

    for day in ("04", "05", "08"):
        bank.go_to(f"2035-12-{day} 09:00")
        bank.ask("credit", amount=77, company="A/B, INC")
    bank.go_to("2035-12-11 09:00")
    assert fetch() == 12 + 3  # with the files of the credits
    while reading.read_due(now=NOW):
        pass

    proven = list(BankStatement.objects.order_by("last_day"))
    assert [row.last_day.day for row in proven] == [3, 4, 5, 6, 7, 10]
    assert sum(row.line_count for row in proven) == 3
    next_one = bank.ask("account")
    assert (proven[-1].closing, next_one["day"]) == (next_one["opening"], "2035-12-11")
    assert proven[-1].closing == OPENING_BALANCE + 3 * 77
    codes = Counter(
        fault["code"]
        for file in InFile.objects.filter(folder="statements")
        for fault in file.faults
    )
    assert codes == {"format_not_read": 6}
    assert invariants.check(now=NOW, full=True).findings == []
