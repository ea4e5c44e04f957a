"""Statements that an instant network's operator puts into a folder."""

from __future__ import annotations

from datetime import date

import pytest

from common.clock import utc_now
from networks.ach.models import InFile
from reconciliation import accounts, fetching
from reconciliation.accounts import Opening
from reconciliation.models import StatementFormat
from tests.networks.instant.builders import ACCOUNT, RAIL, make_rail

pytestmark = pytest.mark.django_db


@pytest.fixture
def rail(tmp_path):
    return make_rail(tmp_path, statements=f"{tmp_path}/fednow_*.xml")


@pytest.fixture
def account(rail):
    opening = Opening(
        rail=RAIL,
        number=ACCOUNT,
        format=StatementFormat.CAMT,
        opened_on=date(2026, 11, 30),
        cents=0,
    )
    return accounts.put_in_force(opening, reason="As agreed", by="Olga", now=utc_now())


def fetch() -> int:
    return fetching.fetch_due(now=utc_now())


def left(folder) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_files_of_the_rail_are_kept_and_removed(account, tmp_path):
    for name in ("fednow_2.xml", "fednow_1.xml", "rtp_1.xml"):
        (tmp_path / name).write_text(f"<{name}/>")

    assert fetch() == 2
    assert [each.name for each in InFile.objects.order_by("pk")] == ["fednow_1.xml", "fednow_2.xml"]
    assert set(InFile.objects.values_list("rail_id", "folder")) == {(RAIL, "statements")}
    assert left(tmp_path) == ["rtp_1.xml"]


def test_the_same_bytes_are_kept_once(account, tmp_path):
    for name in ("fednow_1.xml", "fednow_again.xml"):
        (tmp_path / name).write_text("<same/>")

    assert fetch() == 1
    assert (InFile.objects.count(), left(tmp_path)) == (1, [])


def test_what_is_written_on_meanwhile_stays(tmp_path):
    path = tmp_path / "fednow_1.xml"
    path.write_text("<half")
    read = path.stat()
    with path.open("a") as file:
        file.write("/>")

    fetching.remove(path, read)
    assert left(tmp_path) == ["fednow_1.xml"]

    fetching.remove(path, path.stat())
    assert left(tmp_path) == []
    fetching.remove(path, read)  # another worker was here


def test_what_cannot_be_kept_stays_and_holds_up_nothing(account, tmp_path):
    (tmp_path / "fednow_0.xml").touch()
    (tmp_path / "fednow_1.xml").write_text("<good/>")

    assert fetch() == 1
    assert left(tmp_path) == ["fednow_0.xml"]


def test_nothing_is_taken_before_there_is_an_account(rail, tmp_path):
    (tmp_path / "fednow_1.xml").write_text("<early/>")

    assert fetch() == 0
    assert left(tmp_path) == ["fednow_1.xml"]


def test_a_folder_that_is_away_is_no_error_of_others(account, tmp_path):
    make_rail(tmp_path, name="other", statements=f"{tmp_path}/gone/fednow_*.xml")
    (tmp_path / "fednow_1.xml").write_text("<good/>")

    assert fetch() == 1
