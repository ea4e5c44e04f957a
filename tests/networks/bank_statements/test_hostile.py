"""What nobody should send: nothing raises, nothing is fetched or expanded, memory stays bounded."""

from __future__ import annotations

import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from networks.bank_statements import reading
from networks.bank_statements.camt import entries
from networks.bank_statements.camt.document import DEPTH_MAX, ELEMENTS_MAX
from networks.bank_statements.faults import FAULTS_MAX
from networks.bank_statements.source import CHUNK_BYTES, FILE_BYTES_MAX
from tests.networks.bank_statements.reading import BAI2, CAMT, changed, events, faults, lines

MEBIBYTE = 1 << 20
NAMESPACE = 'xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"'
ROOT = f"<Document {NAMESPACE}><BkToCstmrStmt><Stmt>"
ENTRY = CAMT[CAMT.index("<Ntry>") : CAMT.index("</Ntry>") + len("</Ntry>")]
DETAIL = CAMT[CAMT.index("<TxDtls>") : CAMT.index("</TxDtls>") + len("</TxDtls>")]


class Endless:
    """A source of `size` bytes: a beginning, then one pattern, made as it is read."""

    def __init__(self, beginning, pattern, size):
        self._rest, self._pattern, self.left = beginning.encode(), pattern.encode(), size

    def read(self, size):
        size = min(size, self.left)
        self.left -= size
        while len(self._rest) < size:
            self._rest += self._pattern * (size // len(self._pattern) + 1)
        chunk, self._rest = self._rest[:size], self._rest[size:]
        return chunk


def codes_and_peak(source):
    """The codes of what is wrong, and the most memory that Python had meanwhile."""
    tracemalloc.start()
    try:
        found = {event.code for event in reading.read(source) if hasattr(event, "code")}
        return found, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


class TestDocumentTypes:
    BOMB = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))

    @pytest.mark.parametrize(
        "doctype",
        [
            f'<!DOCTYPE Document [<!ENTITY a0 "ha">{BOMB}]>',
            '<!DOCTYPE Document [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
            '<!DOCTYPE Document SYSTEM "http://127.0.0.1:9/statement.dtd">',
            '<!DOCTYPE Document [<!ENTITY % p SYSTEM "http://127.0.0.1:9/p">%p;]>',
            "<!DOCTYPE Document>",
        ],
        ids=["bomb", "file", "network", "parameter", "bare"],
    )
    def test_are_refused(self, doctype):
        content = changed(CAMT, ("<Document", f"{doctype}<Document"), (">E1<", ">&a11;&x;<"))

        assert faults(content) == [(0, "doctype_refused")]

    def test_are_refused_behind_a_long_comment(self):
        comment = f"<!--{'x' * (3 * CHUNK_BYTES)}-->"
        content = changed(CAMT, ("<Document", f"{comment}<!DOCTYPE Document><Document"))

        assert faults(content) == [(0, "doctype_refused")]

    @pytest.mark.parametrize("before", range(len("<!DOCTYPE") + 1))
    def test_are_refused_where_two_chunks_meet(self, before):
        comment_ends = "<!---->"
        start = CAMT.index("<Document")
        fill = CHUNK_BYTES - before - start - len(comment_ends)
        content = CAMT[:start] + f"<!--{'x' * fill}-->" + "<!DOCTYPE a>" + CAMT[start:]
        assert content.encode()[:CHUNK_BYTES].endswith("<!DOCTYPE"[:before].encode())

        assert faults(content) == [(0, "doctype_refused")]

    @pytest.mark.parametrize("blanks", [1, 200, 2 * CHUNK_BYTES])
    @pytest.mark.parametrize("encoding", ["UTF-7", "IBM037", "UTF-16LE", "ISO-8859-1"])
    def test_are_not_hidden_by_an_encoding(self, encoding, blanks):
        declared = f'<?xml version="1.0"{" " * blanks}encoding="{encoding}"?>'
        content = declared + "+ADwAIQ-DOCTYPE a+AD4-" + CAMT[CAMT.index("<Document") :]

        (found,) = faults(content)
        assert found[1] in {"encoding_unsupported", "xml_malformed"}
        assert not lines(content)

    @pytest.mark.parametrize("entity", ["&x;", "&#0;", "&a11;"])
    def test_that_are_missing_leave_entities_unknown(self, entity):
        (found,) = faults(changed(CAMT, (">E1<", f">{entity}<")))

        assert found[1] == "xml_malformed"

    def test_are_not_needed_for_comments_and_instructions(self):
        content = changed(CAMT, (">E1<", "><!-- a -->E1<?php b ?><"))

        assert lines(content) == lines(CAMT)


class TestBounds:
    def test_of_depth(self):
        inside = "<a>" * DEPTH_MAX

        assert faults(ROOT + inside) == [(0, "xml_too_deep")]
        assert faults(ROOT + "<a>" * 100_000) in ([(0, "xml_too_deep")], [(0, "xml_malformed")])

    @pytest.mark.parametrize(
        ("beginning", "pattern"),
        [
            (ROOT + "<Ntry>", "<a/>"),
            (ROOT + "<Ntry><NtryDtls>", "<a>1</a>"),
            (ROOT + "<Acct>", "<Id>7</Id>"),
            (ROOT + "<Ntry>", "<NtryDtls><TxDtls/></NtryDtls><b/>"),
            (ROOT + "<Ntry><AddtlNtryInf>", "x" * 1_000),
            (ROOT + "<Ntry>", f"<a>{'x' * 5_000}</a>"),
        ],
        ids=["children", "grandchildren", "account", "groups", "text", "texts"],
    )
    def test_of_one_part(self, beginning, pattern):
        codes, peak = codes_and_peak(Endless(beginning, pattern, 30 * MEBIBYTE))

        assert codes & {"xml_too_wide", "xml_malformed"}
        assert peak < 16 * MEBIBYTE

    def test_let_a_part_have_as_many_elements_as_it_may(self):
        own = f"<SplmtryData>{'<a/>' * (ELEMENTS_MAX - 100)}</SplmtryData>"
        content = changed(CAMT, ("</NtryDtls></Ntry>", f"</NtryDtls>{own}</Ntry>"))

        assert lines(content) == lines(CAMT)

    @pytest.mark.parametrize(
        ("beginning", "pattern"),
        [
            (ROOT, "<x/>"),
            (ROOT, "<Bal/>"),
            (ROOT, "<Ntry/>"),
            (f"<Document {NAMESPACE}><BkToCstmrStmt>", "<Stmt/>"),
            (f"<Document {NAMESPACE}><BkToCstmrStmt>", "<x>1</x>"),
            (f"<Document {NAMESPACE}>", "<x><y>1</y></x>"),
        ],
        ids=["parts", "balances", "entries", "statements", "messages", "documents"],
    )
    def test_of_memory_for_endless_parts(self, beginning, pattern):
        source = Endless(beginning, pattern, MEBIBYTE // 2)

        codes, peak = codes_and_peak(source)

        assert codes
        assert peak < 4 * MEBIBYTE  # what one chunk makes

    def test_of_the_size_of_a_file(self):
        source = Endless("01,1,2,261128,,1,,,2/\n", "\n", FILE_BYTES_MAX + 1)

        codes, peak = codes_and_peak(source)

        assert codes == {"file_too_large"}
        assert peak < 2 * MEBIBYTE

    def test_of_a_text(self):
        codes, peak = codes_and_peak(Endless(ROOT, "\n", FILE_BYTES_MAX))

        assert codes == {"xml_malformed"}  # by the parser: ten million characters
        assert peak < 4 * MEBIBYTE

    def test_of_a_record_without_an_end(self):
        source = Endless("01,", "x", FILE_BYTES_MAX)

        codes, peak = codes_and_peak(source)

        assert codes == {"record_long"}
        assert FILE_BYTES_MAX - source.left < 4 * CHUNK_BYTES
        assert peak < MEBIBYTE

    def test_of_payments_in_an_entry(self, monkeypatch):
        monkeypatch.setattr(entries, "DETAILS_MAX", 3)
        content = changed(CAMT, (DETAIL, DETAIL * 3), ("<NbOfTxs>2", "<NbOfTxs>4"))

        assert faults(content) == [(1, "too_many_details"), (1, "details_wrong")]

    def test_of_lines(self, monkeypatch):
        monkeypatch.setattr(reading, "LINES_MAX", 2)

        assert faults(BAI2) == [(7, "too_many_lines")]
        assert len(lines(BAI2)) == 2

    def test_let_a_file_have_as_many_lines_as_it_may(self, monkeypatch):
        monkeypatch.setattr(reading, "LINES_MAX", 3)

        assert faults(BAI2) == []

    def test_are_none_for_notes(self):
        count = FAULTS_MAX + 1
        line = "16,199,0,,,,\n"  # a code that nobody knows, and nothing by itself
        content = changed(
            BAI2,
            ("16,165,", line * count + "16,165,"),
            ("1450000,2", f"1450000,{2 + count}"),
            *((f",{old}/", f",{old + count}/") for old in (7, 9, 11)),
        )

        assert faults(content) == []
        assert len(lines(content)) == 3 + count

    def test_of_faults(self):
        content = changed(BAI2, ("16,165,", "16,165,x,,,,\n" * (2 * FAULTS_MAX) + "16,165,"))

        found = faults(content)
        assert len(found) == FAULTS_MAX + 1
        assert found[-1][1] == "too_many_faults"


class TestBytes:
    @given(st.binary(max_size=2_000))
    def test_at_random_have_a_fault_and_raise_nothing(self, data):
        assert faults(data)

    @given(st.binary(max_size=300), st.sampled_from(["01,", "<", "<?xml", ROOT]))
    def test_at_random_behind_a_right_beginning_have_a_fault(self, data, beginning):
        assert faults(beginning.encode() + data)

    @given(st.randoms(use_true_random=False), st.integers(1, 30), st.sampled_from([BAI2, CAMT]))
    def test_changed_in_a_right_file_raise_nothing(self, chance: random.Random, count, right):
        data = bytearray(right.encode())
        for _ in range(count):
            data[chance.randrange(len(data))] = chance.choice(b'\0\n\r ,/<>&"=0189AN\xff')

        events(bytes(data))

    @pytest.mark.parametrize("right", [BAI2, CAMT], ids=["BAI2", "camt"])
    def test_that_end_too_early_are_named_wherever(self, right):
        data = right.rstrip("\n").encode()
        step = 1 if right is BAI2 else 7
        last = len(data) - (1 if right is BAI2 else 0)  # the last slash may be left out

        for length in range(0, last, step):
            assert faults(data[:length]), length

    @given(st.integers(1, 3_000))
    def test_come_in_pieces_of_any_size(self, size):
        class Pieces:
            def __init__(self, data):
                self.data = data

            def read(self, _size):
                piece, self.data = self.data[:size], self.data[size:]
                return piece

        for right in (BAI2, CAMT):
            assert list(reading.read(Pieces(right.encode()))) == events(right)
