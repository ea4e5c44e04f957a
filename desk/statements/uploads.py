"""What an uploaded statement says, for whoever has to approve it: read, and not taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from networks.ach.inbound import storing
from networks.ach.models import InFile
from networks.bank_details import last4
from networks.bank_statements.reading import read
from reconciliation import accounts, surveying
from reconciliation.models import SettlementAccount
from reconciliation.surveying import Tally

_SHOWN = 20  # statements of a file, and faults


@dataclass(frozen=True, kw_only=True)
class Told:
    """One statement. Amounts are cents, as far as the bank gives them; sums are positive."""

    last4: str
    is_ours: bool
    first_day: date
    last_day: date
    opening: int | None
    closing: int | None
    credits: int
    debits: int
    line_count: int


@dataclass(frozen=True, kw_only=True)
class Upload:
    """A file with its first statements and faults. `came_by_itself` says that the bank itself put
    the same bytes into its folder."""

    file: InFile
    statements: list[Told]
    statement_count: int
    faults: list[Mapping[str, Any]]
    came_by_itself: bool


def said_by(file_id: str) -> Upload:
    """Read an uploaded file. Raises common.crypto.Undecryptable."""
    file = InFile.objects.get(pk=file_id)
    found = surveying.survey(read(storing.Reader(file)))
    account = accounts.current(file.rail_id)
    every = [sums for _, sums in sorted(found.statements.items())]
    same = InFile.objects.filter(rail=file.rail_id, sha256=file.sha256, uploaded_by="")
    return Upload(
        file=file,
        statements=[_told(sums, account) for sums in every[:_SHOWN]],
        statement_count=len(every),
        faults=list(found.faults[:_SHOWN]),
        came_by_itself=same.exists(),
    )


def _told(sums: Tally, account: SettlementAccount | None) -> Told:
    heading = sums.heading
    number = heading.account.number
    return Told(
        last4=last4(number),
        is_ours=account is not None and account.fingerprint in accounts.fingerprints(number),
        first_day=heading.from_date or heading.to_date,
        last_day=heading.to_date,
        opening=heading.opening,
        closing=heading.closing,
        credits=sums.credits,
        debits=sums.debits,
        line_count=sums.count,
    )
