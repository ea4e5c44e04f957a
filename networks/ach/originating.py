"""In whose name a rail sends: companies, and how much may be on its way for each. The caller writes
the audit log."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from datetime import datetime

from django.db import IntegrityError, transaction

from common.errors import StaffRefusal
from networks.ach.models import Originator
from networks.ach.nacha import text


class OriginatorRefused(StaffRefusal):
    code = "originator_refused"
    title = "The originator was not changed"
    advice = "Read the rail again: somebody may have changed it."


@dataclass(frozen=True, kw_only=True)
class Company:
    """What the receiver reads, and the limits in cents; None: no limit."""

    company_name: str
    company_id: str
    daily_debit_max: int | None = None
    daily_credit_max: int | None = None
    exposure_max: int | None = None


_COLUMNS = tuple(each.name for each in fields(Company))
_LIMITS = ("daily_debit_max", "daily_credit_max", "exposure_max")


@transaction.atomic
def assign(*, rail: str, tenant_id: str, company: Company, now: datetime) -> Originator:
    """Make or change the originator of a tenant, or of all that have none (`""`).

    Entries that were taken keep the name that they were taken with. Raises OriginatorRefused.
    """
    require_plain(company)
    found = _current(rail, tenant_id)
    if found is None:
        return _add(rail, tenant_id, company, now)
    for name, value in asdict(company).items():
        setattr(found, name, value)
    found.save(update_fields=tuple(asdict(company)))
    return found


def company_of(*, rail: str, tenant_id: str) -> Company | None:
    """The company of a tenant, or of all that have none, locked; None if there is none."""
    found = _current(rail, tenant_id)
    return Company(**{name: getattr(found, name) for name in _COLUMNS}) if found else None


def id_of(*, rail: str, tenant_id: str) -> str:
    """The originator of a tenant, or of all that have none; empty if there is none."""
    found = _current(rail, tenant_id)
    return found.pk if found else ""


@transaction.atomic
def lower(*, rail: str, tenant_id: str, company: Company, now: datetime) -> Originator | None:
    """Change an originator if that only lowers limits. None, and nothing is changed, if not: then
    it takes two people. Raises OriginatorRefused."""
    known = company_of(rail=rail, tenant_id=tenant_id)
    if known is None or not _is_lower(known, company):
        return None
    return assign(rail=rail, tenant_id=tenant_id, company=company, now=now)


def stop_of_debits(originator_id: str) -> tuple[datetime, str]:
    """Since when the debits of an originator are stopped, and why; it is locked. Raises
    OriginatorRefused."""
    rows = Originator.objects.select_for_update(no_key=True)
    found = rows.filter(pk=originator_id).first()
    if found is None or found.debits_stopped_at is None:
        raise OriginatorRefused("The debits of this originator are not stopped.")
    return found.debits_stopped_at, found.debits_stopped_why


@transaction.atomic
def end(*, originator_id: str, now: datetime) -> Originator:
    """Take nothing more in this name. Entries that were taken go out.

    Raises OriginatorRefused, also while its debits are stopped: another one for the same tenant
    would begin without the stop.
    """
    rows = Originator.objects.select_for_update(no_key=True)
    found = rows.filter(pk=originator_id, ended_at=None).first()
    if found is None:
        raise OriginatorRefused("This originator has ended.")
    if found.debits_stopped_at is not None:
        raise OriginatorRefused("Its debits are stopped: decide about that first.")
    found.ended_at = now
    found.save(update_fields=("ended_at",))
    return found


def _add(rail: str, tenant_id: str, company: Company, now: datetime) -> Originator:
    try:
        with transaction.atomic():
            return Originator.objects.create(
                rail_id=rail, tenant_id=tenant_id, created_at=now, **asdict(company)
            )
    except IntegrityError as error:
        raise OriginatorRefused("Somebody made it meanwhile.") from error


def _current(rail: str, tenant_id: str) -> Originator | None:
    """Locked."""
    rows = Originator.objects.select_for_update(no_key=True)
    return rows.filter(rail_id=rail, tenant_id=tenant_id, ended_at=None).first()


def _is_lower(known: Company, company: Company) -> bool:
    """Whether nothing but limits is changed, and none of them is raised."""
    if (known.company_name, known.company_id) != (company.company_name, company.company_id):
        return False
    limits = ((getattr(known, name), getattr(company, name)) for name in _LIMITS)
    return all(old is None or (new is not None and new <= old) for old, new in limits)


def require_plain(company: Company) -> None:
    """Only what stands in a file as it was typed. Raises OriginatorRefused."""
    name, number = company.company_name, company.company_id
    if not 1 <= len(name) <= 16 or text.plain(name) != name:
        raise OriginatorRefused("The company name has 1 to 16 upper-case letters and digits.")
    if not 1 <= len(number) <= 10 or not number.isascii() or not number.isalnum():
        raise OriginatorRefused("The company id has 1 to 10 letters and digits.")
    if number != number.upper():
        raise OriginatorRefused("The company id is in upper case.")
    if not name.strip(" 0") or not number.strip("0"):
        raise OriginatorRefused("A bank takes zeros for a blank.")
    limits = (company.daily_debit_max, company.daily_credit_max, company.exposure_max)
    if any(limit is not None and limit < 0 for limit in limits):
        raise OriginatorRefused("A limit is an amount, or empty.")
