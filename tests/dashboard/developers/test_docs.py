from __future__ import annotations

import re
from pathlib import Path

import pytest

from api import problems
from common.errors import DomainError
from dashboard.developers.docs import guide

DESCRIPTION = re.compile(r'<meta name="description" content="([^"]+)">')


class TestDocumentation:
    @pytest.mark.parametrize("path", ["/docs/", "/docs/guide", "/docs/webhooks", "/docs/errors"])
    def test_is_public(self, client, path):
        assert client.get(path).status_code == 200

    @pytest.mark.parametrize("path", ["/docs/", "/docs/guide", "/docs/api"])
    def test_tells_search_engines_what_it_is(self, client, path):
        (said,) = DESCRIPTION.findall(client.get(path).content.decode())

        assert said.startswith("How to add money to a balance")

    def test_tells_them_of_a_resource_what_is_special_about_it(self, client):
        content = client.get("/docs/api/payments").content.decode()

        (said,) = DESCRIPTION.findall(content)
        start, lead = said.split(" in the Ballast API. ")
        assert start == "Payments"
        assert f'<p class="lead">{lead}' in content

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


class TestGuide:
    def test_shows_every_section_with_an_anchor_and_in_the_contents(self, client):
        source = Path("docs/api.md").read_text()
        content = client.get("/docs/guide").content.decode()

        headings = re.findall(r"^## (.+)$", re.sub(r"```.*?```", "", source, flags=re.S), re.M)
        sections = guide.guide().sections
        assert [section.title for section in sections] == headings
        assert len({section.id for section in sections}) == len(sections) >= 10
        for section in sections:
            assert f'<h2 id="{section.id}">' in content
            assert content.count(f'href="#{section.id}"') == 3

    def test_leads_nowhere_that_is_not_there(self, client, db):
        content = client.get("/docs/guide").content.decode()

        for address in set(re.findall(r'href="(/[^"#]*)["#]', content)):
            if not address.startswith("/static/"):
                assert client.get(address).status_code in {200, 302}, address

    def test_escapes_html_in_the_source(self):
        html = guide.render("# A\n\n<script>x</script>\n\n```\n<b>\n```\n").html

        assert "<script>" not in html
        assert "&lt;b&gt;" in html

    def test_keeps_only_links_that_work_on_the_site(self):
        html = guide.render("[a](../openapi.yaml) [b](ledger.md) [c](javascript:x)").html

        assert '<a href="/api/schema">a</a> b ' in html
        assert "javascript:x)" in html
        assert 'href="javascript' not in html

    def test_costs_no_query(self, client, db, django_assert_num_queries):
        with django_assert_num_queries(0):
            client.get("/docs/guide")

    def test_calls_the_product_that_shows_it(self, client, settings):
        settings.BASE_URL = "https://money.example:8443"

        content = client.get("/docs/guide").content.decode()

        assert "API=https://money.example:8443/api/v1" in content
        assert "localhost" not in content

    @pytest.mark.parametrize("inside", [".md", "./run", "manage.py", "openapi.yaml", "clients/"])
    def test_names_nothing_that_only_the_repository_has(self, inside):
        assert inside not in guide.guide().html
