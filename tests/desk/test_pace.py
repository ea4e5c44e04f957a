"""How often staff may download what the desk has of all tenants."""

from __future__ import annotations

import pytest

from tenants.models import AuditEvent

EXPORT = "/admin/desk/ledger/export/"
DAY = {"first": "2026-11-20", "last": "2026-11-20"}
EXPORTED = "journal.exported"


@pytest.fixture(autouse=True)
def _few(settings):
    settings.FILES_PER_MINUTE = 2


def exported(browser):
    """The answer, a file to its end."""
    response = browser.post(EXPORT, DAY)
    response.getvalue()
    return response


def refusal(browser):
    """The first 429 after two answers; a minute may begin on the way, and then once more."""
    for count in range(5):
        before = AuditEvent.objects.filter(action=EXPORTED).count()
        response = exported(browser)
        if response.status_code == 429:
            assert count >= 2
            assert AuditEvent.objects.filter(action=EXPORTED).count() == before
            return response
    raise AssertionError("the journal is not limited")


def test_a_journal_too_many_is_refused_and_nothing_is_noted(desk, acme):
    response = refusal(desk)

    assert 1 <= int(response["Retry-After"]) <= 60
    assert b"downloaded many files in a minute" in response.content
    assert b"Programs should use the API" not in response.content
    assert "no-store" in response["Cache-Control"]
    assert desk.get("/admin/desk/ledger/").status_code == 200


def test_files_for_banks_count_with_them(desk, acme):
    refusal(desk)

    statuses = {desk.post("/admin/desk/files/file_1/download/").status_code for _ in range(3)}

    assert 429 in statuses


def test_a_colleague_goes_on(desk, kim, acme):
    refusal(desk)

    assert exported(kim).status_code == 200


def test_who_may_not_export_is_told_that(staff_with, acme):
    browser = staff_with("balance.view_ledgercheck")

    assert {exported(browser).status_code for _ in range(4)} == {403}
