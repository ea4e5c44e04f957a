"""Messages of camt.052, camt.053 and camt.054, read into headings and lines."""

from __future__ import annotations

from datetime import date

import pytest

from networks.bank_statements.items import Account, LineKind, Purpose, References
from tests.networks.bank_statements.reading import (
    CAMT,
    changed,
    faults,
    headings,
    lines,
    notes,
    only,
)

BANK = "<ClrSysMmbId><MmbId>122099999</MmbId></ClrSysMmbId>"
REPORT = (
    CAMT.replace("camt.053", "camt.052")
    .replace("BkToCstmrStmt", "BkToCstmrAcctRpt")
    .replace("Stmt>", "Rpt>")
)
NOTIFICATION = (
    CAMT.replace("camt.053", "camt.054")
    .replace("BkToCstmrStmt", "BkToCstmrDbtCdtNtfctn")
    .replace("Stmt>", "Ntfctn>")
)


class TestRight:
    def test_has_a_heading(self):
        heading = only(CAMT).heading

        assert heading.account == Account(number="0123456789", bank="122099999")
        assert (heading.format, heading.purpose) == ("camt.053.001.08", Purpose.STATEMENT)
        assert (heading.file_id, heading.id) == ("M1", "S1")
        assert (heading.sequence, heading.legal_sequence) == (17, 12)
        assert (heading.from_date, heading.to_date) == (date(2026, 11, 27), date(2026, 11, 27))
        assert (heading.opening, heading.closing) == (1_000_00, 1_069_50)

    def test_has_lines(self):
        found = lines(CAMT)

        assert [(line.position, line.amount, line.kind, line.type_code) for line in found] == [
            (1, 100_00, LineKind.BATCH, "PMNT/IDDT/PMDD"),
            (2, -30_00, LineKind.RETURN, "PMNT/IDDT/UPDD"),
            (3, -50, LineKind.FEE, "698"),
        ]
        assert [line.value_date for line in found] == [date(2026, 11, 30), None, None]
        assert {line.booked_date for line in found} == {date(2026, 11, 27)}
        assert [line.is_reversal for line in found] == [False, True, False]

    def test_names_the_payments_of_a_batch(self):
        batch = lines(CAMT)[0]

        assert batch.references == References(bank="A1", file="FILE7", batch="F7B1")
        assert [(each.amount, each.references.end_to_end) for each in batch.details] == [
            (60_00, "E1"),
            (40_00, "E2"),
        ]
        assert (batch.details[1].party, batch.details[1].text) == ("ACME", "INVOICE 7 THANK YOU")

    def test_says_of_a_single_payment_in_the_line_what_it_says(self):
        returned = lines(CAMT)[1]

        assert returned.references == References(
            end_to_end="E3", transaction="T3", trace="021000020000001"
        )
        assert (returned.return_code, returned.text, returned.details) == ("R01", "RETURN", ())

    def test_has_nothing_to_say_against_it(self):
        assert faults(CAMT) == notes(CAMT) == []


class TestMessages:
    @pytest.mark.parametrize(
        ("content", "purpose"), [(REPORT, "report"), (NOTIFICATION, "notification")]
    )
    def test_of_other_kinds_say_the_same(self, content, purpose):
        assert only(content).heading.purpose == purpose
        assert lines(content) == lines(CAMT)

    @pytest.mark.parametrize("version", ["02", "03", "04", "05", "06", "07", "08", "09", "13"])
    def test_of_a_known_version_are_read(self, version):
        content = CAMT.replace("053.001.08", f"053.001.{version}")

        assert lines(content) == lines(CAMT)
        assert only(content).heading.format == f"camt.053.001.{version}"

    def test_of_older_versions_have_status_and_party_without_a_choice(self):
        content = CAMT.replace("<Sts><Cd>BOOK</Cd></Sts>", "<Sts>BOOK</Sts>")
        content = content.replace("<Pty><Nm>ACME</Nm></Pty>", "<Nm>ACME</Nm>")

        assert lines(content) == lines(CAMT)

    @pytest.mark.parametrize(
        "bank", [BANK, "<BICFI>122099999</BICFI>", "<BIC>122099999</BIC>",
                 "<Othr><Id>122099999</Id></Othr>"],
    )  # fmt: skip
    def test_name_the_bank_in_several_ways(self, bank):
        assert only(changed(CAMT, (BANK, bank))).heading.account.bank == "122099999"

    def test_may_have_a_prefix_for_their_namespace(self):
        content = CAMT.replace("xmlns=", "xmlns:c=").replace("<", "<c:").replace("<c:/", "</c:")

        assert lines(content.replace("<c:?", "<?")) == lines(CAMT)

    def test_hold_several_statements(self):
        start, end = CAMT.index("<Stmt>"), CAMT.index("</BkToCstmrStmt>")
        other = CAMT[start:end].replace("<Id>S1</Id>", "<Id>S2</Id>").replace("0123456789", "777")
        content = CAMT[:end] + other + CAMT[end:]

        assert [line.statement for line in lines(content)] == [1, 1, 1, 2, 2, 2]
        assert [line.position for line in lines(content)] == [1, 2, 3, 4, 5, 6]
        assert len({line.id for line in lines(content)}) == 6
        assert faults(content) == []

    def test_without_entries_are_statements_too(self):
        start, end = CAMT.index("<TxsSummry>"), CAMT.index("</Stmt>")
        content = changed(CAMT[:start] + CAMT[end:], (">1069.5<", ">1000.00<"))

        assert only(content).lines == ()
        assert faults(content) == []


class TestBalances:
    def test_take_the_closing_before_for_an_opening(self):
        assert only(changed(CAMT, ("OPBD", "PRCD"))).heading.opening == 1_000_00

    def test_of_a_report_go_as_far_as_it_goes(self):
        assert only(changed(REPORT, ("CLBD", "ITBD"))).heading.closing == 1_069_50

    def test_of_a_report_are_not_proven(self):
        assert faults(changed(REPORT, (">1069.5<", ">1069.51<"))) == []

    def test_that_are_negative_have_a_sign(self):
        content = changed(REPORT, (">CRDT<", ">DBIT<"))

        assert headings(content)[0].opening == -1_000_00

    def test_of_funds_that_are_available_are_not_read(self):
        assert faults(changed(REPORT, ("CLBD", "CLAV"))) == []


class TestEntries:
    def test_that_are_pending_do_not_count(self):
        content = changed(REPORT, ("<Sts><Cd>BOOK</Cd></Sts>", "<Sts><Cd>PDNG</Cd></Sts>"))

        assert [line.is_booked for line in only(content).lines] == [False, True, True]

    def test_that_reverse_another_one_are_reversals(self):
        content = changed(
            CAMT, ("<SubFmlyCd>UPDD", "<SubFmlyCd>PMDD"), ("<Rsn><Cd>R01</Cd></Rsn>", "")
        )

        assert lines(content)[1].kind is LineKind.REVERSAL
        assert lines(content)[1].amount == -30_00

    def test_without_a_known_code_are_kept_and_noted(self):
        content = changed(CAMT, ("<Domn><Cd>PMNT", "<Domn><Cd>XTND"))

        assert lines(content)[0].kind is LineKind.UNKNOWN
        assert notes(content) == [(1, "type_code_unknown")]

    def test_that_add_up_payments_in_another_currency_are_not_proven(self):
        content = changed(CAMT, ('"USD">60.00', '"EUR">55.00'))

        assert [each.amount for each in lines(content)[0].details] == [None, 40_00]
        assert faults(content) == []

    def test_of_which_a_payment_has_a_direction_of_its_own_take_it(self):
        content = changed(
            CAMT,
            ('"USD">60.00</Amt>', '"USD">120.00</Amt>'),
            ('"USD">40.00</Amt>', '"USD">20.00</Amt><CdtDbtInd>DBIT</CdtDbtInd>'),
        )

        assert [each.amount for each in lines(content)[0].details] == [120_00, -20_00]
        assert faults(content) == []

    def test_without_a_reference_say_so_in_words_of_the_standard(self):
        content = changed(CAMT, ("<EndToEndId>E3<", "<EndToEndId>NOTPROVIDED<"))

        assert lines(content)[1].references.end_to_end == ""

    @pytest.mark.parametrize("way", ["NtryDtls per payment", "elements of others"])
    def test_are_read_however_their_details_are_grouped(self, way):
        if way == "NtryDtls per payment":
            content = changed(
                CAMT, ("</TxDtls>\n<TxDtls>", "</TxDtls></NtryDtls>\n<NtryDtls><TxDtls>"),
                ("<NbOfTxs>2", "<NbOfTxs>1"),
            )  # fmt: skip
        else:
            own = '<SplmtryData><x:A xmlns:x="urn:x"><x:Amt>7</x:Amt></x:A></SplmtryData>'
            content = changed(CAMT, ("</NtryDtls></Ntry>", f"</NtryDtls>{own}</Ntry>"))

        assert lines(content) == lines(CAMT)
        assert faults(content) == []
