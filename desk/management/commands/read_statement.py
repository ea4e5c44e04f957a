from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.clock import utc_now
from common.commands import JsonCommand
from desk.doers import operator
from desk.management.options import add_who_and_why
from desk.statements import acts
from networks.ach.inbound.storing import NotStorable
from networks.ach.models import AchRail, InFile
from networks.ach.states import InFileStatus
from reconciliation import reading

_CHUNK_BYTES = 1 << 18


class Command(JsonCommand):
    help = (
        "Store a bank statement (BAI2 or camt.053) and take it, as if the bank had put it into its"
        " folder. No second person is asked; the audit log says that you were alone. Ends with"
        " status 0 also if it was set aside: the faults say what to do."
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the file as it came, at most 200 MiB")
        parser.add_argument("--rail", required=True, help="the rail behind which the account is")
        add_who_and_why(parser)

    def perform(self, **options: Any) -> dict[str, Any]:
        path, rail = options["file"], options["rail"]
        if not AchRail.objects.filter(pk=rail).exists():
            raise CommandError(f"There is no rail {rail}.")
        try:
            stored = acts.upload_alone(
                rail=rail,
                name=path.name,
                content=_pieces(path),
                reason=options["reason"],
                doer=operator(options["operator"]),
                now=utc_now(),
            )
        except OSError as error:
            raise CommandError(f"cannot read {path}: {error.strerror}") from error
        except NotStorable as refusal:
            raise CommandError(f"{refusal.code}: {refusal}") from refusal
        reading.read_due(now=utc_now())
        return _shown(InFile.objects.get(pk=stored.file.pk), is_new=stored.is_new)


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as source:
        while piece := source.read(_CHUNK_BYTES):
            yield piece


def _shown(file: InFile, *, is_new: bool) -> dict[str, Any]:
    rows = file.statements.order_by("number")
    return {
        "fileId": file.pk,
        "isNew": is_new,
        "status": InFileStatus(file.status).value,
        "faults": file.faults,
        "statements": [
            {
                "statementId": row.pk,
                "lastDay": row.last_day.isoformat(),
                "opening": row.opening,
                "closing": row.closing,
                "lines": row.line_count,
            }
            for row in rows
        ],
    }
