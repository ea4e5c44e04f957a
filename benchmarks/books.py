"""The tables that postings fill, and three ways to fill them: by `balance.services`, by the same
statement under pgbench, and by the least that still is a durable posting.

All ids have 30 characters and grow with time, as the product's do.
"""

from __future__ import annotations

import itertools
import random
import re
import time
from collections.abc import Callable
from typing import Any

from balance import chains
from balance import services as ledger
from balance.kinds import PostingType
from balance.operator.accounts import Step
from balance.operator.posting import Booking
from balance.posting import POST
from balance.sets import Entry, Refused
from benchmarks import database
from benchmarks.errors import CannotMeasure
from common import ids
from common.audits import Scope
from common.clock import utc_now

POSTED = "balance_transaction"
OPERATOR = "balance_operator_line"
MINIMAL_POSTED = "bench_entry"
# No posting here has a funding behind it, nor lines of the operator beside it.
_WITHOUT_FUNDING = {"funding_posting_orphan", "books_clearing"}
_AT_ONCE = 1_000

# Ids of tenants are these letters and a number of 19 digits, so that pgbench can name a tenant.
_TENANT = "ten_01k0000"
_FIRST = 10**18
_TENANTS = f"""
INSERT INTO tenants_tenant (id, name, mode, status, created_at)
SELECT '{_TENANT}' || ({_FIRST} + number), 'Benchmark', 'sandbox', 'active', now()
FROM generate_series(1, %(count)s) AS number
ON CONFLICT DO NOTHING
"""  # noqa: S608  # our own letters
_BALANCES = f"""
INSERT INTO balance (id, tenant_id, currency, available, pending, locked, sequence)
SELECT 'bal_01k0000' || ({_FIRST} + number), '{_TENANT}' || ({_FIRST} + number), 'USD', 0, 0, 0, 0
FROM generate_series(1, %(count)s) AS number
"""  # noqa: S608
_MINIMAL_TABLES = f"""
DROP TABLE IF EXISTS bench_entry, bench_balance;
CREATE TABLE bench_balance (tenant_id text PRIMARY KEY, available bigint NOT NULL,
    sequence bigint NOT NULL) WITH (fillfactor = 50);
CREATE TABLE bench_entry (tenant_id text, sequence bigint, amount bigint NOT NULL,
    available_after bigint NOT NULL, PRIMARY KEY (tenant_id, sequence));
INSERT INTO bench_balance SELECT '{_TENANT}' || ({_FIRST} + number), 1, 1
FROM generate_series(1, {{count}}) AS number;
INSERT INTO bench_entry SELECT tenant_id, 1, 1, 1 FROM bench_balance
"""  # noqa: S608

_DRAWN = f"""
\\set tenant {_FIRST} + random(1, :tenants)
\\set amount random(1, 50000)
"""
# A script of pgbench: one update of a balance and one insert of an entry.
MINIMAL = f"""{_DRAWN}
WITH moved AS (
    UPDATE bench_balance SET available = available + :amount, sequence = sequence + 1
    WHERE tenant_id = '{_TENANT}' || :tenant::text RETURNING tenant_id, sequence, available
)
INSERT INTO bench_entry SELECT tenant_id, sequence, :amount, available FROM moved;
"""  # noqa: S608
# The ids begin with the moment of the slice, to half a minute. Then they count up, for all clients
# at the same pace, and end in something random.
_SAME = f"""
\\set made :made + 1
\\set id :run * 1000000000000000 + :made * 10000000 + :client_id * 1000000 + random(0, 999999)
{_DRAWN}
{{statement}};
"""
_IN_PGBENCH = {
    "id": "'btx_{moment}' || :id::text",
    "tenant_id": f"'{_TENANT}' || :tenant::text",
    "type": "'credit'",
    "amount": ":amount",
    "pending_delta": "0",
    "source_type": "'funding_transaction'",
    "source_id": "'ftx_{moment}' || :id::text",
    "description": "'Benchmark'",
    "now": "now()",
}


def tenant_id(number: int) -> str:
    """The id of a tenant; they count from 1."""
    return f"{_TENANT}{_FIRST + number}"


def start_over(tenants: int) -> None:
    """Books of so many tenants, each with a balance and one line, right after a checkpoint."""
    database.empty(POSTED, "balance", "balance_checkpoint", OPERATOR)
    database.execute(_TENANTS, count=tenants)
    database.execute(_BALANCES, count=tenants)
    database.execute(_MINIMAL_TABLES.format(count=tenants))
    _post_to_each(tenants)
    tables = "balance, balance_transaction, tenants_tenant, bench_balance, bench_entry"
    database.execute(f"VACUUM ANALYZE {tables}")
    database.execute("CHECKPOINT")


def _post_to_each(tenants: int) -> None:
    draw = drawing(0, tenants)
    for first in range(1, tenants + 1, _AT_ONCE):
        numbers = range(first, min(first + _AT_ONCE, tenants + 1))
        entries = [Entry(PostingType.CREDIT, **draw(number)) for number in numbers]
        outcomes = ledger.post_many(entries, now=utc_now())
        if refused := [outcome for outcome in outcomes if isinstance(outcome, Refused)]:
            raise CannotMeasure(f"nothing could be posted: {refused[0]}")


def prepare(number: int, tenant_count: int, at_once: int = 1) -> Callable[[], object]:
    """One client's operation: a credit of a random amount to a random tenant, or a set of them."""
    draw = drawing(number, tenant_count)

    def post() -> None:
        ledger.credit(**draw(), now=utc_now())

    def post_set() -> None:
        entries = [Entry(PostingType.CREDIT, **draw()) for _ in range(at_once)]
        ledger.post_many(entries, now=utc_now())

    return post if at_once == 1 else post_set


def completing(number: int, tenant_count: int, at_once: int, steps: int) -> Callable[[], object]:
    """One client's operation: a set of credits as completed fundings post them, each with so many
    of the operator's lines."""
    draw = drawing(number, tenant_count)
    in_order = (Step.IN_FINAL, Step.IN_SETTLED)[:steps]

    def complete() -> None:
        entries = [Entry(PostingType.CREDIT, **draw()) for _ in range(at_once)]
        booked = [
            Booking(step, each.amount, "ach", each.source_type, each.source_id, each.tenant_id)
            for each in entries
            for step in in_order
        ]
        ledger.post_many(entries, booked, now=utc_now())

    return complete


def drawing(client: int, tenant_count: int) -> Callable[..., dict[str, Any]]:
    """Draws the arguments of a posting as cheaply as pgbench draws them: `randint` and `ids.new`
    would be a quarter of the client's Python (PROFILE.md). Sources count up and never repeat: the
    first is the nanosecond, the last digit is the client."""
    chance = random.Random(client).random  # noqa: S311  # which tenant is no secret
    source = f"ftx_{ids.new('ftx')[4:11]}"
    numbers = itertools.count(time.time_ns() // 10 * 10 + client, 10)

    def draw(number: int = 0) -> dict[str, Any]:
        number = number or 1 + int(chance() * tenant_count)
        return {
            "tenant_id": f"{_TENANT}{_FIRST + number}",
            "amount": 1 + int(chance() * 50_000),
            "source_type": "funding_transaction",
            "source_id": f"{source}{next(numbers)}",
            "description": "Benchmark",
        }

    return draw


def same_statement() -> str:
    """A script of pgbench that runs `balance.posting.POST`, with ids of this moment."""
    moment = ids.new("btx")[4:11]
    in_pgbench = {key: text.format(moment=moment) for key, text in _IN_PGBENCH.items()}
    statement = re.sub(r"%\((\w+)\)s", lambda match: in_pgbench[match[1]], POST)
    return _SAME.format(statement=statement.strip())


def require_clean() -> None:
    """Raises CannotMeasure for what the full audit finds."""
    found = chains.check(Scope(full=True), now=utc_now())
    if findings := [finding for finding in found if finding.code not in _WITHOUT_FUNDING]:
        raise CannotMeasure(f"the ledger is not clean: {findings[0]}")
