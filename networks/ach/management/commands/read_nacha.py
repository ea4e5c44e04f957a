from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import CommandError, CommandParser

from common.commands import JsonCommand
from networks import calendar
from networks.ach.nacha.faults import Fault
from networks.ach.nacha.reader import read
from networks.ach.nacha.summary import FAULTS_KEPT, Summary, summarize
from networks.ach.nacha.validator.judge import Validator
from networks.ach.nacha.validator.terms import Terms


class Command(JsonCommand):
    help = (
        "Read a NACHA file and say what it holds and what is wrong with it. "
        "Ends with status 0 whatever it found. "
        f"At most {FAULTS_KEPT:,} faults are listed; faultCount has them all."
    )

    def add_own_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the file, as it came or as it is to be sent")
        parser.add_argument(
            "--originated", action="store_true", help="judge it as a file that we send"
        )

    def perform(self, **options: Any) -> dict[str, Any]:
        path: Path = options["file"]
        try:
            with path.open("rb") as source:
                summary = _judged(source) if options["originated"] else summarize(read(source))
        except OSError as error:
            raise CommandError(f"cannot read {path}: {error.strerror}") from error
        return _shown(summary)


def _judged(source: BinaryIO) -> Summary:
    validator = Validator(source, Terms(is_banking_day=calendar.is_banking_day))
    summary = summarize(validator)
    summary.secs = validator.secs
    summary.entries = validator.entries
    summary.returns, summary.nocs = validator.returns, validator.nocs
    summary.debit, summary.credit = validator.debit, validator.credit
    return summary


def _shown(summary: Summary) -> dict[str, Any]:
    return {
        "ok": summary.ok,
        "faults": [_line(fault) for fault in summary.faults],
        "faultCount": summary.fault_count,
        "notes": [_line(note) for note in summary.notes],
        "secs": sorted(summary.secs),
        "entries": summary.entries,
        "returns": summary.returns,
        "nocs": summary.nocs,
        "debit": summary.debit,
        "credit": summary.credit,
    }


def _line(fault: Fault) -> dict[str, Any]:
    return {"line": fault.line, "code": fault.code, "detail": fault.detail}
