"""What a notification of change corrects: the 29 positions of its corrected data, by its code.

Real data is often badly aligned. It is taken all the same where blanks, or the fixed length of a
part, say without doubt what is what. Source: Nacha Operating Rules, Appendix Five (change codes).
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from types import MappingProxyType

from networks import bank_details, routing
from networks.base import AccountType

LENGTH = 29
# These say nothing by which an entry of ours could be changed. C04 is looked at by a person: the
# account may be a stranger's.
INFORMATIONAL = frozenset(("C04", "C08", "C09", "C13", "C14"))


@dataclass(frozen=True, kw_only=True)
class Corrected:
    """The new details; what is empty stays as it is. Values are no part of `repr`."""

    routing_number: str = ""
    account_number: str = ""
    account_type: str = ""  # an `AccountType`
    text: str = ""  # of a code that only informs: what it says

    def __repr__(self) -> str:
        changed = [name for name, value in asdict(self).items() if value]
        return f"Corrected({', '.join(changed)})"


class Impossible(ValueError):
    """The corrected data cannot be what its code says. The message holds none of it."""


def parse(code: str, data: str) -> Corrected:
    """The corrected details. `data` has at most 29 characters, its leading blanks kept.

    Raises Impossible.
    """
    if code in INFORMATIONAL:
        return Corrected(text=data.strip())
    if code not in _ALIGNED:
        raise Impossible(f"nothing is known to stand in the corrected data of {code}")
    if found := _aligned(_ALIGNED[code], data.ljust(LENGTH)):
        return found
    for form in _LOOSE[code]:
        match = form.fullmatch(data.strip())
        if match and (found := _checked(match.groupdict())):
            return found
    raise Impossible(f"the corrected data of {code} cannot be read")


# Where the parts stand, counted from 1.
_ALIGNED = MappingProxyType(
    {
        "C01": {"account": (1, 17)},
        "C02": {"routing": (1, 9)},
        "C03": {"routing": (1, 9), "account": (13, 29)},
        "C05": {"code": (1, 2)},
        "C06": {"account": (1, 17), "code": (21, 22)},
        "C07": {"routing": (1, 9), "account": (10, 26), "code": (27, 28)},
    }
)
_ROUTING, _ACCOUNT, _CODE = r"(?P<routing>\d{9})", r"(?P<account>\S{4,17})", r"(?P<code>\d\d)"
_WHOLE_ACCOUNT = r"(?P<account>\S{17})"  # fills its field, so that no blank follows


def _forms(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.ASCII) for pattern in patterns)


_LOOSE = MappingProxyType(
    {
        "C01": _forms(_ACCOUNT),
        "C02": _forms(_ROUTING),
        "C03": _forms(rf"{_ROUTING} *{_ACCOUNT}"),
        "C05": _forms(_CODE),
        "C06": _forms(rf"{_ACCOUNT} +{_CODE}", rf"{_WHOLE_ACCOUNT}{_CODE}"),
        "C07": _forms(rf"{_ROUTING} *{_ACCOUNT} +{_CODE}", rf"{_ROUTING} *{_WHOLE_ACCOUNT}{_CODE}"),
    }
)
# A transaction code: the kind of account, then live or prenote, credit or debit.
_TYPES = MappingProxyType({"2": AccountType.CHECKING, "3": AccountType.SAVINGS})
_LAST_DIGITS = "12346789"


def _aligned(places: dict[str, tuple[int, int]], data: str) -> Corrected | None:
    """The parts at their places, if nothing but blanks stands elsewhere."""
    rest, parts = data, {}
    for name, (first, last) in places.items():
        parts[name] = data[first - 1 : last].replace(" ", "")
        rest = rest[: first - 1] + " " * (last - first + 1) + rest[last:]
    return None if rest.strip() else _checked(parts)


def _checked(parts: dict[str, str]) -> Corrected | None:
    """The corrected details, if each part can be what it is called."""
    number, account, code = (parts.get(name) for name in ("routing", "account", "code"))
    if number is not None and not routing.validate(number):
        return None
    if account is not None and not bank_details.is_account_number(account):
        return None
    if code is not None and not (code[:1] in _TYPES and code[1:] in tuple(_LAST_DIGITS)):
        return None
    return Corrected(
        routing_number=number or "",
        account_number=account or "",
        account_type=str(_TYPES[code[0]]) if code else "",
    )
