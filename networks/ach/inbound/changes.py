"""Notifications of change: kept encrypted, told to whoever keeps the account, or left to a person.

Source: Nacha Operating Rules, 2.11 and Appendix Five.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date, datetime
from typing import NamedTuple

from common import crypto
from networks import base
from networks.ach.inbound import corrected_data, deadlines, matching
from networks.ach.inbound.corrected_data import INFORMATIONAL, Corrected, Impossible
from networks.ach.inbound.outcomes import Outcome, applied, review
from networks.ach.models import AchEntry, AchEvent, Correction, InRecord
from networks.ach.models.entries import PRENOTE
from networks.ach.models.events import AchEventKind
from networks.ach.nacha import layout
from networks.ach.nacha.items import parse
from networks.ach.nacha.records import Addenda98
from networks.ach.states import CorrectionStatus
from networks.base import AccountType, Purpose

# By the first digit of an entry's transaction code.
_SAVINGS_CODES = range(30, 40)
_CAN_NOT_BE = "the corrected data cannot be: refuse it with its code (C61 to C69), or resolve it"


class _Change(NamedTuple):
    record: InRecord
    entry: AchEntry
    corrected: Corrected | None


def apply(
    records: Sequence[InRecord], *, rail_id: str, day: date, at_once: bool, now: datetime
) -> list[Outcome]:
    """Take in new notifications. `at_once`: what can be read is told without a person's word."""
    found = matching.candidates(records, rail_id=rail_id)
    matches = [
        matching.match(record, found.get(record.original_trace, ()), day=day) for record in records
    ]
    entries = AchEntry.objects.in_bulk([m.entry_id for m in matches if m.entry_id is not None])
    outcomes: list[Outcome] = []
    for record, match in zip(records, matches, strict=True):
        if match.entry_id is None:
            outcomes.append(review(record, match.why_not, day=day))
            continue
        change = _Change(record, entries[match.entry_id], _corrected(record))
        outcomes.append(_take(change, day=day, at_once=at_once, now=now))
    return outcomes


def tell(correction: Correction, *, now: datetime) -> AchEvent:
    """Have a correction told to whoever keeps the account: of a reversal or a prenote, which are
    our own, the one who asked for the original."""
    entry = correction.entry
    is_ours = entry.purpose in {Purpose.REVERSAL, PRENOTE}
    asked = entry.original if is_ours and entry.original else entry
    event = AchEvent.about(
        entry,
        AchEventKind.CORRECTED,
        record_id=correction.record_id,
        correction=correction,
        instruction_id=asked.instruction_id,
        code=correction.code,
        now=now,
    )
    event.save(force_insert=True)
    return event


def details(correction: Correction) -> base.Correction:
    """What an account really is. Raises common.crypto.Undecryptable."""
    text = crypto.decrypt(correction.corrected_token, context=correction.encryption_context)
    said = json.loads(text)
    return base.Correction(
        code=correction.code,
        routing_number=said["routing_number"],
        account_number=said["account_number"],
        account_type=AccountType(said["account_type"]) if said["account_type"] else None,
        name=said["text"] if correction.code == "C04" else "",
    )


def before(correction: Correction) -> Corrected:
    """The account as the entry named it. Raises common.crypto.Undecryptable."""
    text = crypto.decrypt(correction.old_token, context=correction.encryption_context)
    return Corrected(**json.loads(text))


def raw_addenda(record: InRecord) -> Addenda98 | None:
    """The notification as it came. Raises common.crypto.Undecryptable."""
    _, _, text = matching.raw(record).partition("\n")
    return parse(layout.ADDENDA_98, text.split("\n")[0])


def _corrected(record: InRecord) -> Corrected | None:
    """What it corrects; None where that cannot be."""
    addenda = raw_addenda(record)
    try:
        return corrected_data.parse(record.code, addenda.corrected_data) if addenda else None
    except Impossible:
        return None


def _take(change: _Change, *, day: date, at_once: bool, now: datetime) -> Outcome:
    record, entry, corrected = change
    came = record.settlement_day or day
    correction = _row(change, came, now)
    if corrected is None:
        correction.due_on = deadlines.refusal_due(came)
        correction.save(force_insert=True)
        return review(record, _CAN_NOT_BE, day=day, entry_id=entry.pk, due_on=correction.due_on)
    if record.code in INFORMATIONAL:
        correction.status = CorrectionStatus.INFORMATIONAL
        correction.save(force_insert=True)
        return applied(record, entry_id=entry.pk, note="only informs: nothing is changed by it")
    if not at_once:
        correction.save(force_insert=True)
        note = "a person applies it or refuses it"
        return review(record, note, day=day, entry_id=entry.pk, due_on=correction.due_on)
    correction.status, correction.decided_at = CorrectionStatus.APPLIED, now
    correction.save(force_insert=True)
    tell(correction, now=now)
    return applied(record, entry_id=entry.pk)


def _row(change: _Change, came: date, now: datetime) -> Correction:
    """An unsaved correction with what was sent and what it should have been."""
    record, entry, corrected = change
    row = Correction(
        record=record,
        entry=entry,
        code=record.code,
        due_on=deadlines.change_due(came),
        created_at=now,
    )
    row.old_token = _sealed(_sent(entry), row)
    row.corrected_token = _sealed(corrected, row) if corrected else ""
    return row


def _sent(entry: AchEntry) -> Corrected:
    """The account as the entry named it."""
    is_savings = entry.transaction_code in _SAVINGS_CODES
    return Corrected(
        routing_number=entry.routing_number,
        account_number=entry.account_number,
        account_type=AccountType.SAVINGS if is_savings else AccountType.CHECKING,
        text=entry.name,
    )


def _sealed(details: Corrected, row: Correction) -> str:
    return crypto.encrypt(json.dumps(asdict(details)), context=row.encryption_context)
