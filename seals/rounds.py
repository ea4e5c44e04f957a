"""Makes seals: a round reads what is new, and each tenant that has something new gets a seal.

A round is one transaction: killed in the middle it leaves nothing, and the next one does it. It is
not on the path of any posting, and takes no lock that one waits for.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import structlog
from django.db import connection, transaction

from common import sealed
from common.database.job_doors import by
from common.database.jobs import AUDIT
from seals import macs, reading, windows
from seals.models import Seal, SealRound
from seals.reading import Range
from seals.windows import Window

log = structlog.get_logger(__name__)

# After an upgrade, or after hours without a worker, many rounds are due at once.
PASS_SECONDS = 45.0
# Lines of the ledger in one seal.
LINES_MAX = 20_000
# Before every row: no window is read, all stay where they are.
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_LOCK = 8_117_252  # of this module alone
_TAKE_LOCK = "SELECT pg_try_advisory_xact_lock(%s)"

# Tenants with ledger lines after their last seal, those that wait longest first.
_UNSEALED = """
SELECT head.tenant_id, coalesce(seal.sequence, 0), head.sequence
FROM ({heads}) AS head
LEFT JOIN LATERAL (
    SELECT sequence, round_id FROM seals_seal WHERE chain = head.tenant_id
    ORDER BY number DESC LIMIT 1
) AS seal ON true
WHERE head.sequence > coalesce(seal.sequence, 0)
ORDER BY seal.round_id NULLS FIRST, head.tenant_id
LIMIT %(limit)s
"""
_ENDS = """
SELECT seal.*
FROM unnest(%(chains)s::text[]) AS asked (chain)
CROSS JOIN LATERAL (
    SELECT * FROM seals_seal WHERE chain = asked.chain ORDER BY number DESC LIMIT 1
) AS seal
"""


class NotGenuine(Exception):
    """The round that the next one would follow was not made with our key."""


class _News:
    """What a round found: rows by chain and kind, the names of some of them, and how far
    each ledger was read."""

    def __init__(self) -> None:
        self.covers: dict[str, dict[str, list[Any]]] = defaultdict(dict)
        self.rows: dict[str, dict[str, list[list[str]]]] = defaultdict(dict)
        self.sequences: dict[str, int] = {}
        self.is_behind = False


@by(AUDIT)
def seal_due(*, now: datetime, seconds: float = PASS_SECONDS) -> int:
    """Make rounds until everything up to `now` is sealed or the time is over; returns how many.

    No round is made on top of one that our key did not make. `check_ledger` reports that one, and
    it stays for whoever investigates. Sealing stands still until then (`ballast_seal_age_seconds`).
    """
    ends = time.monotonic() + seconds
    made = 0
    while time.monotonic() < ends:
        try:
            is_behind = _round(now=now)
        except NotGenuine as reason:
            log.error("seal_refused", reason=str(reason))
            break
        if is_behind is None:
            break
        made += 1
        if not is_behind:
            break
    return made


@transaction.atomic
def _round(*, now: datetime) -> bool | None:
    """Make one round. Returns whether there is more to seal. Returns None if none was made: another
    process is making one, or nobody can say yet how far the first one may go."""
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_LOCK, [_LOCK])
        if not cursor.fetchone()[0]:
            return None
    upto = windows.bound(now)  # before anything is read
    last = SealRound.objects.order_by("-number").first()
    if last is not None and (problem := macs.doubt(last)):
        raise NotGenuine(f"{last}: {problem}")
    if upto is None:
        log.warning("seal_waits_for_a_transaction")
        if last is None:
            return None
    news = _News()
    looked_at = _read_dated(last, upto or _LONG_AGO, news)
    looked_at[sealed.lines().name] = _read_lines(news)
    _write(last, now, looked_at, news)
    return news.is_behind


def _read_dated(last: SealRound | None, upto: datetime, news: _News) -> dict[str, list[Any]]:
    looked_at: dict[str, list[Any]] = {}
    known = last.windows if last else {}
    for name, kind in sealed.dated().items():
        before = Window.read(known[name]) if name in known else None
        window = windows.following(kind, before, upto)
        for found in reading.dated(kind, [window]):
            news.covers[found.chain][name] = [found.rows, found.digest]
        if kind.named:
            for chain, id, digest in reading.named(kind, window):
                news.rows[chain].setdefault(name, []).append([id, digest])
        looked_at[name] = window.stored()
        news.is_behind |= window.until < upto
    return looked_at


def _read_lines(news: _News) -> list[Any]:
    kind = sealed.lines()
    ranges, is_cut = _unsealed(kind.heads)
    for found in reading.lines(kind, ranges, layout=kind.layout):
        news.covers[found.chain][kind.name] = [found.rows, found.digest, found.after, found.last]
        news.sequences[found.chain] = found.last
        news.is_behind |= is_cut
    return [kind.layout]


def _unsealed(heads: str) -> tuple[list[Range], bool]:
    """What this round reads, at most `windows.ROWS_MAX` lines, and whether there is more."""
    ranges: list[Range] = []
    room = windows.ROWS_MAX
    is_cut = False
    with connection.cursor() as cursor:
        cursor.execute(_UNSEALED.format(heads=heads), {"limit": windows.ROWS_MAX})
        for chain, after, sequence in cursor.fetchall():
            upto = min(sequence, after + min(LINES_MAX, room))
            is_cut |= upto < sequence
            room -= upto - after
            if upto > after:
                ranges.append(Range(chain, after, upto))
    return ranges, is_cut


def _write(
    last: SealRound | None, now: datetime, looked_at: dict[str, list[Any]], news: _News
) -> None:
    round_ = SealRound(
        number=last.number + 1 if last else 1,
        made_at=now,
        windows=looked_at,
        seals=len(news.covers),
        previous=last.mac if last else "",
    )
    seals = _seals(round_.number, news)
    begun = sum(seal.number == 1 for seal in seals)
    round_.chains = begun + (last.chains if last else 0)
    round_.seals_digest = macs.digest_of(seals)
    macs.sign(round_)
    round_.save(force_insert=True)
    Seal.objects.bulk_create(seals, batch_size=1_000)


def _seals(round_number: int, news: _News) -> list[Seal]:
    ends = _ends(news.covers)
    seals = []
    for chain, covers in sorted(news.covers.items()):
        end = ends.get(chain)
        if end and (problem := macs.doubt(end)):
            raise NotGenuine(f"{end}: {problem}")
        seal = Seal(
            chain=chain,
            number=end.number + 1 if end else 1,
            round_id=round_number,
            sequence=news.sequences.get(chain, end.sequence if end else 0),
            covers=covers,
            rows=news.rows.get(chain),
            previous=end.mac if end else "",
        )
        macs.sign(seal)
        seals.append(seal)
    return seals


def _ends(chains: Iterable[str]) -> dict[str, Seal]:
    """The last seal of each chain that has one."""
    return {seal.chain: seal for seal in Seal.objects.raw(_ENDS, {"chains": list(chains)})}
