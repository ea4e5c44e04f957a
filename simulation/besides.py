"""Judges what came of messages that move nothing: days, disputes of returns, corrected accounts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from funding.deposit_transfer import DEPOSIT_ENTRIES
from funding.models import DepositEntry, FundingSource
from funding.states import DepositStatus, SourceStatus
from funding.transfer import FUNDING
from networks.base import BankAccount, EventKind, NetworkEvent
from payments.transfer import PAYMENTS
from simulation.bank import Entry, correction
from simulation.findings import Finding
from simulation.world import World
from transfers.contract import Transfer
from transfers.corrections import KNOWN, AccountBook
from transfers.inbox.models import InboundEvent, InboundOutcome

K = EventKind


def check(world: World) -> Iterator[Finding]:
    """Find days that are not those that the bank told, entries that went to another account than
    their row says, and accounts that are not as their banks corrected them."""
    accounts: dict[tuple[AccountBook[Any], str], list[InboundEvent]] = {}
    transfer: Transfer[Any]
    for transfer in (FUNDING, PAYMENTS, DEPOSIT_ENTRIES):
        rows: Any = transfer.model
        for row in rows._default_manager.select_related(transfer.account_field):
            applied = accounts.setdefault((transfer.accounts, transfer.account(row).pk), [])
            entry = world.bank.entries.get(row.pk)
            if entry is None:
                continue
            events = entry.told(by=world.time.now)
            yield from _days(transfer, row, events)
            yield from _sent(transfer, row, entry)
            for event in events:
                if event.kind is K.CORRECTED:
                    yield from _correction(transfer, row, event, applied)
    for (book, account_id), messages in accounts.items():
        yield from _versions(book, account_id, messages)
    yield from _proofs(world)


def _days(transfer: Transfer[Any], row: Any, events: list[NetworkEvent]) -> Iterator[Finding]:
    for event in events:
        if event.settlement_date is None:
            continue
        told, kept = event.settlement_date, row.settlement_date
        if event.kind is K.RESCHEDULED and not transfer.expected_field:
            continue
        if event.kind is K.RESCHEDULED:
            told, kept = transfer.expected_on(told), getattr(row, transfer.expected_field)
        if kept != told:
            yield Finding("day", row.pk, f"{event.kind} on {told}, kept is {kept}")


def _sent(transfer: Transfer[Any], row: Any, entry: Entry) -> Iterator[Finding]:
    """A row says in which version of its account it went out."""
    if _data(transfer.account_sent(row).in_clear()) != _data(entry.instruction.account):
        text = f"the bank has another account than version {row.account_version}"
        yield Finding("account_sent", row.pk, text)


def _data(account: BankAccount) -> tuple[str, ...]:
    return (account.routing_number, account.account_number, account.account_type)


def _correction(
    transfer: Transfer[Any], row: Any, event: NetworkEvent, applied: list[InboundEvent]
) -> Iterator[Finding]:
    """A correction is applied once, or says nothing new, or is about an older version."""
    message = InboundEvent.objects.filter(event_id=event.id).first()
    if message is None:
        return  # told elsewhere
    if message.outcome == InboundOutcome.APPLIED and not message.note:
        applied.append(message)
    elif message.outcome == InboundOutcome.APPLIED and message.note != KNOWN:
        yield Finding("correction", event.id, f"was not applied: {message.note}")
    elif message.outcome != InboundOutcome.APPLIED:
        since = transfer.account(row).versions.filter(number__gt=row.account_version)
        if not since.filter(created_at__lte=message.decided_at).exists():
            yield Finding("correction", event.id, f"is {message.outcome}: {message.note}")


def _versions(
    book: AccountBook[Any], account_id: str, applied: list[InboundEvent]
) -> Iterator[Finding]:
    """Each applied correction made one version, which has what the bank said."""
    versions: Any = book.versions
    found = {
        each.event_id: each
        for each in versions._default_manager.filter(**{book.key: account_id})
        if each.event_id is not None
    }
    if found.keys() != {message.pk for message in applied}:
        text = f"{len(found)} corrected versions, {len(applied)} corrections"
        yield Finding("account_versions", account_id, text)
    for message in applied:
        version = found.get(message.pk)
        said = correction(message.event_id)
        is_so = version is not None and _data(version.in_clear()) == _data_after(version, said)
        if not is_so:
            yield Finding("account_corrected", account_id, f"not what {message.event_id} said")


def _proofs(world: World) -> Iterator[Finding]:
    """An account that was proven, or that an entry came back from, waits no more. The entries of a
    verification are three, whoever died."""
    told = {d.subject_id for d in world.deeds if d.kind == "prove_account" and d.was_told}
    for source in FundingSource.objects.filter(verification__isnull=False):
        entries = list(DepositEntry.objects.filter(source=source))
        if len(entries) not in {0, 3}:
            yield Finding("deposits", source.pk, f"{len(entries)} entries")
        is_bad = any(entry.status == DepositStatus.FAILED for entry in entries)
        if source.status == SourceStatus.PENDING_VERIFICATION and (source.pk in told or is_bad):
            yield Finding("deposits", source.pk, "waits, although it was proven or refused")


def _data_after(version: Any, said: Any) -> tuple[str, ...]:
    """The data of a version, with what its bank said in their place."""
    routing, number, kind = _data(version.in_clear())
    return (
        said.routing_number or routing,
        said.account_number or number,
        said.account_type or kind,
    )
