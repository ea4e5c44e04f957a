"""Prenotes: an entry without amount asks a bank about an account before the first one that moves
money. An option of the rail.

The entries that ask for it wait. If nothing comes back they go three banking days after the prenote
settled; if it comes back they end with its code. A test of the account by micro-deposits answers as
well as a prenote. Source: Nacha Operating Rules, 2.6 (prenotification entries).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

import structlog
from django.db import transaction

from common import crypto
from common.database.job_doors import by
from common.database.jobs import WORKER
from common.engine import arrays, sql
from common.engine.lookups import one_of
from common.ids import new
from networks import calendar
from networks.ach import rails, schedule, telling
from networks.ach.models import AchEntry
from networks.ach.models.entries import PRENOTE
from networks.ach.schedule import Window
from networks.ach.states import EntryStatus
from networks.base import EventKind, Speed

log = structlog.get_logger(__name__)

PRENOTE_PREFIX = "prn"
BANKING_DAYS = 3
_ASKED_TOGETHER = 1_000
_CODE_AHEAD = 1  # a prenote's transaction code follows that of the live entry

# Of a row `waiting`: whether its account was asked about, early enough, and nothing came back.
ANSWERED = """EXISTS (
    SELECT FROM ach_achentry AS former
    WHERE former.account_fingerprint = waiting.account_fingerprint
        AND former.routing_number = waiting.routing_number
        AND former.tenant_id = waiting.tenant_id
        AND former.company_id = waiting.company_id AND former.rail_id = %(rail)s
        AND former.purpose IN ('prenote', 'verification') AND former.status = 'final'
        AND former.settlement_date <= CASE WHEN waiting.same_day
            THEN %(answered_today)s::date ELSE %(answered_tomorrow)s::date END)"""
# Of the same tenant: a bank may refuse the name or the kind of account that another one typed.
_SAME = """former.rail_id = waiting.rail_id AND former.purpose = 'prenote'
        AND former.tenant_id = waiting.tenant_id
        AND former.account_fingerprint = waiting.account_fingerprint
        AND former.routing_number = waiting.routing_number
        AND former.company_id = waiting.company_id"""
_UNASKED = f"""
SELECT DISTINCT ON (account_fingerprint, routing_number, company_id, tenant_id) id
FROM ach_achentry AS waiting
WHERE rail_id = %(rail)s AND status = 'waiting' AND purpose IN ('topup', 'payment')
    AND created_at < %(frozen_from)s AND NOT {ANSWERED}
    AND id <> ALL(%(unreadable)s::text::bigint[])
    AND NOT EXISTS (
        SELECT FROM ach_achentry AS former WHERE {_SAME}
            AND former.status IN ('waiting', 'frozen', 'sent', 'accepted', 'final'))
ORDER BY account_fingerprint, routing_number, company_id, tenant_id, id LIMIT %(most)s
"""  # noqa: S608  # our own text
# The last prenote after the entry was taken came to nothing, and no other one is on its way.
_REFUSED = f"""
SELECT waiting.id, answer.code
FROM ach_achentry AS waiting CROSS JOIN LATERAL (
    SELECT code, status FROM ach_achentry AS former
    WHERE {_SAME} AND former.status <> 'requeued' AND former.ended_at >= waiting.created_at
    ORDER BY former.id DESC LIMIT 1
) AS answer
WHERE waiting.rail_id = %(rail)s AND waiting.status = 'waiting'
    AND waiting.purpose IN ('topup', 'payment') AND answer.status IN ('returned', 'rejected')
    AND NOT EXISTS (
        SELECT FROM ach_achentry AS former WHERE {_SAME}
            AND former.status IN ('waiting', 'frozen', 'sent', 'accepted', 'final'))
ORDER BY waiting.id FOR NO KEY UPDATE OF waiting SKIP LOCKED
"""  # noqa: S608  # our own text


def days(window: Window, *, asked: bool) -> Mapping[str, Any]:
    """What the statement that freezes needs: the last settlement days of prenotes after which
    entries of this window may go, and when an entry settles whose prenote goes in it."""
    today = schedule.effective_date(window, same_day=True)
    tomorrow = schedule.effective_date(window, same_day=False)
    return {
        "prenotes": asked,
        "answered_today": _banking_days_before(today),
        "answered_tomorrow": _banking_days_before(tomorrow),
        "answered_then": calendar.add_banking_days(tomorrow, BANKING_DAYS),
    }


def ask(rail: str, window: Window, *, now: datetime) -> int:
    """Add a prenote for each account that entries of this window name for the first time. The
    caller's transaction has the right to freeze. Returns how many. An entry whose account does not
    open asks for none, waits, and keeps no other one back."""
    values = {
        **days(window, asked=True),
        "rail": rail,
        "frozen_from": window.frozen_from,
        "most": _ASKED_TOGETHER,
    }
    count, unreadable = 0, list[int]()
    while found := sql.rows(_UNASKED, {**values, "unreadable": arrays.plain(unreadable)}):
        prenotes = []
        rows = AchEntry.objects.filter(one_of("pk", [each for (each,) in found]))
        for entry in rows.order_by("pk"):
            try:
                prenotes.append(_prenote(entry, now))
            except crypto.Undecryptable:
                log.error("ach_account_unreadable", entry=entry.pk)
                unreadable.append(entry.pk)
        AchEntry.objects.bulk_create(prenotes)
        count += len(prenotes)
    return count


@by(WORKER)
def end_refused(rail: str, *, now: datetime) -> int:
    """End the waiting entries whose prenote came back or was rejected. Returns how many."""
    if not rails.current(rail).parsed.prenotes:
        return 0
    with transaction.atomic():
        codes: dict[int, str] = dict(sql.rows(_REFUSED, {"rail": rail}))
        ended = telling.ended(
            codes,
            status=EntryStatus.WITHDRAWN,
            kind=EventKind.REJECTED,
            sources=[EntryStatus.WAITING],
            now=now,
        )
    return len(ended)


def _prenote(entry: AchEntry, now: datetime) -> AchEntry:
    instruction = new(PRENOTE_PREFIX)
    return AchEntry(
        instruction_id=instruction,
        rail_id=entry.rail_id,
        originator_id=entry.originator_id,
        tenant_id=entry.tenant_id,
        purpose=PRENOTE,
        is_debit=entry.is_debit,
        sec=entry.sec,
        payment_type=entry.payment_type,
        transaction_code=entry.transaction_code + _CODE_AHEAD,
        routing_number=entry.routing_number,
        account_token=crypto.encrypt(
            entry.account_number, context=AchEntry.context_of(instruction)
        ),
        account_fingerprint=entry.account_fingerprint,
        account_last4=entry.account_last4,
        name=entry.name,
        individual_id=entry.individual_id,
        company_name=entry.company_name,
        company_id=entry.company_id,
        description=entry.description,
        amount=0,
        speed=Speed.STANDARD,
        original=entry,
        status=EntryStatus.WAITING,
        created_at=now,
    )


def _banking_days_before(day: date) -> date:
    """The last day after which as many banking days pass until `day`."""
    for _ in range(BANKING_DAYS):
        day -= timedelta(days=1)
        while not calendar.is_banking_day(day):
            day -= timedelta(days=1)
    return day
