"""What the stand-in bank writes is what is read: it reads the rules of the formats for itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

from hypothesis import assume, given
from hypothesis import strategies as st

from devstack.odfi import bai2, camt053
from devstack.odfi.statements import Posting, Statement
from devstack.odfi.terms import Terms
from networks.bank_statements.faults import Scope
from networks.bank_statements.items import LineKind
from tests.networks.bank_statements.reading import events, lines, only

DAY = date(2035, 12, 4)
NOON = datetime(2035, 12, 4, 17, tzinfo=UTC)
KINDS = {
    ("settlement", True): LineKind.BATCH,
    ("settlement", False): LineKind.BATCH,
    ("offset", True): LineKind.CREDIT,
    ("offset", False): LineKind.DEBIT,
    ("return", True): LineKind.RETURN,
    ("return", False): LineKind.RETURN,
    ("credit", True): LineKind.CREDIT,
}
CENTS = st.integers(1, 10**12)
WORDS = st.text("ABCXYZ 0189-&<>.'\"", max_size=80).map(str.strip)
REFERENCES = st.text("ABC0189-", min_size=1, max_size=22)


@st.composite
def statements(draw):
    opening = draw(st.integers(0, 10**13))
    rows = draw(st.lists(st.tuples(st.sampled_from(sorted(KINDS)), CENTS, REFERENCES, WORDS)))
    postings = tuple(
        Posting(
            number=number,
            at=NOON,
            kind=kind,
            amount=amount if is_credit else -amount,
            reference=reference,
            text=text,
            return_code="R01" if kind == "return" else "",
        )
        for number, ((kind, is_credit), amount, reference, text) in enumerate(rows, start=1)
    )
    closing = opening + sum(posting.amount for posting in postings)
    return Statement(DAY, draw(st.integers(1, 9_999)), opening, closing, postings)


def expected(posting):
    return posting.amount, KINDS[posting.kind, posting.amount > 0], posting.reference


def quoted(posting):
    """A sum names a file of ours, or a batch in it; another line its one transfer."""
    file, _, batch = posting.reference.partition("-")
    is_sum = posting.kind in {"settlement", "offset"}
    return file if is_sum and not batch else posting.reference


def named(references):
    return references.batch or references.file or references.end_to_end


@given(statements())
def test_bai2(statement):
    content = bai2.write(statement, Terms(), at=NOON)
    found = only(content)

    assert found.is_usable
    assert (found.heading.opening, found.heading.closing) == (statement.opening, statement.closing)
    assert found.heading.to_date == DAY
    assert [(line.amount, line.kind, line.references.customer) for line in found.lines] == [
        expected(posting) for posting in statement.postings
    ]
    assert [line.text for line in found.lines] == [posting.text for posting in statement.postings]


@given(statements())
def test_camt053(statement):
    content = camt053.write(statement, Terms(), at=NOON)
    found = only(content)

    assert found.is_usable
    assert (found.heading.opening, found.heading.closing) == (statement.opening, statement.closing)
    assert (found.heading.to_date, found.heading.sequence) == (DAY, statement.number)
    assert [(line.amount, line.kind, named(line.references)) for line in found.lines] == [
        (*expected(posting)[:2], quoted(posting)) for posting in statement.postings
    ]
    assert [line.return_code for line in found.lines] == [
        posting.return_code for posting in statement.postings
    ]


@given(statements(), st.sampled_from([bai2.write, camt053.write]), st.data())
def test_a_cent_more_anywhere_is_seen(statement, write, data):
    assume(statement.postings)
    posting = data.draw(st.sampled_from(statement.postings))
    more = replace(posting, amount=posting.amount + (1 if posting.amount > 0 else -1))
    postings = tuple(more if each is posting else each for each in statement.postings)

    found = only(write(replace(statement, postings=postings), Terms(), at=NOON))

    assert [fault.code for fault in found.faults if fault.scope is Scope.STATEMENT] == [
        "balance_wrong"
    ]


@given(statements(), st.sampled_from([bai2.write, camt053.write]))
def test_ids_are_all_different_and_the_same_again(statement, write):
    content = write(statement, Terms(), at=NOON)

    ids = [line.id for line in lines(content)]
    assert len(set(ids)) == len(ids)
    assert ids == [line.id for line in lines(content)]
    assert events(content) == events(content)
