"""Micro-deposits, step by step: three entries of a verification, each handed over, settled and
returned for itself.

`transfers` calls these methods in their order. None of them touches the balance; what the deposits
cost is in the operator's books.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from types import MappingProxyType
from typing import Any

import structlog

from balance import services as ledger
from balance.operator.posting import Booking
from common.state import Step
from funding.errors import AuthorizationRequired
from funding.models import DEPOSIT_SOURCE_TYPE, DepositEntry, SourceVerification
from funding.services import authorization_checks, sources, verifications
from funding.services.corrections import SOURCES
from funding.states import DEPOSIT_STATES, DepositStatus, SourceStatus
from networks import return_codes, schemes
from networks.base import (
    Accepted,
    Authorization,
    EventKind,
    HolderType,
    InstructionRefused,
    Method,
    Purpose,
)
from tenants.actors import Actor
from tenants.switches import SwitchKind
from transfers import books
from transfers.books import Happened
from transfers.contract import Effect, Rule, Transfer
from transfers.methods import Methods, TransferMethod

log = structlog.get_logger(__name__)

S = DepositStatus

METHODS = Methods(
    TransferMethod(
        name=Method.ACH_CREDIT,
        network_method=Method.ACH_CREDIT,
        words="deposit",
        usual_terms=schemes.ACH_CREDIT,
    ),
    TransferMethod(
        name=Method.ACH_DEBIT,
        network_method=Method.ACH_DEBIT,
        words="debit of the deposits",
        usual_terms=schemes.ACH_DEBIT,
    ),
)

_UNSENT = frozenset({S.CREATED})
_NOTED: Mapping[str, str] = {S.SENT: S.SENT, S.COMPLETED: S.COMPLETED, S.FAILED: S.FAILED}
_DISPUTE = Rule(
    moves={S.FAILED: S.FAILED}, too_early_in=frozenset({S.CREATED, S.SENT, S.COMPLETED})
)
RULES = MappingProxyType(
    {
        EventKind.ACCEPTED: Rule(moves=_NOTED, too_early_in=_UNSENT),
        EventKind.SETTLED: Rule(moves=_NOTED, too_early_in=_UNSENT),
        EventKind.RESCHEDULED: Rule(moves=_NOTED, too_early_in=_UNSENT),
        EventKind.FINAL: Rule(moves={S.SENT: S.COMPLETED}, too_early_in=_UNSENT),
        EventKind.REJECTED: Rule(moves={S.SENT: S.FAILED}, too_early_in=_UNSENT),
        EventKind.RETURNED: Rule(
            moves={S.SENT: S.FAILED, S.COMPLETED: S.FAILED}, too_early_in=_UNSENT
        ),
        EventKind.RETURN_DISHONORED: _DISPUTE,
        EventKind.RETURN_CONTESTED: _DISPUTE,
    }
)
# Whose verification failed, or who removed the account, gets no more entries. One that was proven
# before the last entry was sent gets it: otherwise the deposits would never be taken back.
_MAY_BE_SENT = frozenset({SourceStatus.PENDING_VERIFICATION, SourceStatus.ACTIVE})


class DepositTransfer(Transfer[DepositEntry]):
    """An entry of a verification on its way through a network."""

    id_prefix = "vde_"
    noun = "micro-deposit"
    direction = "in"
    purpose = Purpose.VERIFICATION
    model = DepositEntry
    due_status = S.CREATED
    taken_over_status = S.SENT
    stopped_by = SwitchKind.FUNDING
    account_field = "source"
    accounts = SOURCES
    methods = METHODS
    rules = RULES
    hides_amounts = True
    books_dishonors = False  # cents of ours: whoever explains the bank's line does so by hand

    # --- It is due, and is handed to its network

    def refresh(self, rows: Sequence[DepositEntry], now: datetime) -> None:
        """The bank accounts, and whether they may be debited: the rows were claimed before."""
        sources.read_again(rows)
        debited = [row for row in rows if row.method == Method.ACH_DEBIT]
        lacking = authorization_checks.lacking_for_deposits([row.source for row in debited])
        for row in debited:
            row.lacks_authorization = row.source_id in lacking

    def require_sendable(self, row: DepositEntry) -> None:
        if row.source.status not in _MAY_BE_SENT:
            raise InstructionRefused(
                code="verification_over", reason=f"The bank account is {row.source.status}."
            )
        if row.lacks_authorization:
            reason = "Nobody authorized the debit that takes the deposits back."
            raise InstructionRefused(code=AuthorizationRequired.code, reason=reason)

    def authorization(self, row: DepositEntry) -> Authorization | None:
        """Of the debit. What an individual has to agree to is asked in `require_sendable`."""
        if Method(row.method) is not Method.ACH_DEBIT:
            return None
        is_business = row.source.account_holder_type == HolderType.BUSINESS
        return Authorization.CORPORATE if is_business else Authorization.WEB_SINGLE

    def accepted(self, row: DepositEntry, receipt: Accepted, now: datetime) -> None:
        self.accepted_together([(row, receipt)], now)

    def accepted_together(
        self, answers: Iterable[tuple[DepositEntry, Accepted]], now: datetime
    ) -> None:
        """The ten days begin when the network has taken the last of the three."""
        taken = list(answers)
        DEPOSIT_STATES.advance_many(
            [
                Step(
                    row,
                    S.SENT,
                    {
                        "network_reference": receipt.reference,
                        "trace_number": receipt.trace_number,
                        "updated_at": now,
                    },
                )
                for row, receipt in taken
            ]
        )
        waiting = SourceVerification.objects.filter(
            pk__in={row.verification_id for row, _ in taken},
            source__status=SourceStatus.PENDING_VERIFICATION,
        )
        held = waiting.order_by("pk").select_for_update(no_key=True, of=("self",))
        ids = list(held.values_list("pk", flat=True))
        SourceVerification.objects.filter(pk__in=ids).update(
            expires_at=now + verifications.VALID_FOR
        )

    def refused(self, row: DepositEntry, refusal: InstructionRefused, now: datetime) -> None:
        """The verification is over: the network takes no entry of it. A debit that nobody
        authorized is only left out: the account keeps the two deposits, which prove it as well."""
        DEPOSIT_STATES.advance(row, S.FAILED, failure_code=refusal.code[:40], updated_at=now)
        if refusal.code != AuthorizationRequired.code:
            log.warning("deposits_refused", deposit_id=row.pk, code=refusal.code)
            verifications.fail(source_id=row.source_id, now=now)

    # --- The network reports on it

    def apply(self, effects: Sequence[Effect], now: datetime) -> None:
        """Only bad news of any of the three says something about the account: it cannot be used.
        One that was taken back says nothing about it, and ends the verification if it is open."""
        ledger.book([line for each in effects for line in self._booked(each)], now=now)
        for row, target, event in effects:
            changes = {"failure_code": event.code} if target == S.FAILED else {}
            DEPOSIT_STATES.advance(row, target, updated_at=now, **changes)
            if target != S.FAILED:
                continue
            if event.kind == EventKind.RETURNED or return_codes.is_ach_return(event.code):
                sources.note_deposit_back(source_id=row.source_id, code=event.code, now=now)
            else:  # withdrawn by us, or refused for what we wrote: no word about the account
                verifications.fail(source_id=row.source_id, now=now)

    def _booked(self, effect: Effect) -> list[Booking]:
        """The operator's lines of a message that moves an entry, which was not moved yet."""
        row, target, event = effect
        if target == S.COMPLETED:
            happened = Happened.FINAL
        elif row.status == S.COMPLETED:
            happened = Happened.RETURNED_LATE
        elif event.kind == EventKind.RETURNED or row.settlement_date is not None:
            happened = Happened.RETURNED
        else:
            return []
        return self.booked(row, happened, event.settlement_date)

    def booked(self, row: DepositEntry, happened: Happened, day: date | None) -> list[Booking]:
        way = books.DEPOSIT_DEBIT if row.method == Method.ACH_DEBIT else books.DEPOSIT
        return books.bookings(row, happened, way, source_type=DEPOSIT_SOURCE_TYPE, day=day)

    # --- Staff hold it before it leaves

    def end(
        self, row: DepositEntry, *, actor: Actor, code: str, message: str, now: datetime
    ) -> None:
        DEPOSIT_STATES.advance(row, S.FAILED, failure_code=code[:40], updated_at=now)
        verifications.fail(source_id=row.source_id, now=now)

    def on_release(self, row: DepositEntry, now: datetime) -> Mapping[str, Any]:
        return {"next_attempt_at": now} if row.status == S.CREATED else {}


DEPOSIT_ENTRIES = DepositTransfer()
