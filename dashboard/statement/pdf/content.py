"""What a statement's file says, as texts: the template lays them out and computes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse

from balance.statements import Month, Statement
from common import brand, days
from dashboard.statement import lines as statement_lines
from dashboard.statement.lines import TransactionLine
from dashboard.statement.pdf.characters import STAND_IN, printable
from dashboard.templatetags.ballast import money, signed_money
from tenants.models import Mode, Tenant

_CHUNK = 1000  # of lines whose other sides are asked for at once

_SANDBOX = "Sandbox: this is test money. No bank moved any of it."
_SQUARE = (
    f"A square ({STAND_IN}) takes the place of a character that the typefaces of this file do not "
    "have. The CSV file has the character."
)


class DoesNotAddUp(Exception):
    """The opening balance and the lines do not come to the closing balance. Nobody gets a file that
    says they do."""


def content(
    statement: Statement, rows: Sequence[Mapping[str, Any]], *, tenant: Tenant, now: datetime
) -> dict[str, Any]:
    """The whole statement for the template; `rows` are the month's lines, oldest first.

    One query per 1,000 lines. Raises DoesNotAddUp.
    """
    month = statement.month
    change = _change(rows)
    _prove(month, change)
    running = _running(month, now)
    lines = [_line(row, line) for row, line in _with_other_sides(tenant.pk, rows)]
    name = printable(tenant.name)
    notes = [running, _SANDBOX if tenant.mode == Mode.SANDBOX else ""]
    if STAND_IN in f"{name}{lines}":
        notes.append(_SQUARE)
    title = f"Statement, {month.first:%B %Y}"
    return {
        "title": title,
        "operator": {"name": brand.name(), "address": settings.BASE_URL},
        "tenant": {"name": name, "id": tenant.pk},
        "period": f"{_day(month.first)} {_end(month, now)}, US Eastern time. "
        "Amounts are US dollars.",
        "created": f"Created {days.words(now)}",
        "notes": [note for note in notes if note],
        "footer": _footer(title, name, tenant=tenant, is_running=bool(running)),
        "summary": _summary(statement),
        "lines": lines,
        "checks": _checks(month, change),
        "facts": _facts(rows),
        "csv": _csv(month),
    }


def text_bytes(shown: Mapping[str, Any]) -> int:
    """How much the lines of this content say, in bytes of UTF-8: whole scripts beyond ASCII cost
    the compiler more, letter by letter."""
    return sum(len("".join([line["main"], *line["parts"]]).encode()) for line in shown["lines"])


def _change(rows: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """What the lines did to the available and to the locked balance, in cents."""
    return (
        sum(row["available_delta"] for row in rows),
        sum(row["locked_delta"] for row in rows),
    )


def _prove(month: Month, change: tuple[int, int]) -> None:
    available, locked = change
    closing = (month.opening.available + available, month.opening.locked + locked)
    if closing != (month.closing.available, month.closing.locked):
        raise DoesNotAddUp(f"{month.first:%Y-%m}")


def _running(month: Month, now: datetime) -> str:
    if not month.is_running(now):
        return ""
    return (
        f"{month.first:%B %Y} is not over. This statement goes through {days.words(now)}. "
        "More lines may follow."
    )


def _end(month: Month, now: datetime) -> str:
    return f"through {days.words(now)}" if month.is_running(now) else f"to {_day(month.last)}"


def _day(day: date) -> str:
    return f"{day:%B} {day.day}, {day.year}"


def _footer(title: str, name: str, *, tenant: Tenant, is_running: bool) -> str:
    """What a single page must say when it is apart from the others."""
    parts = [brand.name(), name, title]
    if is_running:
        parts.append("month not over")
    if tenant.mode == Mode.SANDBOX:
        parts.append("sandbox, test money")
    return " · ".join(parts)


def _summary(statement: Statement) -> list[list[str]]:
    """Type, lines, available, set aside: the opening balance, each type, the closing balance."""
    month = statement.month
    opening, closing = month.opening, month.closing
    return [
        ["Opening balance", "", money(opening.available), money(opening.locked)],
        *(
            [
                total.type.label,
                f"{total.lines:,}",
                signed_money(total.available_delta),
                signed_money(total.locked_delta),
            ]
            for total in statement.totals
        ),
        [
            "Closing balance",
            f"{month.lines:,}",
            money(closing.available),
            money(closing.locked),
        ],
    ]


def _with_other_sides(
    tenant_id: str, rows: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[Mapping[str, Any], TransactionLine]]:
    for start in range(0, len(rows), _CHUNK):
        chunk = rows[start : start + _CHUNK]
        yield from zip(chunk, statement_lines.lines(tenant_id=tenant_id, rows=chunk), strict=True)


def _line(row: Mapping[str, Any], line: TransactionLine) -> dict[str, Any]:
    """One line as on the month's page, with both changes: their columns can be added up."""
    day, time = days.words(line.at).rsplit(", ", 1)
    kind = f"{line.badge.label}, {line.hint}" if line.hint else line.badge.label
    described = [line.description if line.who else "", line.what_for]
    return {
        "id": line.id,
        "date": day,
        "time": time,
        "kind": kind,
        "main": printable(line.who or line.description),
        "parts": [printable(part) for part in described if part],
        "available": signed_money(row["available_delta"]),
        "locked": signed_money(row["locked_delta"]),
        "after": money(line.available_after),
    }


def _checks(month: Month, change: tuple[int, int]) -> list[str]:
    opening, closing = month.opening, month.closing
    available, locked = change
    return [
        "Add all amounts in a column to the opening balance. The sum is the closing balance. "
        f"Available: {_sum(opening.available, available, closing.available)}. "
        f"Set aside: {_sum(opening.locked, locked, closing.locked)}.",
        "For each line, add its amount under “Available” to the “Available after” of the line "
        "before. The sum is its own “Available after”. The first line starts from the opening "
        "balance.",
        "Compare the lines with the CSV file. It has the same lines with the same IDs, newest "
        "first, and the columns availableDelta and lockedDelta have these amounts in cents. A line "
        "keeps its ID, moment and amounts, so a later copy of this file has the same ones. Names "
        "are those of the day on which a copy is created.",
    ]


def _sum(opening: int, change: int, closing: int) -> str:
    sign = "−" if change < 0 else "+"
    return f"{money(opening)} {sign} {money(abs(change))} = {money(closing)}"


def _facts(rows: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    ends = [["First line", rows[0]["id"]], ["Last line", rows[-1]["id"]]] if rows else []
    return [["Lines", f"{len(rows):,}"], *ends]


def _csv(month: Month) -> str:
    """Where the month's lines are as a file for programs; who opens it has to sign in."""
    query = urlencode({"since": month.first.isoformat(), "until": month.last.isoformat()})
    return f"{settings.BASE_URL}{reverse('dashboard:transactions_csv')}?{query}"
