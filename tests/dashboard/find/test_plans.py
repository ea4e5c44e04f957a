"""What a search reads beside rows of many other tenants: the tenant's, by an index."""

from __future__ import annotations

import pytest

from tests.common.database import crowd
from tests.common.database.plans import Plans
from tests.dashboard.find.test_find import PATH, ids_of, log
from tests.fuzz.tenant import stock


@pytest.mark.slow
@pytest.mark.django_db
def test_ids_and_words_are_found_by_an_index(acme, rival, dana_browser):
    mine = ids_of(acme)
    log(acme, "trace-0001")
    stock(rival)
    crowd.around(acme, like=rival)
    beginnings = [pk[: len(prefix) + 1 + 10] for prefix, pk in mine.items()]
    asked = [*mine.values(), *beginnings, "trace-0001", "supplier", "10.00", "1"]
    with Plans.noted() as plans:
        answers = [dana_browser.get(PATH, {"q": text}).status_code for text in asked]

    assert answers == [200] * len(asked)
    assert plans.looked_at > 2 * len(asked)
    assert plans.foreign(crowd.LONG) == {}
