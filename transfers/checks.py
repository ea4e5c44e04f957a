"""What must hold between the transfers of one direction (funding, payments), the ledger, what the
networks said and the outbox.

Each rule is one SQL statement that returns what breaks it (`transfers.check_rules`). The usual
check looks at what moved lately, the full one at everything. The app that owns the transfers names
the tables, so this module imports none of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString

from psycopg.sql import SQL, Composable, Composed, Identifier, Literal

from balance import causes
from common import audits
from common.audits import NEVER, Finding, Scope, Slices
from common.state import StateTable
from transfers import check_rules as rules
from transfers.books import DISHONORED

# A sweep is never this late.
_SOON = "interval '10 minutes'"
_OF_DISHONORS = ("dishonored", "counted", "contested", "undone", "counts", "undoes")


def never_due(*, table: str, open_statuses: Iterable[str], stopped_by: str) -> str:
    """The SQL of the rule about queues, for rows of one table that wait to be handed over in these
    statuses, and that switches of this kind keep back."""
    return rules.NEVER_DUE.format(
        table=Identifier(table),
        open=_listed(open_statuses),
        to_be_sent=SQL("true"),
        stopped_by=Literal(str(stopped_by)),
        never=SQL(NEVER),
        soon=SQL(_SOON),
    ).as_string()


@dataclass(frozen=True, kw_only=True)
class TransferChecks:
    """One direction. `total` is the balance column that sums the rows in `open_statuses`.

    `postings` is SQL for the types of balance transaction that `transfer` has caused, in order;
    `books` for the steps of the operator's lines that it has caused, in the order of their names.
    `events` is SQL for the event of the history row `step` of `transfer`, or null. `to_be_sent` is
    SQL for whether an open `transfer` waits to be handed to its network. `dates` names, for each
    status, the column that says when a row got there. `account_key` names the column of the bank
    account, which is a row of `accounts`. `direction` is `in` or `out`, as in events. `stopped_by`
    is the kind of switch that keeps rows from their network. `heard` is SQL for whether an applied
    `message` may be about `transfer` by its network, `dated` for whether the row still says when it
    took `step`.
    """

    name: str
    id_prefix: str
    table: str
    history: str
    foreign_key: str
    accounts: str
    account_key: str
    outbox: str
    source_type: str
    direction: str
    stopped_by: str
    states: StateTable
    dates: Mapping[str, str]
    total: str
    open_statuses: Iterable[str]
    unsent_statuses: Iterable[str]
    to_be_sent: LiteralString
    postings: LiteralString
    books: LiteralString
    events: LiteralString
    heard: LiteralString = "message.network = transfer.network"
    dated: LiteralString = "true"

    def check(self, scope: Scope) -> Iterator[Finding]:
        """Judge all rows in scope by the rules about sums, queues and dishonored returns. Only
        reads."""
        for code, rule in {
            self.total: rules.TOTAL,
            "never_due": rules.NEVER_DUE,
            "vanished": rules.VANISHED,
            "dishonored": rules.DISHONORED,
        }.items():
            yield from audits.found(f"{self.name}_{code}", self.text(rule), scope.values)

    def judge(self, ids: Sequence[str]) -> Iterator[Finding]:
        """Judge the rows with these ids, each by itself. Only reads."""
        values: dict[str, Any] = {
            "ids": list(ids),
            "source_type": self.source_type,
            "moves": self._moves(),
        }
        for code, rule in {
            "postings": rules.POSTINGS,
            "books": rules.BOOKS,
            "history": rules.HISTORY,
            "dates": rules.DATES,
            "account": rules.ACCOUNT,
            "messages": rules.MESSAGES,
            "events": rules.EVENTS,
            "event_body": rules.EVENT_BODY,
        }.items():
            yield from audits.found(f"{self.name}_{code}", self.text(rule), values)

    def slices(self, ask: audits.Ask) -> Slices:
        """The rules about each row, for the audit. `ask` compares rows with what others know."""
        return Slices(
            name=self.name, recent=self._recent, page=self._page, judge=self.judge, ask=ask
        )

    @property
    def cause(self) -> causes.Cause:
        """The ledger lines that rows of this direction explain."""
        return causes.Cause(
            source_type=self.source_type, table=self.table, code=f"{self.name}_posting_orphan"
        )

    def text(self, rule: SQL) -> str:
        """The SQL of a rule for this direction."""
        dishonored = DISHONORED[self.direction]
        names: dict[str, Composable] = {
            name: Identifier(getattr(self, name))
            for name in ("table", "history", "foreign_key", "accounts", "account_key", "outbox")
        }
        return rule.format(
            **names,
            total=Identifier(self.total),
            total_name=Literal(self.total),
            direction=Literal(self.direction),
            stopped_by=Literal(str(self.stopped_by)),
            id_prefix=Literal(self.id_prefix),
            open=_listed(self.open_statuses),
            unsent=_listed(self.unsent_statuses),
            date=self._date(),
            never=SQL(NEVER),
            soon=SQL(_SOON),
            to_be_sent=SQL(self.to_be_sent),
            postings=SQL(self.postings),
            books=SQL(self.books),
            events=SQL(self.events),
            heard=SQL(self.heard),
            dated=SQL(self.dated),
            **{name: Literal(str(getattr(dishonored, name))) for name in _OF_DISHONORS},
        ).as_string()

    def _recent(self, scope: Scope) -> list[str]:
        return audits.ids(self.text(rules.RECENT), scope.values)

    def _page(self, tenant_ids: Sequence[str], after: str, limit: int) -> list[str]:
        values: dict[str, Any] = {"tenant_ids": list(tenant_ids), "after": after, "limit": limit}
        return audits.ids(self.text(rules.PAGE), values)

    def _date(self) -> Composed:
        """SQL for when `transfer` got into the status of `step`, by its own columns."""
        arms = [
            SQL("WHEN {} THEN transfer.{}").format(Literal(str(status)), Identifier(column))
            for status, column in self.dates.items()
        ]
        return SQL("CASE step.to_status {} END").format(SQL(" ").join(arms))

    def _moves(self) -> list[str]:
        """Every legal step as `from>to`; for a new row, `from` is empty."""
        starts = [f">{status}" for status in self.states.initial]
        moves = self.states.moves.items()
        return starts + [f"{source}>{target}" for source, targets in moves for target in targets]


def _listed(statuses: Iterable[str]) -> Composed:
    return SQL(", ").join(Literal(str(status)) for status in statuses)
