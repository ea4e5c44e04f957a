"""One account, one name, however its number is typed (decision 0186).

Letters go to banks in upper case and blanks do not go at all, so neither tells two accounts apart.
A hyphen goes along, because some banks want it, but banks that do not want it leave it out: it
tells no accounts apart either. Leading zeros do. Source: Nacha Operating Rules, Appendix Three (DFI
account number).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

# A number with more letters is looked for in upper case and in lower case only: each letter doubles
# the spellings that would be asked for.
_MIXED_MAX = 8


def canonical(number: str) -> str:
    """The number as it goes to a bank: without blanks, in upper case."""
    return "".join(each.upper() if "a" <= each <= "z" else each for each in number if each != " ")


def is_same(one: str, other: str) -> bool:
    """Whether two spellings are of one account's number."""
    return _plain(one) == _plain(other)


def all_of(number: str) -> tuple[str, ...]:
    """What the account may be called after: one form for all spellings first, then the spellings
    that earlier releases took for accounts of their own.

    A number of digits alone has one. Of one with hyphens, the hyphens of before are found only
    where they are given again.
    """
    given = canonical(number)
    first = _plain(number)
    former = (each for form in (first, given) for each in _cases(form))
    return tuple(dict.fromkeys((first, number, *former)))


def _plain(number: str) -> str:
    return canonical(number).replace("-", "")


def _cases(form: str) -> Iterator[str]:
    """The form in upper, lower and, if it has few letters, mixed case."""
    yield form
    yield form.lower()
    if sum(map(str.isalpha, form)) <= _MIXED_MAX:
        yield from map("".join, product(*({each, each.lower()} for each in form)))
