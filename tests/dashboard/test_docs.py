from __future__ import annotations

import re

import pytest

from api import problems
from common.errors import DomainError


class TestDocumentation:
    @pytest.mark.parametrize("path", ["/docs/", "/docs/webhooks", "/docs/errors"])
    def test_is_public(self, client, path):
        assert client.get(path).status_code == 200

    def test_explains_every_error_code_once(self, client):
        content = client.get("/docs/errors").content.decode()

        anchors = re.findall(r'<article class="error-code" id="(\w+)">', content)
        assert sorted(anchors) == sorted(DomainError.registry)
        assert len(anchors) == len(set(anchors))

    def test_is_where_the_type_of_a_problem_points(self, client, acme_api):
        problem = acme_api.get("/api/v1/nothing").json()

        path, anchor = problem["type"].removeprefix("http://localhost:8000").split("#")
        assert problem["type"] == problems.type_uri("not_found")
        assert f'id="{anchor}"' in client.get(path).content.decode()

    def test_sets_names_of_fields_as_code(self, client):
        assert b"<code>Retry-After</code>" in client.get("/docs/errors").content
