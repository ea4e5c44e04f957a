"""Proofs of funds for tenants: on the page of statements, as a file, and the keys for everybody."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from django.test import Client

from solvency import signing
from tenants.models import AuditEvent, Role
from tests.builders import browser_of, make_member
from tests.solvency.builders import adjust, fund, live, settle, take
from tests.solvency.test_verify_script import SCRIPT

pytestmark = pytest.mark.django_db

PAGE, FILE = "/dashboard/statements", "/dashboard/statements/proofs/2026-11-20.json"


@pytest.fixture
def ada():
    return live("Ada")


@pytest.fixture
def browser(ada):
    return browser_of(make_member(ada, email="ada@acme.example", role=Role.VIEWER))


def test_a_tenant_without_a_proof_reads_nothing_of_it(browser):
    assert b"Proof of funds" not in browser.get(PAGE).content


def test_the_page_says_what_was_proven(browser, ada):
    fund(ada, 123_400)
    settle(ada, 70)
    fund(live("Bob"), 999_900)
    take()

    text = browser.get(PAGE).content.decode()

    assert "Your balance is in the proof of November 20" in text
    assert "$1,234.00" in text
    assert "$0.70" in text
    assert "9,999" not in text


def test_what_was_owed_is_said(browser, ada):
    adjust(ada, -150)
    take()

    assert 'owed: <span class="amount">$1.50' in browser.get(PAGE).content.decode()


def test_the_file_holds_with_what_everybody_can_download(browser, ada, tmp_path):
    fund(ada, 5)
    take()
    answer = browser.get(FILE)
    anybody = Client()
    (tmp_path / "proof.json").write_bytes(answer.content)
    (tmp_path / "keys.json").write_bytes(
        anybody.get("/.well-known/ballast-proof-keys.json").content
    )
    (tmp_path / "verify.py").write_bytes(anybody.get("/docs/verify_proof.py").content)

    done = subprocess.run(
        [sys.executable, "verify.py", "proof.json", "--keys", "keys.json", "--tenant", ada.pk],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert answer["Content-Disposition"] == 'attachment; filename="proof-of-funds-2026-11-20.json"'
    assert (done.returncode, done.stderr) == (0, "")
    assert f"0.05 USD of {ada.pk}" in done.stdout
    assert (tmp_path / "verify.py").read_bytes() == SCRIPT.read_bytes()
    event = AuditEvent.objects.get(action="file.downloaded")
    assert event.details["file"] == "proof-of-funds-2026-11-20.json"


@pytest.mark.parametrize("day", ["2026-11-19", "2026-13-41"])
def test_another_day_is_not_found(browser, day):
    take()

    assert browser.get(f"/dashboard/statements/proofs/{day}.json").status_code == 404


def test_former_keys_stay_published(settings):
    before = signing.public_keys()
    settings.PROOF_PUBLIC_KEYS = ["p0:" + "A" * 43 + "="]

    keys = json.loads(Client().get("/.well-known/ballast-proof-keys.json").content)["keys"]

    assert [key["id"] for key in keys] == [*before, "p0"]
    assert {key["algorithm"] for key in keys} == {"Ed25519"}
