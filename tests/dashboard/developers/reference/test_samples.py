"""Each sample of the reference is a program that works: it is run here, with a test key.

What makes or lists something runs as it is. For the others the test puts real ids where the
placeholders are.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from contextlib import redirect_stdout
from dataclasses import dataclass
from datetime import timedelta
from io import StringIO
from typing import Any
from urllib.parse import urlsplit

import ballast_client
import httpx
import pytest
from ballast_client import calls

from common.clock import utc_now
from dashboard.developers.docs.reference.python_calls import CALLS
from dashboard.developers.docs.reference.reading import reference
from dashboard.developers.docs.reference.samples import KEY
from tests import document
from tests.document import faults
from tests.fuzz.tenant import stock

BASE = "http://localhost:8000"
OPERATIONS = [one for page in reference(base_url=BASE).resources for one in page.operations]
CURL = shutil.which("curl")
# What the state of the tenant refuses, because a sample cannot know it: an account that is verified
# already, and money that nobody has to approve.
REFUSED = {
    "fundingSource_verify": 409,
    "sandbox_confirmation": 404,
    "sandboxPayment_confirmation": 404,
}
# The account that every stocked tenant has already: it can be entered once.
ENTERED = "000123456789"
_PLACEHOLDER = re.compile(r"\b([a-z]+)_…")
_ID = re.compile(r"\b[a-z]+_[0-9a-z]{26}\b")
# The one creation that has no other way to say whose money it takes.
_NEEDS_AN_ID = {"topUp_create"}
_DAY = re.compile(r"2026-11-(20|21)T00:00:00Z")


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


def sample(operation, language):
    return next(one.text for one in operation.samples if one.language == language)


def of_curl(text: str) -> Request:
    """What a shell and curl make of it."""
    words = iter(shlex.split(text.replace("\\\n", " ")))
    assert next(words) == "curl"
    method, url, headers, data = "", "", {}, None
    for word in words:
        if word == "-X":
            method = next(words)
        elif word == "-H":
            name, _, value = next(words).partition(": ")
            headers[name] = value
        elif word == "-d":
            data = next(words)
        else:
            url = word
    method = method or ("GET" if data is None else "POST")
    return Request(method, urlsplit(url).path, headers, json.loads(data) if data else None)


def of_typescript(text: str) -> Request:
    """What the client for TypeScript would send: it adds the root, and the type of a body."""
    ((key, _),) = re.findall(r'new Ballast\("(.+?)", { baseUrl: "(.+?)" }\);', text)
    ((method, template),) = re.findall(r'ballast\.(\w+)\("(.+?)"', text)
    values = re.search(r"params: { path: ({ .*? }) }", text)
    path = template.format_map(dict(re.findall(r'(\w+): "(.+?)"', values[1] if values else "")))
    body = re.search(r"  body: (\{.*?\n  \}|\{\}),\n", text, re.DOTALL)
    repeated = re.search(r'idempotencyKey: "(.+?)"', text)
    headers = {"Authorization": f"Bearer {key}"}
    if body:
        headers["Content-Type"] = "application/json"
    if repeated:
        headers["Idempotency-Key"] = repeated[1]
    return Request(
        {"each": "GET", "download": "GET"}.get(method, method.upper()),
        f"/api/v1{path}",
        headers,
        json.loads(body[1]) if body else None,
    )


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.id)
class TestSample:
    def test_of_curl_asks_for_the_operation_as_documented(self, operation):
        request = of_curl(sample(operation, "curl"))

        found = document.find(request.method, request.path)
        assert found is not None
        assert found["operationId"] == operation.id
        assert request.headers["Authorization"] == f"Bearer {KEY}"
        assert ("Idempotency-Key" in request.headers) is (request.method != "GET")
        if request.body is not None:
            schema = found["requestBody"]["content"]["application/json"]["schema"]
            assert faults(schema, request.body) == []

    def test_of_typescript_asks_the_same(self, operation):
        assert of_typescript(sample(operation, "typescript")) == of_curl(sample(operation, "curl"))

    def test_has_no_id_that_only_an_example_has(self, operation):
        for one in operation.samples:
            assert _ID.findall(one.text) == []
        for example in operation.body_examples:
            assert _ID.findall(example.text) == []

    def test_of_python_is_python(self, operation):
        compile(sample(operation, "python"), operation.id, "exec")

    def test_marks_the_key_and_the_body(self, operation):
        html = next(one.html for one in operation.samples if one.language == "curl")

        assert html.count(f"<span data-key>{KEY}</span>") == 1
        assert ("data-body" in html) is bool(operation.body)


def test_the_client_has_a_function_for_all_but_downloads():
    without = {one.id for one in OPERATIONS if one.id not in CALLS}

    assert without == {one.id for one in OPERATIONS if one.path.endswith(".csv")}
    assert all(callable(getattr(calls, call.function)) for call in CALLS.values())


@pytest.mark.django_db(transaction=True)
class TestRun:
    """Reads and what makes something share a tenant; what acts on something has a fresh one."""

    @pytest.fixture(autouse=True)
    def _receivers_of_any_name(self, settings):
        settings.WEBHOOK_ALLOWED_NETWORKS = ["127.0.0.0/8"]

    def test_each_sample_of_curl_works(self, live_server):
        assert self.outcomes("curl", live_server.url, run_curl) == {}

    def test_each_sample_of_python_works(self, live_server):
        assert self.outcomes("python", live_server.url, run_python) == {}

    def test_of_curl_what_makes_or_lists_something_runs_as_it_is(self, live_server):
        self.run_without_ids("curl", live_server.url, run_curl)

    def test_of_python_what_makes_or_lists_something_runs_as_it_is(self, live_server):
        self.run_without_ids("python", live_server.url, run_python)

    def run_without_ids(self, language, address, run):
        needing, wrong = set(), {}
        made = stock()
        for operation in OPERATIONS:
            text = with_key(sample(operation, language), made).replace(BASE, address)
            if "…" in text:
                needing.add(operation.id)
                continue
            status, said = run(text)
            success = int(operation.answer.status)
            if (status or success) != success:
                wrong[operation.id] = (status, said)
        assert wrong == {}
        acting = {one.id for one in OPERATIONS if "_id}" in one.path}
        assert needing == acting | _NEEDS_AN_ID

    def outcomes(self, language, address, run):
        """What did not go as expected, by operation."""
        shared = stock()
        wrong = {}
        for operation in OPERATIONS:
            acts = "{" in operation.path and operation.is_write
            made = stock() if acts else shared
            text = filled(sample(operation, language), made, operation).replace(BASE, address)
            status, said = run(text)
            success = int(operation.answer.status)
            if (status or success) != REFUSED.get(operation.id, success):
                wrong[operation.id] = (status, said)
        return wrong


def filled(text, made, operation):
    """The sample with ids of the tenant in place of the placeholders, ready to run."""
    spare = {"DELETE": "spare_"}.get(operation.method, "")
    ids = {value.partition("_")[0]: value for name, value in made.ids.items()
           if not name.startswith("spare_")}  # fmt: skip
    if spare:
        ids |= {value.partition("_")[0]: value for name, value in made.ids.items()
                if name.startswith(spare)}  # fmt: skip
    text = _PLACEHOLDER.sub(lambda found: ids.get(found[1], found[0]), text)
    return with_key(text, made)


def with_key(text, made):
    """The sample with the tenant's own key, times and a number that it has not entered yet."""
    midnight = utc_now().replace(hour=0, minute=0, second=0, microsecond=0)
    text = _DAY.sub(
        lambda found: f"{midnight + timedelta(days=int(found[1]) - 20):%Y-%m-%dT%H:%M:%SZ}", text
    )
    text = text.replace(ENTERED, "000123450000")
    return text.replace(KEY, made.key)


def run_curl(text):
    """By curl where there is one, else as we read it."""
    if CURL is None:
        request = of_curl(text)
        url = text.split()[1] if "-X" not in text else text.split()[3]
        answer = httpx.request(request.method, url, headers=request.headers, json=request.body)
        return answer.status_code, answer.text
    command = f"{text} --silent --show-error --write-out '\\n%{{http_code}}'"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    said, _, status = done.stdout.rpartition("\n")
    return int(status), said


def run_python(text):
    """The status of a refusal, or None: the client does not say which success it was."""
    shown = StringIO()
    try:
        with redirect_stdout(shown):
            exec(compile(text, "sample", "exec"), {})
    except ballast_client.ApiError as refusal:
        return refusal.status, refusal.detail
    return None, shown.getvalue()
