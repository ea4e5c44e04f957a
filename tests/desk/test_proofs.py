"""Proofs of funds at the desk: the list, a report in words, and its file."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from solvency import reports
from tests.database import owner
from tests.solvency.builders import NEXT_DAY, adjust, fund, live, settle, take

pytestmark = pytest.mark.django_db

LIST = "/admin/desk/proofs/"


@pytest.fixture
def report():
    ada, bob = live("Ada"), live("Bob")
    fund(ada, 100_000)
    settle(ada, 2_500)
    adjust(bob, -300)
    return take(not_on_statement=-1_000)


def shown(browser, path=LIST):
    return browser.get(path).content.decode()


def test_there_may_be_none(desk):
    assert "No proof yet." in shown(desk)


def test_the_list_says_what_each_comes_to(desk, report):
    take(NEXT_DAY)

    text = shown(desk)

    assert text.index("Nov 23, 2026") < text.index("Nov 20, 2026")
    assert "$1,025.00" in text


def test_the_page_says_both_sides(desk, report):
    text = shown(desk, f"{LIST}2026-11-20/")

    for words in ("$1,000.00", "$25.00", "−$3.00", "$1,535.00", "−$10.00", "−$500.00", "$0.00"):
        assert words in text, words
    assert report.digest in text
    assert "Owed by 1 tenant below zero" in text
    assert "This is the first one." in text


def test_the_file_is_the_signed_report(desk, report):
    answer = desk.get(f"{LIST}2026-11-20.json")

    assert answer.json() == reports.signed(report)
    assert "proof-of-funds-2026-11-20.json" in answer["Content-Disposition"]


def test_a_day_without_one_is_not_found(desk):
    assert desk.get(f"{LIST}2026-11-20/").status_code == 404
    assert desk.get(f"{LIST}2026-11-20.json").status_code == 404


class TestCommand:
    def verify(self) -> dict[str, object]:
        out = StringIO()
        call_command("verify_proof", "2026-11-20", "--json", stdout=out)
        said: dict[str, object] = json.loads(out.getvalue())
        return said

    def test_proves_a_day_from_its_leaves_on(self, report):
        said = self.verify()

        assert (said["ok"], said["difference"], said["findings"]) == (True, 0, [])
        assert (said["tenants"], said["digest"]) == (102_500, report.digest)

    def test_ends_with_what_is_wrong(self, report):
        with owner.as_superuser(triggers=False), connection.cursor() as cursor:
            cursor.execute("UPDATE solvency_proofleaf SET settled = settled + 1")

        with pytest.raises(CommandError, match="proof_tree"):
            self.verify()

    def test_knows_no_other_day(self):
        with pytest.raises(CommandError, match="There is no proof of funds for this day"):
            self.verify()
