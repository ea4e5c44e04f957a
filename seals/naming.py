"""Which row of a window is broken, where seals keep the digest of each row.

The digest of a kind is one over the digests of its rows, in their order. So a list that does not
come to the sealed digest was changed itself, and says nothing.
"""

from __future__ import annotations

import hashlib

from common.sealed import DatedRows
from seals import reading
from seals.models import Seal
from seals.windows import Window


def first_broken(kind: DatedRows, window: Window, *, chain: str, seal: Seal | None) -> str:
    """The first row that is not what was sealed, in words; empty where nobody can say. Without a
    seal there was no row."""
    then = _sealed(kind, seal) if seal else {}
    if not kind.named or then is None:
        return ""
    now = {id: digest for _, id, digest in reading.named(kind, window, chain=chain)}
    for id in sorted(then.keys() | now.keys()):
        if then.get(id) != now.get(id):
            return f"the first is {id}, which {_what(id in then, id in now)}"
    return ""


def _what(was_sealed: bool, is_here: bool) -> str:
    if not was_sealed:
        return "was added"
    return "was changed" if is_here else "is gone"


def _sealed(kind: DatedRows, seal: Seal) -> dict[str, str] | None:
    """The digests of the sealed rows by their ids; None if they were not kept, or were changed."""
    if kind.name not in seal.covers:
        return {}
    rows = (seal.rows or {}).get(kind.name, [])
    try:
        over_all = hashlib.sha256(b"".join(bytes.fromhex(digest) for _, digest in rows))
        known: dict[str, str] = dict(rows)
    except (TypeError, ValueError):
        return None
    return known if [len(known), over_all.hexdigest()] == seal.covers[kind.name] else None
