from __future__ import annotations

import pytest

from balance.operator.accounts import Step
from networks.ach import references
from networks.ach.models import InRecord
from reconciliation import by_hand
from reconciliation.matching import naming, running
from reconciliation.models import Match, MatchedLine, Rule, StatementLine
from tests.database import owner
from tests.networks.ach.inbound import builders
from tests.networks.ach.inbound.builders import RAIL
from tests.networks.ach.nacha import raw
from tests.reconciliation.banking import Posted, matched, state
from tests.reconciliation.dishonored import contest, dishonor
from tests.reconciliation.statements import MONDAY, NOW, OPENING, TUESDAY
from tests.reconciliation.transfers import batch_of, book, expected_of, settled

pytestmark = pytest.mark.django_db


def run():
    return running.run(RAIL, now=NOW)


@pytest.fixture
def batch(rail, account):
    return batch_of(rail)


@pytest.fixture
def file(batch):
    return references.of_file(batch.file)


class TestOurFile:
    def test_is_found_by_its_batch(self, batch, acme):
        settled(acme, batch, 3_000, 2_000)
        (line,) = state(Posted(5_000, references.of_batch(batch)))

        assert run() == {Rule.FILE: 1}

        made = Match.objects.get()
        assert (made.rule, made.day, made.amount) == ("file", MONDAY, 5_000)
        assert (made.statement_lines, made.expected_lines, made.made_by) == (1, 2, "")
        assert MatchedLine.objects.get(line=line).match == made

    def test_is_found_by_its_total(self, batch, file, acme):
        settled(acme, batch, 3_000)
        settled(acme, batch_of(batch.file.rail, number=2, file=batch.file), -1_000)
        state(Posted(2_000, file))

        run()

        assert matched() == [("file", [2_000], [-1_000, 3_000])]

    def test_is_found_by_debits_and_credits_apart(self, batch, file, acme):
        settled(acme, batch, 3_000)
        settled(acme, batch_of(batch.file.rail, number=2, file=batch.file), -1_000)
        state(Posted(3_000, file), Posted(-1_000, file))

        run()

        assert matched() == [("file", [-1_000, 3_000], [-1_000, 3_000])]

    def test_is_found_by_its_name_at_the_bank(self, batch, acme):
        settled(acme, batch, 3_000)
        state(Posted(3_000, batch.file.remote_name))

        assert run() == {Rule.FILE: 1}

    def test_that_settles_on_two_days_is_found_on_each(self, batch, file, acme):
        settled(acme, batch, 3_000, day=MONDAY)
        settled(acme, batch_of(batch.file.rail, number=2, file=batch.file), 700, day=TUESDAY)
        state(Posted(3_000, file))
        state(Posted(700, file), day=TUESDAY, opening=OPENING + 3_000)

        assert run() == {Rule.FILE: 2}

    def test_that_the_bank_posts_later_is_found(self, batch, acme):
        settled(acme, batch, 3_000)
        state()
        state(Posted(3_000, references.of_batch(batch)), day=TUESDAY)

        run()

        assert Match.objects.get().day == TUESDAY
        assert expected_of(batch.entries.get()).counts_on == MONDAY

    def test_of_which_the_bank_shows_a_sum_in_parts_is_found(self, batch, acme):
        settled(acme, batch, 3_000, 2_000)
        name = references.of_batch(batch)
        state(Posted(1, name), Posted(4_999, name))

        run()

        assert matched() == [("file", [1, 4_999], [2_000, 3_000])]

    def test_has_an_offset_that_undoes_itself(self, batch, acme):
        settled(acme, batch, 3_000)
        offset = batch_of(
            batch.file.rail, number=2, file=batch.file, is_offset=True, description="OFFSET"
        )
        name = references.of_batch(offset)
        state(
            Posted(3_000, references.of_batch(batch)),
            Posted(-3_000, name),
            Posted(3_000, name, "offset"),
        )

        assert run() == {Rule.FILE: 2}
        assert matched() == [("file", [-3_000, 3_000], []), ("file", [3_000], [3_000])]

    def test_waits_while_a_cent_is_missing(self, batch, acme):
        settled(acme, batch, 3_000, 2_000)
        state(Posted(4_999, references.of_batch(batch)))

        assert run() == {}

    def test_waits_where_the_bank_shows_it_twice(self, batch, acme):
        settled(acme, batch, 3_000)
        name = references.of_batch(batch)
        state(Posted(3_000, name), Posted(3_000, name))

        assert run() == {}

    def test_is_found_on_its_date_where_the_bank_shows_it_on_another_one_too(self, batch, acme):
        settled(acme, batch, 3_000)
        name = references.of_batch(batch)
        state(Posted(3_000, name))
        state(Posted(3_000, name), day=TUESDAY, opening=OPENING + 3_000)

        run()

        assert [match.day for match in Match.objects.all()] == [MONDAY]

    def test_waits_where_a_line_names_two(self, rail, batch, acme):
        other = batch_of(rail)
        settled(acme, batch, 3_000)
        settled(acme, other, 3_000)
        (line,) = state(Posted(3_000, references.of_file(batch.file)))
        name_also(line, references.of_file(other.file))

        assert run() == {}

    def test_is_not_matched_with_the_same_sum_of_another_one(self, rail, batch, acme):
        settled(acme, batch, 3_000)
        state(Posted(3_000, references.of_batch(batch_of(rail))))

        assert run() == {}

    def test_is_found_once_the_books_know_it(self, batch, acme):
        state(Posted(3_000, references.of_batch(batch)))
        assert run() == {}
        settled(acme, batch, 3_000)

        assert run() == {Rule.FILE: 1}


class TestTotalOfADate:
    def test_is_that_of_a_batch(self, rail, batch, acme):
        settled(acme, batch, 3_000, 2_000)
        settled(acme, batch_of(rail), -400)
        state(Posted(-400), Posted(5_000))

        assert run() == {Rule.BATCH: 2}
        assert matched() == [("batch", [-400], [-400]), ("batch", [5_000], [2_000, 3_000])]

    def test_is_that_of_a_file(self, batch, acme):
        settled(acme, batch, 3_000)
        settled(acme, batch_of(batch.file.rail, number=2, file=batch.file), 500, -100)
        state(Posted(3_400))

        assert run() == {Rule.BATCH: 1}

    def test_is_that_of_the_debits_and_of_the_credits_of_a_file(self, batch, acme):
        settled(acme, batch, 3_000)
        settled(acme, batch_of(batch.file.rail, number=2, file=batch.file), 500, -100)
        state(Posted(3_500), Posted(-100))

        assert run() == {Rule.BATCH: 2}

    def test_is_that_of_the_whole_day(self, rail, batch, acme):
        settled(acme, batch, 3_000)
        settled(acme, batch_of(rail), 500)
        state(Posted(3_500))

        assert run() == {Rule.BATCH: 1}

    def test_is_not_that_of_another_date(self, batch, acme):
        settled(acme, batch, 3_000, day=TUESDAY)
        state(Posted(3_000))

        assert run() == {}

    def test_pairs_equal_sums_if_the_bank_shows_as_many(self, rail, batch, acme):
        settled(acme, batch, 3_000)
        settled(acme, batch_of(rail), 3_000)
        state(Posted(3_000), Posted(3_000))

        assert run() == {Rule.BATCH: 2}

    def test_leaves_equal_sums_to_people_if_it_does_not(self, rail, batch, acme):
        settled(acme, batch, 3_000)
        settled(acme, batch_of(rail), 3_000)
        state(Posted(3_000))

        assert run() == {}

    def test_is_not_that_of_a_batch_that_the_bank_names(self, rail, batch, acme):
        """Twice, so that a person decides about it."""
        settled(acme, batch, 3_000)
        settled(acme, batch_of(rail), 2_000, 1_000)
        name = references.of_batch(batch)
        (total, *_) = state(Posted(3_000), Posted(3_000, name), Posted(3_000, name))

        assert run() == {Rule.BATCH: 1}
        assert matched() == [("batch", [3_000], [1_000, 2_000])]
        assert MatchedLine.objects.get().line_id == total

    def test_is_not_that_of_a_transfer_that_the_bank_names(self, rail, batch, acme):
        (entry,) = settled(acme, batch, 3_000)
        settled(acme, batch_of(rail), 2_000, 1_000)
        state(Posted(3_000), Posted(3_000, entry.trace_number))

        assert run() == {Rule.BATCH: 1, Rule.END_TO_END: 1}
        assert expected_of(entry).match == Match.objects.get(rule=Rule.END_TO_END)

    def test_is_not_a_line_that_names_something_of_ours(self, rail, batch, acme):
        (entry,) = settled(acme, batch, 3_000)
        other = builders.make_entry(batch_of(rail), 9_001, instruction_id="ftx_other")
        state(Posted(entry.amount, other.trace_number))

        assert run() == {}


class TestReturns:
    @pytest.fixture
    def back(self, batch, acme):
        """Two returns of Tuesday, of 3,000 and 500 cents."""
        state(Posted(3_500, references.of_batch(batch)))
        entries = settled(acme, batch, 3_000, 500)
        records = [record for entry in entries for record in builders.returned(entry)]
        builders.take(builders.answer_file(builders.answer_batch(*records)))
        for entry in entries:
            book(acme, entry, Step.IN_RETURNED, day=TUESDAY)
        run()
        return [InRecord.objects.get(entry=entry) for entry in entries]

    def test_are_found_by_their_traces(self, back):
        state(
            Posted(-3_000, back[0].rdfi_trace, "return"),
            Posted(-500, back[1].rdfi_trace, "return"),
            day=TUESDAY,
            opening=OPENING + 3_500,
        )

        assert run() == {Rule.RETURNS: 2}

    def test_are_found_by_their_total(self, back):
        state(Posted(-3_500, "", "return"), day=TUESDAY, opening=OPENING + 3_500)

        run()

        assert matched()[1:] == [("returns", [-3_500], [-3_000, -500])]

    def test_are_found_by_what_is_left_of_both_directions(self, back, rail, acme):
        (paid,) = settled(acme, batch_of(rail), -100, day=MONDAY)
        book(acme, paid, Step.OUT_RETURNED, day=TUESDAY)
        state(Posted(-3_400, "", "return"), day=TUESDAY, opening=OPENING + 3_500)

        assert run() == {Rule.RETURNS: 1}

    def test_are_found_by_their_total_where_the_bank_names_the_transfers(self, rail, batch, acme):
        (entry,) = settled(acme, batch, 3_000)
        book(acme, entry, Step.IN_RETURNED, day=TUESDAY)
        state(Posted(3_000, entry.reference))
        state(Posted(-3_000, "", "return"), day=TUESDAY, opening=OPENING + 3_000)

        assert run() == {Rule.RETURNS: 1, Rule.END_TO_END: 1}

    def test_wait_while_one_is_missing(self, back):
        state(Posted(-3_000, "", "return"), day=TUESDAY, opening=OPENING + 3_500)

        assert run() == {}

    def test_of_another_amount_wait(self, back):
        state(Posted(-2_999, back[0].rdfi_trace, "return"), day=TUESDAY, opening=OPENING + 3_500)

        assert run() == {}


class TestDishonoredReturns:
    @pytest.mark.parametrize("kind", ["settlement", "return"])
    def test_are_found_by_the_batch_of_the_reply(self, late, acme, kind):
        reply = dishonor(acme, late, day=MONDAY)
        state(Posted(late.amount, references.of_batch(reply.batch), kind))

        assert run() == {Rule.FILE: 1}

    def test_are_found_by_the_trace_of_the_reply(self, late, acme):
        reply = dishonor(acme, late, day=MONDAY)
        state(Posted(late.amount, reply.trace_number, "return"))

        assert run() == {Rule.END_TO_END: 1}

    def test_that_are_contested_are_found_by_the_trace_of_the_contest(self, late, acme):
        reply = dishonor(acme, late, day=MONDAY)
        record = contest(late, day=MONDAY)
        state(
            Posted(late.amount, references.of_batch(reply.batch)),
            Posted(-late.amount, record.rdfi_trace, "return"),
        )

        assert run() == {Rule.FILE: 1, Rule.RETURNS: 1}

    def test_are_ours_before_the_books_know_them(self, late, acme):
        """Nobody books them to suspense meanwhile."""
        reply = dishonor(acme, late, day=MONDAY)
        lines = state(Posted(1, reply.trace_number, "credit"), Posted(2, "", "credit"))

        assert naming.silent_lines(RAIL) == lines[1:]


class TestOneTransfer:
    @pytest.mark.parametrize("name", ["trace_number", "reference"])
    def test_is_found_by_its_name(self, batch, acme, name):
        entry, other = settled(acme, batch, 3_000, 3_000)
        state(Posted(3_000, getattr(entry, name), "offset"))

        assert run() == {Rule.END_TO_END: 1}

        assert expected_of(entry).match == Match.objects.get()
        assert expected_of(other).match is None

    def test_of_another_amount_waits(self, batch, acme):
        (entry,) = settled(acme, batch, 3_000)
        state(Posted(2_999, entry.trace_number))

        assert run() == {}


class TestRun:
    def test_finds_nothing_twice(self, batch, acme):
        settled(acme, batch, 3_000)
        state(Posted(3_000, references.of_batch(batch)))

        assert (run(), run()) == ({Rule.FILE: 1}, {})

    def test_without_an_account_or_statements_finds_nothing(self, rail, acme):
        settled(acme, batch_of(rail), 3_000)

        assert run() == {}

    def test_leaves_other_rails_alone(self, batch, acme):
        other = builders.make_rail("other")
        settled(acme, batch_of(other), 3_000)
        state(Posted(3_000))

        assert run() == {}

    def test_books_what_names_nothing_of_ours(self, batch, acme):
        state(Posted(77, "THEIRS", "credit"), Posted(3_000, references.of_batch(batch), "credit"))

        assert run() == {Rule.BOOKED: 1}
        assert matched() == [("booked", [77], [77])]

    def test_books_a_credit_that_a_file_of_the_bank_tells_of_too(self, account):
        trace = f"{builders.RDFI}0000003"
        credit = raw.entry(code="22", rdfi=builders.ODFI, check="9", amount=77, trace=trace)
        builders.take(builders.answer_file(builders.answer_batch(credit, service_class="220")))
        assert InRecord.objects.get().kind == "received"
        state(Posted(77, trace, "credit"))

        assert run() == {Rule.BOOKED: 1}

    def test_leaves_to_people_what_they_set_free(self, batch, acme):
        settled(acme, batch, 3_000)
        state(Posted(3_000, references.of_batch(batch)))
        run()
        by_hand.unmatch(Match.objects.get().pk, reason="Another file's", by="ann", now=NOW)

        assert run() == {}
        assert Match.objects.filter(voided_at=None).count() == 0


def test_lines_that_name_nothing_of_ours(batch, acme):
    (entry,) = settled(acme, batch, 3_000)
    lines = state(
        Posted(1, references.of_batch(batch)),
        Posted(2, references.of_file(batch.file)),
        Posted(3, entry.trace_number),
        Posted(4, entry.reference),
        Posted(5, "ACH999999999999"),
        Posted(6, "123456789012345"),
        Posted(7),
    )

    assert sorted(naming.silent_lines(RAIL)) == lines[4:]


def name_also(line, reference):
    """Have a line of the bank name something else, too."""
    with owner.as_superuser(triggers=False):
        row = StatementLine.objects.get(pk=line)
        StatementLine.objects.filter(pk=line).update(
            references=row.references | {"bank": reference}
        )
