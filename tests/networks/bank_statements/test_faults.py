"""One thing wrong in a right file each, and exactly the faults that follow from it."""

from __future__ import annotations

import pytest

from networks.bank_statements.faults import SCOPES, SENTENCES, Fault, Scope
from networks.bank_statements.items import Line
from tests.networks.bank_statements.reading import BAI2, CAMT, changed, events, faults, notes, whole

STATUS = "<Sts><Cd>BOOK</Cd></Sts>"
ACCOUNT_ID = "<Id><Othr><Id>0123456789</Id></Othr></Id>"
TOTALS = (("49,13550000,", "49,{},"), ("98,13550000,", "98,{},"), ("99,13550000,", "99,{},"))


def bai2(*pairs, total=None):
    """The right file with texts replaced; `total` makes the control totals fit again."""
    totals = [(old, new.format(total)) for old, new in TOTALS] if total is not None else []
    return changed(BAI2, *pairs, *totals)


def camt(*pairs):
    return changed(CAMT, *pairs)


def twice(content, start, end):
    """The same with the part from `start` to `end` repeated."""
    first, last = content.index(start), content.index(end)
    return content[:last] + content[first:last] + content[last:]


# Name: the file, and the position and code of each fault.
FILES = {
    "empty": ("", [(0, "file_empty")]),
    "blank": (" \r\n", [(0, "file_empty")]),
    "another file": ("Dear bank", [(0, "format_unknown")]),
    "UTF-16": (CAMT.encode("utf-16"), [(0, "encoding_unsupported")]),
    "Latin-1 by name": (
        camt(("UTF-8", "ISO-8859-1")).encode("latin-1"),
        [(0, "encoding_unsupported")],
    ),
    "Latin-1 by mistake": (camt(("ACME", "ÁCME")).encode("latin-1"), [(0, "xml_malformed")]),
    "Latin-1 in BAI2": (bai2(("DEALER", "DÉALER")).encode("latin-1"), [(6, "characters")]),
    "control character": (bai2(("DEALER", "DEA\x07ER")), [(6, "characters")]),
}
BAI2_FILES = {
    "no file header": (bai2(("01,122099999,123456789,261128,0200,1,,,2/\n", "")),
                       [(1, "file_header_missing")]),
    "file header twice": (bai2(("02,031", "01,1,2,261128,,1,,,2/\n02,031")), [(2, "record_order")]),
    "creation date": (bai2((",261128,", ",260230,")), [(1, "file_header_invalid")]),
    "version": (bai2((",,,2/", ",,,3/")), [(1, "version_unsupported")]),
    "record type": (bai2(("16,165", "17,165")), [(6, "record_type_unknown")]),
    "continuation of nothing": ("88,1/\n" + BAI2, [(1, "file_header_missing")]),
    "group in an account": (bai2(("16,165", "02,,1,1,261127,,,2/\n16,165")), [(6, "record_order")]),
    "transaction outside": (bai2(("03,0123456789", "16,165,1/\n03,0123456789")),
                            [(3, "record_order")]),
    "account in an account": (bai2(("16,165", "03,7,,,,,/\n16,165")), [(6, "record_order")]),
    "account without trailer": (bai2(("49,13550000,7/\n", "")), [(9, "record_order")]),
    "group without trailer": (bai2(("98,13550000,1,9/\n", "")), [(10, "record_order")]),
    "no file trailer": (bai2(("99,13550000,1,11/\n", "")), [(10, "file_truncated")]),
    "something after the end": (BAI2 + "99,13550000,1,11/", [(12, "record_after_file_trailer")]),
    "trailer": (bai2(("49,13550000,7/", "49,13550000/")), [(9, "trailer_invalid")]),
    "group total": (bai2(("98,13550000", "98,1")), [(10, "group_total_wrong")]),
    "group accounts": (bai2((",1,9/", ",2,9/")), [(10, "group_accounts_wrong")]),
    "group records": (bai2((",1,9/", ",1,8/")), [(10, "group_records_wrong")]),
    "file total": (bai2(("99,13550000", "99,-13550000")), [(11, "file_total_wrong")]),
    "file groups": (bai2((",1,11/", ",3,11/")), [(11, "file_groups_wrong")]),
    "file records": (bai2((",1,11/", ",1,12/")), [(11, "file_records_wrong")]),
    "long record": (bai2(("DEALER", "X" * 20_000)), [(6, "record_long")]),
    "long continuations": (bai2(("88,AMOUNT", ("88," + "X" * 9_000 + "\n") * 8 + "88,AMOUNT")),
                           [(15, "record_long")]),
}  # fmt: skip
BAI2_STATEMENTS = {
    "no account": (bai2(("03,0123456789", "03,")), [(3, "account_missing")]),
    "as-of date": (bai2((",261127,", ",261131,")), [(3, "date_invalid")]),
    "no as-of date": (bai2((",261127,", ",,")), [(3, "date_invalid")]),
    "deletion": (bai2(("122099999,1,261127", "122099999,2,261127")),
                 [(3, "group_status_unsupported")]),
    "test": (bai2(("122099999,1,261127", "122099999,4,261127")),
             [(3, "group_status_unsupported")]),
    "currency of the account": (bai2((",USD,", ",EUR,")), [(3, "currency_unsupported")]),
    "currency of the group": (bai2((",USD,", ",,"), ("2359,,2/", "2359,CAD,2/")),
                              [(3, "currency_unsupported")]),
    "decimals of a balance": (bai2(("+4350000", "43500.00")), [(3, "amount_decimals")]),
    "three decimals": (bai2(("16,165,1000000", "16,165,1000.000")), [(6, "amount_decimals")]),
    "no amount": (bai2(("16,165,1000000", "16,165,")), [(6, "amount_missing")]),
    "amount": (bai2(("16,165,1000000", "16,165,1O00000")), [(6, "amount_invalid")]),
    "large amount": (bai2(("16,165,1000000", "16,165,1" + "0" * 15)), [(6, "amount_invalid")]),
    "signed amount": (bai2(("16,165,1000000", "16,165,-1000000"), total=11550000),
                      [(6, "amount_negative")]),
    "type code": (bai2(("16,165", "16,16")), [(6, "type_code_invalid")]),
    "type code of a balance": (bai2((",010,", ",10,")), [(3, "type_code_invalid")]),
    "amount without a type code": (bai2((",010,", ",,")), [(3, "type_code_invalid")]),
    "type code of a loan": (bai2(("16,165", "16,721")), [(6, "type_code_no_direction")]),
    "funds type": (bai2(("1000000,1,", "1000000,X,")), [(6, "funds_type_invalid")]),
    "value date": (bai2(("V,261130", "V,261131")), [(7, "date_invalid")]),
    "distributions": (bai2(("1000000,1,", "1000000,D,101,")), [(6, "funds_type_invalid")]),
    "item count": (bai2(("1450000,2,", "1450000,two,")), [(3, "account_header_invalid")]),
    "no opening": (bai2(("010,", "011,")), [(3, "opening_missing")]),
    "no closing": (bai2(("015,", "016,")), [(3, "closing_missing")]),
    "negative opening": (bai2(("+4350000", "-4350000"), ("5300000", "-3400000"), total=-3850000),
                         [(3, "opening_negative")]),
    "opening twice": (bai2(("88,100", "88,010,1,,,100"), total=13550001),
                      [(3, "balance_repeated")]),
    "a cent too many": (bai2(("16,165,1000000", "16,165,1000001"), total=13550001),
                        [(9, "credits_wrong"), (9, "balance_wrong")]),
    "closing": (bai2((",5300000", ",5300001"), total=13550001), [(9, "balance_wrong")]),
    "credits": (bai2(("1450000", "1450001"), total=13550001), [(9, "credits_wrong")]),
    "number of credits": (bai2(("1450000,2", "1450000,3")), [(9, "credit_count_wrong")]),
    "debits": (bai2((",500000,1", ",500001,1"), total=13550001), [(9, "debits_wrong")]),
    "number of debits": (bai2((",500000,1", ",500000,2")), [(9, "debit_count_wrong")]),
    "account total": (bai2(("49,13550000", "49,13550001")), [(9, "account_total_wrong")]),
    "account records": (bai2((",7/", ",8/")), [(9, "account_records_wrong")]),
    "long reference": (bai2(("DD1620", "D" * 77)), [(6, "reference_long")]),
    "the account twice": (
        changed(twice(BAI2, "03,", "98,"), ("98,13550000,1,9/", "98,27100000,2,16/"),
                ("99,13550000,1,11/", "99,27100000,1,18/")),
        [(10, "statement_repeated")],
    ),
}  # fmt: skip
CAMT_FILES = {
    "cut in an entry": (CAMT[: CAMT.index("<AcctSvcrRef>")], [(1, "file_truncated")]),
    "cut at the end": (CAMT[: CAMT.index("</Document>")], [(3, "file_truncated")]),
    "end of another element": (camt(("</Stmt>", "</Rpt>")), [(0, "xml_malformed")]),
    "a second document": (CAMT + "<a/>", [(0, "xml_malformed")]),
    "another message": (CAMT.replace("camt.053", "camt.056"), [(0, "message_unsupported")]),
    "a version to come": (CAMT.replace("001.08", "001.14"), [(0, "message_unsupported")]),
    "the first version": (CAMT.replace("001.08", "001.01"), [(0, "message_unsupported")]),
    "no namespace": (camt((' xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"', "")),
                     [(0, "message_unsupported")]),
    "namespace with more": (CAMT.replace("001.08", "001.08x"), [(0, "message_unsupported")]),
    "elements of another namespace": (CAMT.replace("<Stmt>", '<Stmt xmlns="urn:x">'),
                                      [(0, "message_empty")]),
    "another root": (CAMT.replace("Document", "Envelope"), [(0, "message_unsupported")]),
    "another message within": (CAMT.replace("BkToCstmrStmt", "BkToCstmrAcctRpt"),
                               [(0, "message_empty")]),
}  # fmt: skip
CAMT_STATEMENTS = {
    "no id": (camt(("<Id>S1</Id>", "")), [(0, "statement_id_missing")]),
    "no account": (camt((ACCOUNT_ID, "")), [(0, "account_missing")]),
    "currency": (CAMT.replace("USD", "EUR"), [(0, "currency_unsupported")]),
    "currency of a balance": (camt(('"USD">1000', '"EUR">1000')), [(0, "currency_differs")]),
    "currency of an entry": (camt(('"USD">100.00', '"EUR">100.00')), [(1, "currency_differs")]),
    "no currency": (camt((' Ccy="USD">100.00', ">100.00")), [(1, "currency_differs")]),
    "three decimals": (camt((">100.00<", ">100.000<")), [(1, "amount_decimals")]),
    "decimals of a balance": (camt((">1069.5<", ">1069.500<")), [(0, "amount_decimals")]),
    "no amount": (camt(('<Amt Ccy="USD">100.00</Amt>', "")), [(1, "amount_missing")]),
    "amount": (camt((">100.00<", ">1e2<")), [(1, "amount_invalid")]),
    "digits of another script": (camt((">100.00<", ">\N{ARABIC-INDIC DIGIT ONE}<")),
                                 [(1, "amount_invalid")]),
    "signed amount": (camt((">100.00<", ">-100.00<")), [(1, "amount_invalid")]),
    "amount twice": (camt((">100.00</Amt>", '>100.00</Amt><Amt Ccy="USD">1</Amt>')),
                     [(1, "amount_invalid")]),
    "direction": (camt((">100.00</Amt><CdtDbtInd>CRDT", ">100.00</Amt><CdtDbtInd>UP")),
                  [(1, "direction_invalid")]),
    "no status": (camt((STATUS, "")), [(1, "status_invalid")]),
    "pending entry": (camt((STATUS, STATUS.replace("BOOK", "PDNG"))), [(1, "entry_not_booked")]),
    "booking date": (camt(("<BookgDt><Dt>2026-11-27", "<BookgDt><Dt>2026-11-31")),
                     [(1, "date_invalid")]),
    "value date": (camt(("<ValDt><Dt>2026-11-30", "<ValDt><Dt>30.11.2026")),
                   [(1, "date_invalid")]),
    "date of a balance": (camt(("</CdtDbtInd><Dt><Dt>2026-11-27", "</CdtDbtInd><Dt><Dt>27")),
                          [(0, "date_invalid")]),
    "sequence": (camt((">17<", ">XVII<")), [(0, "number_invalid")]),
    "page to come": (camt(("<FrToDt>", "<StmtPgntn><PgNb>1</PgNb><LastPgInd>false</LastPgInd>"
                           "</StmtPgntn><FrToDt>")), [(0, "pages_unsupported")]),
    "no opening": (camt(("OPBD", "OPAV")), [(0, "opening_missing")]),
    "no closing": (camt(("CLBD", "CLAV")), [(0, "closing_missing")]),
    "interim closing": (camt(("CLBD", "ITBD")), [(0, "closing_missing")]),
    "negative opening": (camt((">CRDT<", ">DBIT<"), (">1069.5<", ">930.5<"), (">CRDT<", ">DBIT<")),
                         [(0, "opening_negative")]),
    "opening twice": (twice(CAMT, "<Bal>", "<Bal><Tp><CdOrPrtry><Cd>CLBD").replace(
        ">1000.00<", ">1000.01<", 1), [(0, "balance_repeated")]),
    "closing": (camt((">1069.5<", ">1069.51<")), [(3, "balance_wrong")]),
    "all entries": (camt((">130.50<", ">130.5</Sum><Sum>0<")), [(0, "amount_invalid")]),
    "sum of all": (camt((">130.50<", ">130.51<")), [(3, "entries_wrong")]),
    "number of all": (camt(("<NbOfNtries>3", "<NbOfNtries>4")), [(3, "entry_count_wrong")]),
    "credits": (camt(("<Sum>100<", "<Sum>99<")), [(3, "credits_wrong")]),
    "number of credits": (camt(("<NbOfNtries>1", "<NbOfNtries>0")), [(3, "credit_count_wrong")]),
    "debits": (camt(("<Sum>30.50<", "<Sum>30.5<"), ("<Sum>30.5<", "<Sum>30.4<")),
               [(3, "debits_wrong")]),
    "number of debits": (camt(("<NbOfNtries>2", "<NbOfNtries>9")), [(3, "debit_count_wrong")]),
    "payments": (camt((">60.00<", ">60.01<")), [(1, "details_wrong")]),
    "number of payments": (camt(("<NbOfTxs>2", "<NbOfTxs>3")), [(1, "detail_count_wrong")]),
    "long reference": (camt((">E3<", f">{'E' * 77}<")), [(2, "reference_long")]),
    "the statement twice": (twice(CAMT, "<Stmt>", "</BkToCstmrStmt>"),
                            [(3, "statement_repeated")]),
}  # fmt: skip
OF_FILES = FILES | BAI2_FILES | CAMT_FILES
OF_STATEMENTS = {f"BAI2: {name}": case for name, case in BAI2_STATEMENTS.items()} | {
    f"camt: {name}": case for name, case in CAMT_STATEMENTS.items()
}


@pytest.mark.parametrize("name", [f"BAI2: {name}" for name in BAI2_FILES])
def test_a_fault_of_a_bai2_file_is_named(name):
    content, found = BAI2_FILES[name.removeprefix("BAI2: ")]

    assert faults(content) == found


@pytest.mark.parametrize("name", list(CAMT_FILES))
def test_a_fault_of_a_message_is_named(name):
    content, found = CAMT_FILES[name]

    assert faults(content) == found


@pytest.mark.parametrize("name", list(FILES))
def test_a_file_that_is_no_statement_is_named(name):
    content, found = FILES[name]

    assert faults(content) == found


@pytest.mark.parametrize("name", list(OF_STATEMENTS))
def test_a_fault_of_a_statement_is_named_and_sets_it_aside(name):
    content, found = OF_STATEMENTS[name]

    assert faults(content) == found
    file = whole(content)
    assert file.is_usable
    bad = [each for each in file.statements if each.faults and not each.is_usable]
    assert bad or not file.statements


class TestNotes:
    @pytest.mark.parametrize(
        ("content", "found"),
        [
            (camt(("<FrToDt>", "<CpyDplctInd>DUPL</CpyDplctInd><FrToDt>")), [(0, "copy")]),
            (camt((">RETURN<", f">{'R' * 1_001}<")), [(2, "text_cut")]),
            (bai2(("DEALER", "D" * 1_001)), [(6, "text_cut")]),
        ],
        ids=["copy", "text of an entry", "text of a transaction"],
    )
    def test_take_nothing_away(self, content, found):
        assert notes(content) == found
        assert faults(content) == []
        assert len([event for event in events(content) if isinstance(event, Line)]) == 3

    def test_say_that_the_account_is_overdrawn_at_the_end(self):
        content = bai2(
            ("16,557,500000", "16,557,6000000"),
            ("015,5300000", "015,-200000"),
            (",400,500000", ",400,6000000"),
            total=19050000,
        )

        assert notes(content) == [(3, "closing_negative")]
        assert faults(content) == []

    def test_say_that_a_line_is_there_twice(self):
        line = "16,165,1000000,1,DD1620,CUST-7,DEALER PAYMENTS, INC.\n"
        content = bai2(
            (line, line + line),
            ("015,5300000", "015,6300000"),
            ("1450000,2", "2450000,3"),
            (",7/", ",8/"), (",1,9/", ",1,10/"), (",1,11/", ",1,12/"),
            total=16550000,
        )  # fmt: skip

        assert notes(content) == [(7, "line_repeated")]
        assert faults(content) == []
        first, second = whole(content).statements[0].lines[1:3]
        assert first.id != second.id
        assert first.id == whole(BAI2).statements[0].lines[1].id


class TestScopes:
    def test_another_account_of_the_file_is_read_all_the_same(self):
        other = BAI2[BAI2.index("03,") : BAI2.index("98,")]
        content = changed(
            BAI2,
            ("98,13550000,1,9/", other.replace("0123456789,USD", "555,EUR") + "98,27100000,2,16/"),
            ("99,13550000,1,11/", "99,27100000,1,18/"),
        )
        file = whole(content)

        assert faults(content) == [(10, "currency_unsupported")]
        assert [each.heading.number for each in file.statements] == [1]
        assert file.statements[0].is_usable
        assert [fault.statement for fault in file.faults] == [2]
        assert file.is_usable

    @pytest.mark.parametrize("name", list(OF_FILES))
    def test_a_fault_of_the_file_sets_it_aside_whole(self, name):
        assert not whole(OF_FILES[name][0]).is_usable

    def test_every_fault_is_tried_and_says_what_to_do(self):
        tried = [case for cases in (OF_FILES, OF_STATEMENTS) for case in cases.values()]
        codes = {code for _, found in tried for _, code in found}
        hostile = {
            *("file_too_large", "too_many_faults", "too_many_lines", "too_many_details"),
            *("doctype_refused", "xml_too_deep", "xml_too_wide"),
        }  # test_hostile.py
        bent = {"code_long", "dates_reversed", "part_misplaced"}  # test_bent_camt.py

        of_notes = {code for code in SENTENCES if SCOPES[code] is Scope.NOTE}
        assert codes | hostile | bent == set(SENTENCES) - of_notes
        assert all(sentence.endswith(".") for sentence in SENTENCES.values())
        assert all(": " in SENTENCES[code] for code in codes)

    def test_details_hold_no_account_and_no_name(self):
        for content, _ in [*OF_FILES.values(), *OF_STATEMENTS.values()]:
            details = [event.detail for event in events(content) if isinstance(event, Fault)]
            assert "0123456789" not in " ".join(details)
            assert "JANE" not in " ".join(details)
