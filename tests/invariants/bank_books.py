"""A bank in the books: files to it, and what came back."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from common.clock import utc_now
from desk import doers
from desk.entries import reversals
from desk.files import answers
from desk.rails import acts
from desk.reconciliation import acts as acts_of_days
from networks import calendar
from networks.ach import acknowledging, building, freezing, originating, proposing
from networks.ach.acknowledgments import Verdict
from networks.ach.inbound import deciding
from networks.ach.models import AchEntry, InRecord, OutFile, RailLine, SpokenAnswer
from networks.ach.models.proposals import ProposalKind
from networks.ach.models.rails import RailPart
from networks.ach.models.reversals import ReversalReason
from networks.ach.originating import Company
from networks.ach.sending import send_next
from networks.ach.spoken import Said
from networks.ach.terms import RailTerms
from networks.rails.models import Rail, RailKind
from reconciliation import accounts
from reconciliation.models import (
    BankStatement,
    ClearingKind,
    MatchedLine,
    StatementFormat,
)
from tenants import actors
from tenants.models import Tenant
from tests.builders import make_staff
from tests.networks.ach import life
from tests.networks.ach.builders import RAIL, TERMS, make_originator, make_rail, take_some
from tests.networks.ach.folder import Folder
from tests.networks.ach.inbound import builders as inbound
from tests.reconciliation import statements
from transfers.route_changes import open_route

_BANK = TERMS["odfi_routing"]
_ODFI = {"rdfi": _BANK[:8], "check": _BANK[8]}  # of whom an answer is


def keep(tenant: Tenant) -> dict[str, Any]:
    """Four files of the next banking day: one that the bank says by telephone that
    it took (`of`), one that it refused
    (`rf`), one of which an entry came back and another one was corrected (`cf`), and one that waits
    for its release (`bf`). Entries that wait; an answer and a reversal that people decided."""
    terms = make_rail()
    Rail.objects.create(name=RAIL, kind=RailKind.REAL, driver="ach", created_at=terms.proposed_at)
    make_originator()
    day = calendar.next_banking_day(utc_now().astimezone(calendar.EASTERN).date())
    noon = datetime.combine(day, time(12), tzinfo=calendar.EASTERN)
    freeze = noon + timedelta(hours=1, minutes=45)
    names: dict[str, Any] = {"terms": terms.pk}
    verdicts = {"of": Verdict.ACCEPTED, "rf": Verdict.REJECTED, "cf": Verdict.ACCEPTED, "bf": None}
    with TemporaryDirectory() as place:
        for name, verdict in verdicts.items():
            names[name] = _file(tenant, verdict, Folder(Path(place)), noon, freeze)
    names |= _came_back(names["cf"])
    names["proposal"] = _proposed(freeze)
    names["spoken"] = SpokenAnswer.objects.get(file=names["of"]).pk
    names |= _decided(names["of"], utc_now())
    (waiting,) = take_some(1, now=freeze, tenant_id=tenant.pk)
    return names | {"ew": waiting.pk} | _connected(utc_now()) | _statements(utc_now())


def _file(
    tenant: Tenant, verdict: Verdict | None, folder: Folder, noon: datetime, freeze: datetime
) -> str:
    take_some(2, now=noon, tenant_id=tenant.pk)
    (file_id,) = freezing.freeze_due(RAIL, now=freeze)
    assert building.build(file_id, now=freeze)
    if verdict:
        life.release(OutFile.objects.get(pk=file_id), utc_now())
        assert send_next(RAIL, folder, now=freeze) == file_id
        if not SpokenAnswer.objects.exists():
            _said(file_id)
        else:
            answer: Any = {"rejected_batches": {}, "rejected_entries": {}, "now": freeze}
            assert acknowledging.acknowledged(file_id, verdict=verdict, **answer)
    return file_id


def _said(file_id: str) -> None:
    """By telephone, that the bank took it."""
    now = utc_now()
    said = Said(verdict=Verdict.ACCEPTED, said_by="Rosa")
    file = OutFile.objects.get(pk=file_id)
    answer = answers.propose(
        file=file, said=said, reason="No file came", doer=_doer("ann"), now=now
    )
    answers.confirm(answer=answer, doer=_doer("bo"), now=now)


def _id_of(name: str) -> str:
    """Somebody of our staff, for long."""
    return make_staff(f"{name}@ballast.example").pk


def _doer(name: str) -> doers.Doer:
    return doers.person(actors.staff(_id_of(name)))


def _proposed(now: datetime) -> str:
    """A limit, by two people."""
    company = Company(company_name="BALLAST", company_id="1234567890", exposure_max=10**9)
    proposal = proposing.propose(
        ProposalKind.ORIGINATOR,
        rail=RAIL,
        subject=originating.id_of(rail=RAIL, tenant_id=""),
        company=company,
        reason="As agreed",
        by=_id_of("ann"),
        now=now,
    )
    proposing.approve(proposal.pk, by=_id_of("bo"), now=now)
    return proposal.pk


def _came_back(file_id: str) -> dict[str, Any]:
    """By a file of the day after the settlement."""
    one, other = AchEntry.objects.filter(batch__file=file_id).order_by("pk")
    assert one.settlement_date is not None
    day = calendar.next_banking_day(one.settlement_date)
    settled = {"settlement": f"{day:%j}"}
    lines = inbound.answer_file(
        inbound.answer_batch(*inbound.returned(one, **_ODFI), **settled),
        inbound.change_batch(*inbound.changed(other, **_ODFI), number="0000002", **settled),
        day=f"{day:%y%m%d}",
    )
    now = datetime.combine(day, time(10), tzinfo=calendar.EASTERN)
    file = inbound.take(lines, rail=RAIL, now=now)
    assert (file.status, inbound.told(one)[-1]) == ("applied", ("returned", "R01"))
    back, change = InRecord.objects.filter(file=file).order_by("line")
    dishonor: Any = {
        "code": "R69",
        "information": "03",
        "staff": _id_of("bo"),
        "why": "Wrong amount",
    }
    reply = deciding.dishonor(record_id=back.pk, now=now, **dishonor)
    correction = change.correction
    assert correction.status == "applied"
    return {
        "back": back.pk,
        "change": change.pk,
        "er": one.pk,
        "ec": other.pk,
        "inf": file.pk,
        "reply": reply.pk,
        "correction": correction.pk,
    }


def _decided(file_id: str, now: datetime) -> dict[str, Any]:
    """A reversal that was rejected; terms that were rejected, and others that are proposed."""
    entry = AchEntry.objects.filter(batch__file=file_id).latest("pk")
    about: Any = {"why": ReversalReason.DUPLICATE, "hours": 0, "note": "Sent twice"}
    reversal = reversals.propose(entry=entry, doer=_doer("ann"), now=now, **about)
    reversals.reject(reversal=reversal, doer=_doer("bo"), now=now)
    terms = RailTerms(**{**TERMS, "company_name": "OTHER"})
    proposed: Any = {"terms": terms, "offset_account": None, "reason": "As agreed"}
    version = acts.propose(rail=RAIL, doer=_doer("ann"), now=now, **proposed)
    acts.reject(version=version, doer=_doer("bo"), now=now)
    other = acts.propose(rail=RAIL, doer=_doer("bo"), now=now, **proposed)
    return {
        "reversal": reversal.pk,
        "rejected_terms": version.pk,
        "proposed_terms": other.pk,
    }


def _connected(now: datetime) -> dict[str, Any]:
    """The line to the bank: a key that is retired and one in use; a stop that is over and one
    that is not; and the route of live tenants, which is led to it anew."""
    step: dict[str, Any] = {"rail": RAIL, "reason": "As agreed", "doer": _doer("ann")}
    keys = [acts.make_key(now=now, **step) for _ in range(2)]
    acts.switch_key(now=now, **step)
    acts.retire_key(now=now, **step)
    over = acts.engage(part=RailPart.READING, now=now, **step)
    acts.release(switch=over, reason="Mended", doer=_doer("bo"), now=now)
    stop = acts.engage(part=RailPart.SENDING, now=now, **step)
    assert RailLine.objects.filter(pk=RAIL).exists()
    make_rail("second_bank")
    Rail.objects.create(name="second_bank", kind=RailKind.REAL, driver="ach", created_at=now)
    for rail in ("second_bank", RAIL):
        leads: dict[str, Any] = {"mode": "live", "method": "ach_debit", "rail": rail}
        route = open_route(actor=_doer("ann").actor, reason="The contract", now=utc_now(), **leads)
    return {
        "route": route.pk,
        "key_retired": keys[0].pk,
        "key_used": keys[1].pk,
        "stop_over": over.pk,
        "stop": stop.pk,
    }


def _statements(now: datetime) -> dict[str, Any]:
    """Two days of our account (`st1`, `st2`), of which the first one is closed (`day`), and an
    account that somebody proposed.

    Of the first day a line is in suspense (`in_suspense`), and one was cleared as income
    (`cleared`).
    """
    account = statements.in_force(rail=RAIL)
    opening, day = statements.OPENING, statements.MONDAY
    for content in (
        statements.bai2_of(day, 5_000, -1_000),
        statements.bai2_of(statements.TUESDAY, 20, 30, opening=opening + 4_000),
    ):
        file = statements.take(content, rail=RAIL, now=now)
        assert file.status == "applied", file.faults
    first, second = account.statements.order_by("last_day")
    other = accounts.Opening(
        rail=RAIL, number="5550001", format=StatementFormat.CAMT, opened_on=day, cents=0
    )
    proposed = accounts.propose(other, reason="A second bank", by=_id_of("ann"), now=now)
    return {
        "sac": account.pk,
        "sac_proposed": proposed.pk,
        "st1": first.pk,
        "st2": second.pk,
        "stf": second.file_id,
    } | _closed(first, now)


def _closed(statement: BankStatement, now: datetime) -> dict[str, Any]:
    """The day of a statement, after people decided about each line."""
    came, left = statement.lines.order_by("position")
    known: dict[str, Any] = {"reason": "As the bank says", "now": now}
    income, unknown = (
        acts_of_days.book_line(line=line, doer=_doer("ann"), **known) for line in (came, left)
    )
    clearing = acts_of_days.propose_clearing(
        booked=income, kind=ClearingKind.INCOME, doer=_doer("ann"), **known
    )
    acts_of_days.approve_clearing(proposal=clearing, doer=_doer("bo"), now=now)
    day = acts_of_days.close_day(rail=RAIL, doer=_doer("ann"), now=now)
    return {
        "booked": income.pk,
        "mat": MatchedLine.objects.get(line=came).match_id,
        "in_suspense": unknown.pk,
        "cleared": clearing.pk,
        "day": day.pk,
        "left": left.pk,
    }
