"""The desk's pages say nothing that a library says by itself."""

from __future__ import annotations

import pytest

from tests.dashboard.shell.test_library_texts import of_libraries

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("query", ["", "?q=nothing"])
def test_a_list_without_rows_and_the_search(desk, query):
    content = desk.get(f"/admin/tenants/switch/{query}").content.decode()

    assert "data-find" in content
    assert of_libraries(content) == []


def test_a_form_sent_empty(desk, acme):
    content = desk.post(f"/admin/desk/tenants/{acme.pk}/suspend/", {"reason": ""}).content.decode()

    assert "Fill in this field." in content
    assert of_libraries(content) == []
