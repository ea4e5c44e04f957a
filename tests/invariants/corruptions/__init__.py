"""Every kind of damage that we can think of, as SQL, and what finds it.

The first 38 are a review's; the others do the same to the tables beside them. `{…}` are ids of
`tests.invariants.books`. A verdict is what notices the damage first; the test fails as well when
something notices it sooner, so that this table stays true.

REFUSED: the database refuses it to everybody, its owner with all triggers off included. USUAL: the
check of every 15 minutes finds it. DAILY: the rolling full one finds it. SEAL: only a digest with a
key that is not in the database finds it, within a day.
"""

from __future__ import annotations

from tests.invariants.corruptions.ach import ACH
from tests.invariants.corruptions.banks import BANKS
from tests.invariants.corruptions.days import DAYS
from tests.invariants.corruptions.funding import FUNDING
from tests.invariants.corruptions.instant import INSTANT
from tests.invariants.corruptions.ledger import LEDGER
from tests.invariants.corruptions.lines import LINES
from tests.invariants.corruptions.matches import MATCHES
from tests.invariants.corruptions.networks import NETWORKS
from tests.invariants.corruptions.operator import OPERATOR
from tests.invariants.corruptions.payments import PAYMENTS
from tests.invariants.corruptions.people import PEOPLE
from tests.invariants.corruptions.proofs import PROOFS
from tests.invariants.corruptions.seals import SEALS
from tests.invariants.corruptions.solvency import SOLVENCY
from tests.invariants.corruptions.statements import STATEMENTS
from tests.invariants.corruptions.webhooks import WEBHOOKS

TABLE = [
    *LEDGER,
    *FUNDING,
    *PROOFS,
    *PAYMENTS,
    *WEBHOOKS,
    *NETWORKS,
    *ACH,
    *BANKS,
    *LINES,
    *INSTANT,
    *OPERATOR,
    *STATEMENTS,
    *DAYS,
    *MATCHES,
    *SOLVENCY,
    *PEOPLE,
    *SEALS,
]
