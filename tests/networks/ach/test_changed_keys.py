"""`FINGERPRINT_KEY` changed while entries were on their way: banks answer to them all the same."""

from __future__ import annotations

import pytest

from networks.ach import accounts
from networks.ach.models import AchEntry, InRecord
from networks.base import Accepted, InstructionConflict
from tests.networks.ach.builders import (
    BANK,
    NOON,
    account,
    make_originator,
    make_rail,
    take,
)
from tests.networks.ach.builders import instruction as order
from tests.networks.ach.inbound import builders
from tests.networks.ach.inbound.builders import answer_batch, answer_file, returned, told

OLD, NEW = "the former key", "the new key"


@pytest.fixture(autouse=True)
def _old(settings):
    settings.FINGERPRINT_KEY, settings.FINGERPRINT_KEY_FALLBACKS = OLD, [NEW]


@pytest.fixture
def changed(settings):
    def change():
        settings.FINGERPRINT_KEY, settings.FINGERPRINT_KEY_FALLBACKS = NEW, [OLD]

    return change


@pytest.mark.django_db
class TestAnAnswer:
    @pytest.fixture
    def batch(self):
        return builders.make_batch(builders.make_rail())

    def test_finds_the_entry_of_the_old_key(self, batch, changed):
        entry = builders.make_entry(batch)
        changed()

        file = builders.take(answer_file(answer_batch(*returned(entry, "R01"))))

        assert (file.status, file.faults) == ("applied", [])
        entry.refresh_from_db()
        assert (entry.status, entry.code) == ("returned", "R01")
        assert InRecord.objects.get().account_fingerprint != entry.account_fingerprint

    def test_that_comes_again_changes_nothing(self, batch, changed):
        entry = builders.make_entry(batch)
        pair = returned(entry)
        builders.take(answer_file(answer_batch(*pair)))
        changed()

        again = builders.take(answer_file(answer_batch(*pair), day="261127"))

        assert (again.status, builders.records(again)) == ("applied", [])
        assert told(entry) == [("returned", "R01")]

    def test_about_another_account_goes_to_a_person(self, batch, changed):
        entry = builders.make_entry(batch)
        changed()

        is_of_it = accounts.is_of(entry, accounts.fingerprint("999"))

        assert not is_of_it
        assert accounts.is_of(entry, accounts.fingerprint(entry.account_number))

    def test_about_an_entry_whose_number_does_not_open_goes_to_a_person(self, batch, changed):
        entry = builders.make_entry(batch)
        changed()
        entry.account_token = "lost:AAAA"

        assert not accounts.is_of(entry, accounts.fingerprint(builders.ACCOUNT))


@pytest.mark.django_db(transaction=True)
class TestAnInstruction:
    @pytest.fixture(autouse=True)
    def _bank(self):
        make_rail()
        make_originator()

    def test_is_the_same_when_it_comes_again(self, changed):
        take(order(id="ftx_1"))
        changed()

        answers = BANK.submit_many([order(id="ftx_1")], now=NOON)

        assert isinstance(answers["ftx_1"], Accepted)
        other = order(id="ftx_1", account=account("999"))
        assert isinstance(BANK.submit_many([other], now=NOON)["ftx_1"], InstructionConflict)
        assert AchEntry.objects.count() == 1

    def test_to_an_account_that_was_tested_needs_no_other_test(self, changed):
        (test,) = take(order(id="dep_1", purpose="verification"))
        changed()

        (entry,) = take(order(id="ftx_1"))
        (other,) = take(order(id="ftx_2", account=account("000777000123")))

        assert entry.account_fingerprint == test.account_fingerprint
        assert other.account_fingerprint == accounts.fingerprint("000777000123")
