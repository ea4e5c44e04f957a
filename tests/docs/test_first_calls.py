"""The first calls that README, guide and /docs/ print work as they are printed."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.builders import ApiClient, make_key, make_source

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["docs/api.md", "templates/dashboard/developers/docs/index.html"]
ADDRESS = "http://localhost:8000"
CALL = re.compile(r"curl.*?(?=\n *```|\n\n)", re.DOTALL)
PATH = re.compile(r"(?:\$API|/api/v1)(/[a-z/-]+)")
BODY = re.compile(r"-d '(\{.*?\})'", re.DOTALL)


def bodies(page):
    """Path and body of every POST that a page prints."""
    for call in CALL.findall(html.unescape((ROOT / page).read_text())):
        path, body = PATH.search(call), BODY.search(call)
        if path and body:
            yield path[1], body[1]


@pytest.mark.parametrize("page", PAGES)
def test_every_printed_body_is_accepted(page, acme, acme_api):
    source = make_source(acme, account_number="987654321")
    sent = list(bodies(page))

    assert sent
    for path, body in sent:
        document = json.loads(body.replace("fs_…", source.pk))
        response = acme_api.post_json(f"/api/v1{path}", document)
        assert response.status_code in {200, 201}, (path, response.json())


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.django_db(transaction=True)
def test_the_lines_of_the_readme_can_be_pasted(live_server, acme):
    (lines,) = re.findall(
        r"## Five lines of curl\n\n```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL
    )
    printed = lines.replace("bal_test_…", make_key(acme)).replace(ADDRESS, live_server.url)

    for _ in range(2):  # pasted again they do no harm
        done = subprocess.run(
            ["bash", "-c", printed], capture_output=True, text=True, check=True, timeout=60
        )

        assert '"availableBalance":0' in done.stdout
        assert re.search(r"^.*fs_[0-9a-z]{26}$", done.stdout, re.MULTILINE)
        assert done.stdout.count('"amount":25000,') == 2
    assert len(ApiClient(make_key(acme)).get("/api/v1/funding/transactions").json()["data"]) == 1
