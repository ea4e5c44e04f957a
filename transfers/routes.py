"""Whether a transfer may still leave by the network that it was made for, asked of the rows.

What is offered follows what a process knows of routes, which may be seconds old. Nothing leaves by
a route that is closed: the claim judges by the rows, in its own statement. What a closed route
keeps is parked and goes on when the route leads there again (decision 0127). Networks that are no
rails, which only tests, simulations and benchmarks connect, have no routes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, Q

from common.engine import arrays
from networks.rails.models import Rail, Route
from transfers.methods import Methods

# In SQL: whether `route` leads to the network of this name. False where there is no route.
LEADS = """coalesce(route.is_open AND route.rail_id = {network}
    AND (%(development)s::boolean OR NOT route.development), false)"""

# In SQL: why `found`, a transfer, may not leave. What has no route of its own at all is judged anew
# by every run.
REASON = f"""
(SELECT coalesce(route.id, 'no route') FROM tenants_tenant AS tenant
    LEFT JOIN rails_route AS route ON route.mode = tenant.mode AND route.method = (
        SELECT known.word
        FROM unnest(%(names)s::text::text[], %(words)s::text::text[]) AS known (name, word)
        WHERE known.name = found.method)
    WHERE tenant.id = found.tenant_id AND NOT {LEADS.format(network="found.network")}
        AND EXISTS (SELECT FROM rails_rail AS rail WHERE rail.name = found.network))
"""  # noqa: S608  # our own text


def closed(methods: Methods) -> Q:
    """A filter for transfers that no route leads to their rail. `REASON` in Django's words."""
    leads = Route.objects.filter(
        mode=OuterRef("tenant__mode"), rail_id=OuterRef("network"), is_open=True
    )
    if not settings.DEVELOPMENT_ROUTES:
        leads = leads.filter(development=False)
    stopped = Q(pk__in=())
    for name, method in methods.items():
        closed_to_it = ~Exists(leads.filter(method=method.network_method))
        stopped |= Q(method=name) & Q(closed_to_it)
    return stopped & Q(Exists(Rail.objects.filter(name=OuterRef("network"))))


def values(methods: Methods) -> Mapping[str, Any]:
    """The parameters of `LEADS` and `REASON`."""
    return {
        "development": settings.DEVELOPMENT_ROUTES,
        "names": arrays.texts(methods),
        "words": arrays.texts(method.network_method for method in methods.values()),
    }
