"""A bank in the books: files to it, and what came back."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from common.clock import utc_now
from networks import calendar
from networks.ach import acknowledging, building, changing, freezing, reversing, spoken
from networks.ach.acknowledgments import Verdict
from networks.ach.inbound import deciding
from networks.ach.models import AchEntry, InRecord, OutFile, SpokenAnswer
from networks.ach.models.reversals import ReversalReason
from networks.ach.sending import send_next
from networks.ach.spoken import Said
from networks.ach.terms import RailTerms
from networks.rails.models import Rail, RailKind
from tenants.models import Tenant
from tests.networks.ach import life
from tests.networks.ach.builders import RAIL, TERMS, make_originator, make_rail, take_some
from tests.networks.ach.folder import Folder
from tests.networks.ach.inbound import builders as inbound

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
    names["spoken"] = SpokenAnswer.objects.get(file=names["of"]).pk
    names |= _decided(names["of"], freeze)
    (waiting,) = take_some(1, now=freeze, tenant_id=tenant.pk)
    return names | {"ew": waiting.pk}


def _file(
    tenant: Tenant, verdict: Verdict | None, folder: Folder, noon: datetime, freeze: datetime
) -> str:
    take_some(2, now=noon, tenant_id=tenant.pk)
    (file_id,) = freezing.freeze_due(RAIL, now=freeze)
    assert building.build(file_id, now=freeze)
    if verdict:
        life.release(OutFile.objects.get(pk=file_id), freeze)
        assert send_next(RAIL, folder, now=freeze) == file_id
        if not SpokenAnswer.objects.exists():
            _said(file_id, freeze)
        else:
            answer: Any = {"rejected_batches": {}, "rejected_entries": {}, "now": freeze}
            assert acknowledging.acknowledged(file_id, verdict=verdict, **answer)
    return file_id


def _said(file_id: str, now: datetime) -> None:
    """By telephone, that the bank took it."""
    said = Said(verdict=Verdict.ACCEPTED, said_by="Rosa")
    answer = spoken.propose(file_id, said=said, reason="No file came", by="usr_ann", now=now)
    spoken.confirm(answer.pk, by="usr_bo", now=now)
    assert spoken.finish(file_id, now=now)


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
    dishonor: Any = {"code": "R69", "information": "03", "staff": "usr_bo", "why": "Wrong amount"}
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
    """A reversal that was rejected, and terms that nobody put in force."""
    entry = AchEntry.objects.filter(batch__file=file_id).latest("pk")
    about: Any = {"reason": ReversalReason.DUPLICATE, "discovered_at": now, "note": "Sent twice"}
    reversal = reversing.propose(entry_id=entry.pk, staff="usr_ann", now=now, **about)
    reversing.reject(reversal_id=reversal.pk, staff="usr_bo", now=now)
    terms = RailTerms(**{**TERMS, "company_name": "OTHER"})
    proposed: Any = {"terms": terms, "by": "usr_ann", "reason": "As agreed", "now": now}
    version = changing.propose(rail=RAIL, **proposed)
    changing.reject(version_id=version.pk, by="usr_bo", now=now)
    return {"reversal": reversal.pk, "rejected_terms": version.pk}
