"""What a tenant takes away to check by itself that its balance is in a report."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from datetime import date
from typing import Any

from django.db.models import QuerySet

from common import crypto
from common.engine import arrays, sql
from common.errors import NotFound
from solvency import reports, salts, tree
from solvency.models import ProofLeaf, ProofTree
from solvency.tree import NODE_BYTES, Amounts, Node

FORMAT = "ballast inclusion 1"

# Only these pieces of the nodes are read, however large the tree is.
_NODES = f"""
SELECT substring(nodes FROM piece.place * {NODE_BYTES} + 1 FOR {NODE_BYTES})
FROM solvency_prooftree
CROSS JOIN unnest(%(places)s::text::int[]) WITH ORDINALITY AS piece (place, number)
WHERE report_id = %(report_id)s ORDER BY piece.number
"""  # noqa: S608  # our own text


def leaves(tenant_id: str) -> QuerySet[ProofLeaf]:
    """The tenant's leaves with their reports, the newest first."""
    rows = ProofLeaf.objects.filter(tenant_id=tenant_id).select_related("report")
    return rows.order_by("-report")


def leaf_of(tenant_id: str, day: date) -> ProofLeaf:
    """The tenant's leaf of that day's report. Raises NotFound."""
    leaf = leaves(tenant_id).filter(report__day=day).first()
    if leaf is None:
        raise NotFound("There is no proof of funds with your balance for this day.")
    return leaf


def day_of(text: str) -> date:
    """The day that an address names as `2026-11-27`. Raises NotFound for any other text."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = date.min
    if day.isoformat() != text:
        raise NotFound("A day is written as 2026-11-27.")
    return day


def proof_of(leaf: ProofLeaf) -> dict[str, Any]:
    """The leaf, its salt, the siblings on the way up, and the signed report: what
    `docs/verify_proof.py` reads. Raises common.crypto.Undecryptable."""
    count = reports.parsed(leaf.report)["tenants"]["leaves"]
    path = _nodes(leaf.report_id, tree.path_places(leaf.index, count))
    return {
        "format": FORMAT,
        "tenantId": leaf.tenant_id,
        "salt": salts.salt_of(secret_of(leaf.report_id), leaf.tenant_id).hex(),
        "index": leaf.index,
        **_words(Amounts(leaf.available, leaf.settled, leaf.locked)),
        "path": [{"digest": node.digest.hex(), **_words(node.amounts)} for node in path],
        **reports.signed(leaf.report),
    }


def secret_of(report_id: str) -> bytes:
    """The secret of a report's salts. Raises common.crypto.Undecryptable."""
    row = ProofTree.objects.defer("nodes").get(pk=report_id)
    return base64.b64decode(crypto.decrypt(row.secret_token, context=row.encryption_context))


def _nodes(report_id: str, places: Sequence[int]) -> list[Node]:
    values = {"report_id": report_id, "places": arrays.plain(places)}
    return [tree.unpack(bytes(piece)) for (piece,) in sql.rows(_NODES, values)]


def _words(amounts: Amounts) -> dict[str, int]:
    return {
        "available": amounts.available,
        "settled": amounts.settled,
        "locked": amounts.locked,
    }
