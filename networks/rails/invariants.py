"""What must hold between routes and the rails that they lead to: this app's part of the audit."""

from __future__ import annotations

from collections.abc import Iterator

from common import audits
from common.audits import Finding, Scope

# A constraint says which money may go where, by what the route says of its rail.
_ROUTES = """
SELECT '', route.id, route.method || ' of ' || route.mode || ' leads to ' || route.rail_id
    || CASE WHEN rail.name IS NULL THEN ', which is not there' ELSE ', which is ' || rail.kind END
FROM rails_route AS route LEFT JOIN rails_rail AS rail ON rail.name = route.rail_id
WHERE rail.kind IS DISTINCT FROM route.rail_kind
"""


def check(scope: Scope) -> Iterator[Finding]:
    """Check that each route says of its rail what that is."""
    yield from audits.found("route_rail", _ROUTES, scope.values)
