"""Takes a network's list of participants in: whole, or not at all (decision 0224).

The file is CSV with a heading. `routing_number`, `receives_credits` and `receives_requests` (`yes`
or `no`) have to be there. `receives_returns` is `yes` where it is not; `since` and `until` are days
(`2026-11-30`), empty where there is no such end; `name` is for people; lines whose `network` is
another one are left out. Other columns are let through unread.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime

from django.db import IntegrityError, transaction

from common import audits
from common.audits import Finding, Scope
from common.database.constraints import violated
from common.engine import sql
from common.errors import StaffRefusal
from networks import routing
from networks.columns import REASON_LENGTH_MAX
from networks.instant.iso.profiles import PROFILES
from networks.instant.models import Participant, ParticipantList

BYTES_MAX = 8 * 1024 * 1024
BANKS_MAX = 50_000
# A list that loses more of its banks than this is not what the network meant, most likely.
LOST_SHARE_MAX = 0.1
_NAMED_MAX = 20
_NAME_MAX = 140
_NEEDED = ("routing_number", "receives_credits", "receives_requests")

DIGEST = """
SELECT encode(sha256(convert_to(coalesce(string_agg(jsonb_build_array(routing_number, name,
    takes_payments, takes_requests, takes_returns, since, until)::text,
    E'\\n' ORDER BY routing_number COLLATE "C"), ''), 'UTF8')), 'hex')
FROM instant_participant WHERE list_id = {list_id}
"""
# Of the lists in force.
_CHANGED = f"""
SELECT '', list.id, 'the banks of the list of ' || list.profile || ' are not those it had'
FROM instant_participantlist AS list
WHERE replaced_at IS NULL AND list.digest <> ({DIGEST.format(list_id="list.id")})
"""  # noqa: S608  # our own text


class ListRefused(StaffRefusal):
    code = "participants_refused"
    title = "The list was not taken"
    advice = "The list in force stays. Mend the file, or ask the network for it again."


class BadLines(ListRefused):
    """`problems` has a sentence for each line, by its number in the file."""

    def __init__(self, problems: Mapping[int, str]) -> None:
        some = [f"line {line}: {problem}" for line, problem in list(problems.items())[:_NAMED_MAX]]
        more = [f"and {len(problems) - len(some)} more"] if len(problems) > len(some) else []
        super().__init__("; ".join(some + more) + ".")
        self.problems = dict(problems)


def read(profile: str, content: bytes) -> list[Participant]:
    """The unsaved banks of a file. Raises ListRefused, BadLines."""
    if len(content) > BYTES_MAX:
        raise ListRefused(f"A file has at most {BYTES_MAX // 1024 // 1024} MiB.")
    try:
        rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig")), strict=True)
        if missing := [name for name in _NEEDED if name not in (rows.fieldnames or ())]:
            raise ListRefused(f"The heading has no {', '.join(missing)}.")
        banks = _banks(profile, rows)
    except (UnicodeDecodeError, csv.Error) as error:
        raise ListRefused("It is no CSV in UTF-8.") from error
    if not banks:
        raise ListRefused(f"It names no bank of {profile}.")
    return banks


@transaction.atomic
def take(
    profile: str,
    banks: Sequence[Participant],
    *,
    reason: str,
    by: str,
    now: datetime,
    is_forced: bool = False,
) -> ParticipantList:
    """Put a list in force in place of the one before. `is_forced`: however many banks it lacks. The
    caller writes the audit log. Raises ListRefused."""
    if not 1 <= len(reason := reason.strip()) <= REASON_LENGTH_MAX:
        raise ListRefused(f"A reason of 1 to {REASON_LENGTH_MAX} characters is needed.")
    in_force = ParticipantList.objects.filter(profile=profile, replaced_at=None)
    former = in_force.select_for_update(no_key=True).first()
    if former is not None:
        require_alike(former, banks, is_forced=is_forced)
        ParticipantList.objects.filter(pk=former.pk).update(replaced_at=now)
    made = ParticipantList(
        profile=profile, banks=len(banks), reason=reason, imported_by=by, imported_at=now
    )
    kept = {made.pk, former.pk if former else ""}
    Participant.objects.filter(list__profile=profile).exclude(list_id__in=kept).delete()
    _write(made, banks)
    return made


def current(profile: str) -> ParticipantList | None:
    """The list in force."""
    return ParticipantList.objects.filter(profile=profile, replaced_at=None).first()


def counts() -> dict[str, int]:
    """How many banks the list in force of each network names; 0 where none was ever imported."""
    rows = ParticipantList.objects.filter(replaced_at=None).values_list("profile", "banks")
    return dict.fromkeys(PROFILES, 0) | dict(rows)


def require_alike(
    former: ParticipantList | None, banks: Sequence[Participant], *, is_forced: bool
) -> None:
    """Raises ListRefused for a list that lacks too many of the banks of the one before."""
    if former is None or is_forced:
        return
    there = {each.routing_number for each in banks}
    known = former.participants.values_list("routing_number", flat=True)
    lost = sum(each not in there for each in known)
    if lost > former.banks * LOST_SHARE_MAX:
        raise ListRefused(
            f"{lost:,} of {former.banks:,} banks are not in it any more. If the network means it,"
            " take it with --force."
        )


def check(scope: Scope) -> Iterator[Finding]:
    """Check that the banks in force are those that were imported, which seals cover."""
    if scope.tenant_ids is None:
        yield from audits.found("instant_participants", _CHANGED, {})


def _write(made: ParticipantList, banks: Sequence[Participant]) -> None:
    """The list says the digest of its banks, which refer to it: their key is checked at the end of
    the transaction."""
    for each in banks:
        each.list = made
    Participant.objects.bulk_create(banks, batch_size=2_000)
    statement = DIGEST.format(list_id="%(list_id)s")
    ((made.digest,),) = sql.rows(statement, {"list_id": made.pk})
    try:
        with transaction.atomic():
            made.save(force_insert=True)
    except IntegrityError as error:
        if violated(error) == "one_participant_list_in_force":
            raise ListRefused("Somebody else has just imported one.") from error
        raise


def _banks(profile: str, rows: csv.DictReader[str]) -> list[Participant]:
    banks: list[Participant] = []
    seen: dict[str, int] = {}
    problems: dict[int, str] = {}
    for row in rows:
        line = rows.line_num
        if (row.get("network") or profile).strip().lower() != profile:
            continue
        if line > BANKS_MAX + 1:
            raise ListRefused(f"A list has at most {BANKS_MAX:,} lines.")
        try:
            bank = _bank(row)
        except ValueError as error:
            problems[line] = str(error)
            continue
        if bank.routing_number in seen:
            first = seen[bank.routing_number]
            problems[line] = f"{bank.routing_number} stands in line {first} already"
            continue
        seen[bank.routing_number] = line
        banks.append(bank)
    if problems:
        raise BadLines(problems)
    return banks


def _bank(row: Mapping[str, str | None]) -> Participant:
    """Raises ValueError with a sentence."""
    number = _said(row, "routing_number")
    if not routing.validate(number):
        raise ValueError(f"{number[:20]!r} is no routing number")
    since, until = _day(row, "since"), _day(row, "until")
    if since and until and since > until:
        raise ValueError("ends before it begins")
    return Participant(
        routing_number=number,
        name=_said(row, "name").replace("\0", "")[:_NAME_MAX],
        takes_payments=_yes(row, "receives_credits"),
        takes_requests=_yes(row, "receives_requests"),
        takes_returns=_yes(row, "receives_returns", otherwise="yes"),
        since=since,
        until=until,
    )


def _said(row: Mapping[str, str | None], column: str) -> str:
    return (row.get(column) or "").strip()


def _yes(row: Mapping[str, str | None], column: str, *, otherwise: str = "") -> bool:
    text = _said(row, column).lower() or otherwise
    if text not in {"yes", "no"}:
        raise ValueError(f"{column} is yes or no")
    return text == "yes"


def _day(row: Mapping[str, str | None], column: str) -> date | None:
    text = _said(row, column)
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise ValueError(f"{column} is a day, as 2026-11-30") from error
