"""Takes the proof of a day: reads both sides, grows the tree, signs, and writes all of it.

What is read must be of one moment, together with the figures of the closing: call it in a
transaction that is REPEATABLE READ. A posting in between would make a difference, and with a
difference nothing is written.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from datetime import date, datetime
from typing import NamedTuple

from django.db import IntegrityError, transaction

from balance import holdings
from balance.holdings import Holding
from balance.operator.totals import totals_of_live
from common import crypto
from common.database.constraints import violated
from common.engine import arrays, sql
from common.money import format_cents
from solvency import reports, salts, settled, signing, tree
from solvency.errors import ProofRefused, ProvenAlready
from solvency.figures import ClosedFigures, Figures, Receivables
from solvency.models import ProofReport, ProofTree
from solvency.tree import Amounts, Tree

_ONE_AFTER_THE_OTHER = frozenset({"solvency_proofreport_day_key", "one_proof_follows"})
_INSERT_LEAVES = """
INSERT INTO solvency_proofleaf
    (report_id, tenant_id, index, available, settled, locked, overdrawn, sequence)
SELECT %(report_id)s, leaf.* FROM unnest(
    %(tenant_ids)s::text::text[], %(indexes)s::text::int[], %(available)s::text::bigint[],
    %(settled)s::text::bigint[], %(locked)s::text::bigint[], %(overdrawn)s::text::bigint[],
    %(sequences)s::text::bigint[]
) AS leaf
"""


class Owned(NamedTuple):
    """What a tenant owns at a moment, in cents. `overdrawn` is how far what is available is below
    zero; `amounts` have 0 then."""

    tenant_id: str
    amounts: Amounts
    overdrawn: int
    sequence: int


@transaction.atomic
def take(day: date, accounts: Sequence[ClosedFigures], *, now: datetime) -> ProofReport:
    """Prove that what live tenants own lies in these accounts, which are all that hold live money.

    Raises ProofRefused, with nothing written, for a difference; and ProvenAlready for a day that
    does not follow the last one that was proven, also if that was proven meanwhile. 100,000 tenants
    take some seconds.
    """
    before = ProofReport.objects.order_by("-day").first()
    if before is not None and before.day >= day:
        raise ProvenAlready(f"{before.day:%B %-d, %Y} was proven already: a proof goes forward.")
    owned = _owned()
    figures = _figures(accounts, owned)
    if figures.difference or figures.at_the_bank != figures.in_the_books:
        raise ProofRefused(_unequal(figures))
    secret = salts.new_secret()
    placed = sorted(
        (salts.leaf_of(each.tenant_id, each.amounts, day=day, secret=secret), each)
        for each in owned
    )
    grown = tree.grow(leaf for leaf, _ in placed)
    report = _written(day, figures, grown, before, now)
    _keep_tree(report, secret, grown)
    _keep_leaves(report, [each for _, each in placed])
    return report


def _owned() -> list[Owned]:
    on_the_way = settled.by_tenant()
    return [_owned_by(each, on_the_way.get(each.tenant_id, 0)) for each in holdings.of_live()]


def _owned_by(holding: Holding, on_the_way: int) -> Owned:
    amounts = Amounts(max(holding.available, 0), on_the_way, holding.locked)
    return Owned(holding.tenant_id, amounts, max(-holding.available, 0), holding.sequence)


def _figures(accounts: Sequence[ClosedFigures], owned: Sequence[Owned]) -> Figures:
    total = Amounts(
        sum(each.amounts.available for each in owned),
        sum(each.amounts.settled for each in owned),
        sum(each.amounts.locked for each in owned),
    )
    overdrawn = [each.overdrawn for each in owned if each.overdrawn]
    return Figures(
        accounts=accounts,
        tenants=total,
        receivables=Receivables(count=len(overdrawn), amount=sum(overdrawn)),
        operator=totals_of_live([account.rail for account in accounts]),
    )


def _unequal(figures: Figures) -> str:
    bank, books, owed = figures.at_the_bank, figures.in_the_books, figures.owed
    return (
        f"The bank has {format_cents(bank)} for all others than the operator, the settlement"
        f" accounts say {format_cents(books)}, and {format_cents(owed)} are owed."
    )


def _written(
    day: date, figures: Figures, grown: Tree, before: ProofReport | None, now: datetime
) -> ProofReport:
    content = reports.content_of(
        day,
        figures,
        root=grown.root,
        leaves=grown.count,
        previous=before.digest if before else "",
        taken_at=now,
    )
    key_id, signature = signing.sign(content)
    report = ProofReport(
        day=day,
        follows=before,
        content=content,
        digest=reports.digest_of(content),
        key_id=key_id,
        signature=signature,
        taken_at=now,
    )
    try:
        report.save(force_insert=True)
    except IntegrityError as error:
        if violated(error) not in _ONE_AFTER_THE_OTHER:
            raise
        raise ProvenAlready("Somebody else took a proof meanwhile.") from error
    return report


def _keep_tree(report: ProofReport, secret: bytes, grown: Tree) -> None:
    row = ProofTree(report=report, nodes=grown.packed)
    text = base64.b64encode(secret).decode()
    row.secret_token = crypto.encrypt(text, context=row.encryption_context)
    row.save(force_insert=True)


def _keep_leaves(report: ProofReport, owned: Sequence[Owned]) -> None:
    values = {
        "report_id": report.pk,
        "tenant_ids": arrays.texts([each.tenant_id for each in owned]),
        "indexes": arrays.plain(range(len(owned))),
        "available": arrays.plain([each.amounts.available for each in owned]),
        "settled": arrays.plain([each.amounts.settled for each in owned]),
        "locked": arrays.plain([each.amounts.locked for each in owned]),
        "overdrawn": arrays.plain([each.overdrawn for each in owned]),
        "sequences": arrays.plain([each.sequence for each in owned]),
    }
    sql.rows(_INSERT_LEAVES, values)
