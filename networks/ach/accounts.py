"""How an account number stands in files, and how it is recognized in those that come back.

Entries keep the fingerprint that they were taken with, because it is sealed. Over a change of
`FINGERPRINT_KEY` two of them are compared by the number.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from django.conf import settings
from django.db.models import Q

from common import crypto
from common.engine.lookups import one_of
from networks import spellings
from networks.ach.models import AchEntry
from networks.ach.models.entries import PRENOTE
from networks.base import Purpose


class Known(Protocol):
    """An entry, or the columns of one."""

    @property
    def account_fingerprint(self) -> str: ...

    @property
    def account_token(self) -> str: ...

    @property
    def instruction_id(self) -> str: ...


def as_sent(account_number: str) -> str:
    """The number as a file has it: without blanks, in upper case."""
    return spellings.canonical(account_number)


def fingerprints(account_number: str) -> tuple[str, ...]:
    """Equal for numbers that are equal in files, under each key, the newest first. The bank itself
    is not in it: a return names it elsewhere, with fewer digits."""
    return crypto.fingerprints(as_sent(account_number), purpose="ach.account")


def fingerprint(account_number: str) -> str:
    """What a number is called under the newest key."""
    return fingerprints(account_number)[0]


def called(account_numbers: Collection[str]) -> Mapping[str, str]:
    """What new entries call these numbers: as earlier tests and prenotes of the account do, so that
    none of them is asked for again. One query, none where there is one key."""
    names = {number: fingerprints(number) for number in account_numbers}
    asked: set[str] = set()
    if settings.FINGERPRINT_KEY_FALLBACKS:
        rows = AchEntry.objects.filter(Q(purpose__in=(Purpose.VERIFICATION.value, PRENOTE)))
        rows = rows.filter(one_of("account_fingerprint", sum(names.values(), ())))
        asked = set(rows.values_list("account_fingerprint", flat=True))
    return {number: crypto.lasting(of_it, lambda _: asked) for number, of_it in names.items()}


def is_of(entry: Known, known_as: str) -> bool:
    """Whether the fingerprint `known_as`, under whichever key, is that of the entry's account. An
    entry whose number does not open is another one: a person decides then."""
    if entry.account_fingerprint == known_as:
        return True
    if not settings.FINGERPRINT_KEY_FALLBACKS:
        return False
    try:
        return known_as in fingerprints(_number(entry))
    except crypto.Undecryptable:
        return False


def by_newest_key(entry: Known) -> str:
    """The fingerprint of the entry's account. Raises common.crypto.Undecryptable."""
    if not settings.FINGERPRINT_KEY_FALLBACKS:
        return entry.account_fingerprint
    return fingerprint(_number(entry))


def _number(entry: Known) -> str:
    return crypto.decrypt(entry.account_token, context=AchEntry.context_of(entry.instruction_id))
