from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from desk import doers, restoring
from desk.rails import acts
from networks.ach import connecting, rails
from networks.ach.models import TraceCounter
from networks.ach.restoring import comparing
from networks.ach.restoring.comparing import Again, Comparison, Unknown, Unread
from networks.ach.restoring.reading import EntryThere
from networks.ach.sftp.bank import Bank, connected
from networks.ach.sftp.errors import SftpError
from networks.ach.terms import InvalidTerms


class Command(JsonCommand):
    help = (
        "After a backup was restored: compare a bank's folders with our rows, and say what we do "
        "not know. Ends with status 1 when something is missing. With --take-over it is written "
        "down that the bank has those files, so that nothing in them is sent again."
    )
    found: Comparison
    lost = 0

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("rail")
        parser.add_argument("--take-over", action="store_true", help="needs the two below")
        parser.add_argument("--operator", default="", help="your name, kept for good")
        parser.add_argument("--reason", default="", help="kept in the audit log")

    def perform(self, **options: Any) -> dict[str, Any]:
        rail = acts.found_rail(options["rail"]).pk
        if options["take_over"] and not (options["operator"].strip() and options["reason"].strip()):
            raise CommandError("--take-over needs --operator and --reason.")
        try:
            with connected(connecting.settings(rail)) as bank:
                return self._compared(bank, rail, options)
        except SftpError as error:
            raise CommandError(f"{error.code}: {error.advice}") from error
        except (rails.NoTerms, InvalidTerms) as error:
            raise CommandError(f"{rail} has no terms that can be read.") from error

    def handle(self, *args: object, **options: Any) -> None:
        super().handle(*args, **options)
        if self.found.is_missing_something:
            raise CommandError("Something is missing here that the bank has.")
        if self.lost:
            raise CommandError(
                f"{self.lost} entries that the bank has are nobody's here. Keep this list: it is "
                "not shown again."
            )

    def _compared(self, bank: Bank, rail: str, options: dict[str, Any]) -> dict[str, Any]:
        self.found = comparing.compare(bank, rail)
        told = _told(rail, self.found)
        if not options["take_over"]:
            return told
        files = restoring.take_over(
            rail,
            self.found,
            reason=options["reason"].strip(),
            doer=doers.operator(options["operator"]),
            now=utc_now(),
        )
        self.lost = len(told["lost"])
        self.found = comparing.compare(bank, rail)
        return {**told, "takenOver": [file.pk for file in files]}


def _told(rail: str, found: Comparison) -> dict[str, Any]:
    counter = TraceCounter.objects.filter(pk=rails.current(rail).parsed.odfi).first()
    return {
        "rail": rail,
        "ok": not found.is_missing_something,
        "knownUntil": {
            "sent": found.last_sent_at and found.last_sent_at.isoformat(),
            "received": found.last_received_at and found.last_received_at.isoformat(),
        },
        "unknownFiles": [_file(each) for each in found.unknown],
        "mustNotBeSentAgain": [_again(each) for file in found.unknown for each in file.again],
        "lost": [_entry(each) for file in found.unknown for each in file.lost],
        "unreadFiles": [_unread(each) for each in found.unread],
        "unansweredFiles": [file.remote_name for file in found.unanswered],
        "nextTrace": {
            "is": counter.next if counter else 1,
            "setTo": found.next_trace or None,
        },
    }


def _file(found: Unknown) -> dict[str, Any]:
    return {
        "folder": found.folder,
        "name": found.file.name,
        "size": found.file.size,
        "sha256": found.file.sha256,
        "kind": found.file.kind,
        "faults": sorted(set(found.file.faults)),
        "fileId": found.row.pk if found.row else None,
        "status": found.row.status if found.row else None,
        "entries": len(found.file.entries),
        "debit": sum(each.terms.amount for each in found.file.entries if each.is_debit),
        "credit": sum(each.terms.amount for each in found.file.entries if not each.is_debit),
    }


def _again(found: Again) -> dict[str, Any]:
    return {
        **_entry(found.there),
        "instructionId": found.entry.instruction_id,
        "tenantId": found.entry.tenant_id,
        "status": found.entry.status,
    }


def _entry(there: EntryThere) -> dict[str, Any]:
    return {
        "trace": there.trace_number,
        "individualId": there.terms.individual_id,
        "accountLast4": there.account_last4,
        "routingNumber": there.terms.routing_number,
        "type": "debit" if there.is_debit else "credit",
        "amount": there.terms.amount,
    }


def _unread(found: Unread) -> dict[str, Any]:
    return {
        "folder": found.folder,
        "name": found.name,
        "size": found.size,
        "sha256": found.sha256,
    }
