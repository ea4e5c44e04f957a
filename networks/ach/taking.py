"""How instructions become entries: judged one by one, written in one statement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any

from django.db import transaction
from django.db.models import Q

from common import crypto
from common.engine import arrays, sql
from common.engine.lookups import one_of
from common.money import format_cents
from networks import routing
from networks.ach import accounts, following, rails, schedule
from networks.ach.models import AchEntry, Originator, RailVersion
from networks.ach.models.entries import reference_of
from networks.ach.nacha import text
from networks.ach.states import EntryStatus
from networks.ach.terms import InvalidTerms, RailTerms
from networks.base import (
    Accepted,
    AccountType,
    Answer,
    Authorization,
    HolderType,
    Instruction,
    InstructionConflict,
    InstructionRefused,
    Method,
    NetworkUnavailable,
    Purpose,
)

RETRY, REVERSAL, VERIFICATION = "RETRY PYMT", "REVERSAL", "ACCTVERIFY"
_CODES = {
    (True, AccountType.CHECKING): 27,
    (True, AccountType.SAVINGS): 37,
    (False, AccountType.CHECKING): 22,
    (False, AccountType.SAVINGS): 32,
}
_PAYMENT_TYPES = {Authorization.WEB_SINGLE: "S", Authorization.WEB_RECURRING: "R"}
# Tenants read it: how many came back of whose is none of it, as an originator may be many tenants'.
_STOPPED = "too many debits came back: no new one is taken until we decide about that"
_FOLLOWING = {Purpose.RETRY, Purpose.REVERSAL}
# A test of an account goes as a whole, and a reversal in its time or never: no limit of an
# originator or of the rail's day keeps them, here or at the freeze.
NEVER_STOPPED = {Purpose.VERIFICATION, Purpose.REVERSAL}

_FOUND = """
SELECT instruction_id, rail_id, terms_digest, coalesce(first_number, id)
FROM ach_achentry
WHERE instruction_id = ANY(%(ids)s::text::text[]) AND NOT status = 'requeued'
"""
# In the order of the ids, so that two calls about the same ones wait for each other and not in a
# ring.
_INSERT = """
INSERT INTO ach_achentry (
    instruction_id, rail_id, originator_id, tenant_id, purpose, is_debit, sec, payment_type,
    transaction_code, routing_number, account_token, account_fingerprint, account_last4, name,
    individual_id, company_name, company_id, description, amount, speed, same_day, promised_on,
    original_id, terms_digest, status, trace_number, waits_for, code, created_at
)
SELECT instruction, %(rail)s, originator, tenant, purpose, is_debit, sec, payment_type,
    transaction_code, routing, token, fingerprint, last4, name, individual, company_name,
    company_id, description, amount, speed, false, promised_on, original, digest,
    'waiting', '', '', '', %(now)s
FROM unnest(
    %(instruction)s::text::text[], %(originator)s::text::text[], %(tenant)s::text::text[],
    %(purpose)s::text::text[], %(is_debit)s::text::boolean[], %(sec)s::text::text[],
    %(payment_type)s::text::text[], %(transaction_code)s::text::smallint[],
    %(routing)s::text::text[], %(token)s::text::text[], %(fingerprint)s::text::text[],
    %(last4)s::text::text[], %(name)s::text::text[], %(individual)s::text::text[],
    %(company_name)s::text::text[], %(company_id)s::text::text[], %(description)s::text::text[],
    %(amount)s::text::bigint[], %(speed)s::text::text[], %(promised_on)s::text::date[],
    %(original)s::text::bigint[], %(digest)s::text::text[]
) AS given (
    instruction, originator, tenant, purpose, is_debit, sec, payment_type, transaction_code,
    routing, token, fingerprint, last4, name, individual, company_name, company_id, description,
    amount, speed, promised_on, original, digest
)
ON CONFLICT (instruction_id) WHERE NOT status = 'requeued' DO NOTHING
RETURNING instruction_id, rail_id, terms_digest, id
"""


class Refused(Exception):
    """An entry that we do not send."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


@dataclass(frozen=True)
class Original:
    """What a retry or a reversal keeps of the entry that it follows."""

    id: int
    originator_id: str
    company_name: str
    company_id: str
    sec: str
    payment_type: str
    amount: int
    is_debit: bool


def take_many(
    rail: str, instructions: Sequence[Instruction], *, now: datetime
) -> dict[str, Answer]:
    """The answer to each instruction, of different ids, by its id.

    In a transaction of its own: whatever becomes of the caller's, the bank's side has them.
    """
    by_id = {each.id: each for each in instructions}
    with transaction.atomic(durable=True):
        known = _found(by_id)
        new = [by_id[each] for each in sorted(by_id.keys() - known.keys())]
        values, refused = _judged(rail, new, now)
        if values:
            known |= _insert(rail, values, now)
            if missing := set(values) - known.keys():
                known |= _found(missing)
    answers: dict[str, Answer] = {**refused}
    for each, row in known.items():
        answers[each] = _answer(rail, by_id[each], row)
    return answers


def find(rail: str, instruction_id: str) -> Accepted | None:
    """The receipt of an instruction that has an entry."""
    row = _found([instruction_id]).get(instruction_id)
    return Accepted(reference=reference_of(row[2])) if row and row[0] == rail else None


def digests(instruction: Instruction) -> tuple[str, ...]:
    """Tell equal terms from other ones without keeping the account number, under each key."""
    account = instruction.account
    terms = (
        instruction.method,
        instruction.currency,
        str(instruction.amount),
        instruction.purpose,
        instruction.tenant_id,
        instruction.original_id,
        account.routing_number,
        account.account_number,
        account.account_type,
    )
    return crypto.fingerprints("\0".join(terms), purpose="ach.terms")


_Row = tuple[str, str, int]  # its rail, the digest of its terms, the id of its first entry


def _found(ids: Iterable[str]) -> dict[str, _Row]:
    found = sql.rows(_FOUND, {"ids": arrays.texts(ids)})
    return {each: (rail, terms, number) for each, rail, terms, number in found}


def _insert(rail: str, values: Mapping[str, Mapping[str, Any]], now: datetime) -> dict[str, _Row]:
    names = next(iter(values.values()))
    lists = {name: arrays.mixed(each[name] for each in values.values()) for name in names}
    found = sql.rows(_INSERT, {**lists, "rail": rail, "now": now})
    return {each: (by, terms, number) for each, by, terms, number in found}


def _answer(rail: str, instruction: Instruction, row: _Row) -> Accepted | InstructionConflict:
    if row[0] != rail or row[1] not in digests(instruction):
        return InstructionConflict(f"{instruction.id} was used before with other terms")
    return Accepted(reference=reference_of(row[2]))


def _judged(
    rail: str, instructions: Sequence[Instruction], now: datetime
) -> tuple[dict[str, dict[str, Any]], dict[str, InstructionRefused | NetworkUnavailable]]:
    """The columns of those that are taken, and why the others are not."""
    if not instructions:
        return {}, {}
    try:
        version = rails.current(rail)
        is_open = version.parsed.active
    except (rails.NoTerms, InvalidTerms):
        is_open = False
    if not is_open:  # not for good: people mend it, and what waits goes then
        closed = NetworkUnavailable(f"{rail} takes nothing now")
        return {}, {each.id: closed for each in instructions}
    judge = Judge(version, instructions, now)
    values: dict[str, dict[str, Any]] = {}
    refused: dict[str, InstructionRefused | NetworkUnavailable] = {}
    for each in instructions:
        try:
            values[each.id] = judge.values(each)
        except Refused as error:
            refused[each.id] = InstructionRefused(code=error.code, reason=error.reason)
    return values, refused


class Judge:
    """Knows the terms, the originators and the originals of one call."""

    def __init__(
        self, version: RailVersion, instructions: Sequence[Instruction], now: datetime
    ) -> None:
        self.terms: RailTerms = version.parsed
        self._rail = version.rail_id
        self._now = now
        self._originators = self._find_originators({each.tenant_id for each in instructions})
        self._originals = self._find_originals([each.original_id for each in instructions])
        self._names: dict[str, str] = {}
        self._called = accounts.called(
            {accounts.as_sent(each.account.account_number) for each in instructions}
        )

    def values(self, instruction: Instruction) -> dict[str, Any]:
        """The columns of its entry. Raises Refused."""
        is_debit = self._direction(instruction)
        original = self._original(instruction, is_debit)
        originator = self._originator(instruction, original, is_debit)
        account = instruction.account
        number = accounts.as_sent(account.account_number)
        sec, payment_type = self._sec(instruction, original, is_debit)
        same_day = schedule.is_same_day(
            self.terms, self._window, speed=instruction.speed, amount=instruction.amount
        )
        return {
            "instruction": instruction.id,
            "originator": originator.pk,
            "tenant": instruction.tenant_id,
            "purpose": str(instruction.purpose),
            "is_debit": is_debit,
            "sec": sec,
            "payment_type": payment_type,
            "transaction_code": _CODES[is_debit, AccountType(account.account_type)],
            "routing": account.routing_number,
            "token": crypto.encrypt(number, context=AchEntry.context_of(instruction.id)),
            "fingerprint": self._called[number],
            "last4": number[-4:],
            "name": self._name(account.holder_name),
            "individual": text.plain(instruction.individual_id)[:15].rstrip(),
            "company_name": original.company_name if original else originator.company_name,
            "company_id": original.company_id if original else originator.company_id,
            "description": self._description(instruction.purpose),
            "amount": instruction.amount,
            "speed": str(instruction.speed),
            "promised_on": self._days[same_day],
            "original": original.id if original else None,
            "digest": digests(instruction)[0],
        }

    @cached_property
    def _window(self) -> schedule.Window:
        return schedule.next_window(self.terms, self._now)

    @cached_property
    def _days(self) -> dict[bool, str]:
        """The day of settlement of entries that settle on the same day, and of others."""
        return {
            same_day: schedule.effective_date(self._window, same_day=same_day).isoformat()
            for same_day in (False, True)
        }

    def _direction(self, instruction: Instruction) -> bool:
        """Whether it is a debit. Raises Refused for what this rail does not do at all."""
        if instruction.method not in (Method.ACH_DEBIT, Method.ACH_CREDIT):
            raise Refused("unsupported", f"no {instruction.method}")
        if instruction.amount > self.terms.entry_max:
            raise Refused(
                "amount_above_limit", f"more than {format_cents(self.terms.entry_max)} at once"
            )
        if not routing.validate(instruction.account.routing_number):
            raise Refused("routing_number_invalid", "no such routing number")
        return instruction.method == Method.ACH_DEBIT

    def _original(self, instruction: Instruction, is_debit: bool) -> Original | None:
        if instruction.purpose not in _FOLLOWING:
            return None
        original = self._originals.get(instruction.original_id)
        if original is None:
            raise Refused("original_unknown", f"{instruction.original_id} has no entry")
        if original.amount != instruction.amount:
            raise Refused("original_differs", "the amount is not that of the original")
        is_turned = instruction.purpose == Purpose.REVERSAL
        if (original.is_debit == is_debit) == is_turned:
            raise Refused("original_differs", "the direction does not fit the original")
        self._require_allowed(instruction)
        return original

    def _require_allowed(self, instruction: Instruction) -> None:
        """Ask the rules about a locked original: it may have come back since somebody decided."""
        row = self._original_rows[instruction.original_id]
        try:
            if instruction.purpose == Purpose.REVERSAL:
                following.require_reversible(row)
                return
            following.require_retry(
                row,
                account_fingerprints=accounts.fingerprints(instruction.account.account_number),
                settles=date.fromisoformat(self._days[False]),
            )
        except following.NotAllowed as refusal:
            raise Refused(refusal.code, refusal.words) from refusal

    def _originator(
        self, instruction: Instruction, original: Original | None, is_debit: bool
    ) -> Originator:
        found = self._originators.get(instruction.tenant_id) or self._originators.get("")
        if found is None:
            raise Refused("no_originator", "no company is set up in whose name we could send it")
        if is_debit and found.debits_stopped_at and instruction.purpose not in NEVER_STOPPED:
            raise Refused("debits_stopped", _STOPPED)
        return found

    def _sec(
        self, instruction: Instruction, original: Original | None, is_debit: bool
    ) -> tuple[str, str]:
        sec, payment_type = self._class(instruction, is_debit)
        if original:
            sec, payment_type = original.sec, original.payment_type
        if sec not in self.terms.secs:
            raise Refused("sec_not_allowed", f"our bank takes no entries of this kind ({sec})")
        return sec, payment_type

    def _class(self, instruction: Instruction, is_debit: bool) -> tuple[str, str]:
        if instruction.account.holder_type == HolderType.BUSINESS:
            return "CCD", ""
        if not is_debit or instruction.purpose == Purpose.VERIFICATION:
            return "PPD", ""
        if instruction.purpose in _FOLLOWING:
            return "WEB", ""  # the original has the rest
        payment_type = instruction.authorization and _PAYMENT_TYPES.get(instruction.authorization)
        if not payment_type:
            raise Refused("authorization_required", "an individual has to authorize a debit")
        return "WEB", payment_type

    def _description(self, purpose: Purpose) -> str:
        fixed = {
            Purpose.RETRY: RETRY,
            Purpose.REVERSAL: REVERSAL,
            Purpose.VERIFICATION: VERIFICATION,
        }
        return fixed.get(purpose) or self.terms.descriptions[purpose]

    def _name(self, holder: str) -> str:
        if holder not in self._names:
            try:
                self._names[holder] = text.individual_name(holder)
            except text.NothingLeft as error:
                raise Refused(
                    "name_unreadable", "the name has no Latin letter, nor a digit from 1 to 9"
                ) from error
        return self._names[holder]

    def _find_originators(self, tenant_ids: set[str]) -> dict[str, Originator]:
        rows = Originator.objects.filter(
            one_of("tenant_id", [*tenant_ids, ""]), rail_id=self._rail, ended_at=None
        )
        return {row.tenant_id: row for row in rows}

    def _find_originals(self, ids: Sequence[str]) -> dict[str, Original]:
        asked = [each for each in ids if each]
        if not asked:
            return {}
        # Locked, so that of two retries at the same moment the second one sees the first.
        rows = AchEntry.objects.select_for_update(no_key=True).filter(
            one_of("instruction_id", asked), ~Q(status=EntryStatus.REQUEUED), rail_id=self._rail
        )
        self._original_rows = {row.instruction_id: row for row in rows.order_by("pk")}
        return {
            row.instruction_id: Original(
                id=row.pk,
                originator_id=row.originator_id,
                company_name=row.company_name,
                company_id=row.company_id,
                sec=row.sec,
                payment_type=row.payment_type,
                amount=row.amount,
                is_debit=row.is_debit,
            )
            for row in self._original_rows.values()
        }
