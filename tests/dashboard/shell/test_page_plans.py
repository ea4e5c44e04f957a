"""What tenants' pages read under the role of requests, beside rows of many other tenants: an index
finds the tenant's, and the wall throws nothing away."""

from __future__ import annotations

import pytest

from tests.balance.builders import fund
from tests.builders import make_auto_funding, make_source
from tests.common.database import crowd
from tests.common.database.plans import Plans
from tests.dashboard.shell.test_query_counts import PAGES, first_rows, grow, path_of
from tests.fuzz.tenant import stock


@pytest.mark.slow
@pytest.mark.django_db
def test_read_the_tenants_rows_by_index(acme, rival, dana_browser):
    make_auto_funding(acme, confirm_topups=True, confirmation_threshold=1)
    fund(acme, 10_000_000)
    make_source(acme, account_number="50001")
    grow(acme, make_source(acme), 1)
    stock(rival)
    ids = first_rows(acme)
    crowd.around(acme, like=rival)
    with Plans.noted() as plans:
        answers = {page: dana_browser.get(path_of(page, ids)).status_code for page in PAGES}

    assert answers == dict.fromkeys(PAGES, 200)
    assert plans.looked_at > len(PAGES)
    assert plans.foreign(crowd.LONG) == {}
