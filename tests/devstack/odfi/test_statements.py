"""The two statements of a day agree with the bank's books, and with themselves."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from devstack.odfi import client
from tests.devstack.odfi.paper import Batch, Entry, File

CAMT = "{urn:iso:std:iso:20022:tech:xsd:camt.053.001.08}"


@pytest.fixture(scope="module")
def months(shared):
    """Four days: two files settle, a return, a credit from outside, and a day without anything."""
    debits = Batch([Entry("555", 1_000), Entry("10001", 2_000)])
    credits = Batch([Entry("555", 4_000, "22")], service_class="220")
    shared.send(File([debits, credits]).bytes())
    shared.go_to("2035-12-04 09:00")
    shared.ask("credit", amount=77, company="A/B, INC")
    shared.go_to("2035-12-07 07:00")
    return shared.fetch("statements")


def fields(records):
    return [record.removesuffix("/").split(",") for record in records]


class TestBoth:
    def test_come_once_for_each_banking_day(self, months):
        assert list(months) == [
            *(f"bai2_2035120{day}.txt" for day in (3, 4, 5, 6)),
            *(f"camt053_2035120{day}.xml" for day in (3, 4, 5, 6)),
        ]

    def test_come_for_weekends_and_holidays_not(self, bank):
        bank.go_to("2035-12-27 12:00")

        days = [name[5:13] for name in bank.names("statements") if name.startswith("bai2")]
        assert len(days) == 17
        assert not {"20351208", "20351209", "20351225"} & set(days)


class TestBai2:
    def test_says_what_was_posted(self, months):
        records = months["bai2_20351204.txt"].decode().splitlines()
        made = records[5].split(",")[5].partition("-")[0]

        assert re.fullmatch(r"351203\d{4}A", made)
        assert records == [
            "01,124000313,1987654321,351205,0600,2,,,2/",
            "02,1987654321,124000313,1,351204,2359,USD,2/",
            "03,4000123456,USD,010,100000000,,,015,99999077,,/",
            "88,040,100000000,,,045,99999077,,/",
            "88,100,3077,2,,400,4000,1,/",
            f"16,166,3000,0,1,{made}-0000001,BALLAST TOPUP",
            f"16,466,4000,0,2,{made}-0000002,BALLAST TOPUP",
            "16,142,77,0,3,211000010000002,A B  INC",
            "49,400012308,7/",
            "98,400012308,1,9/",
            "99,400012308,1,11/",
        ]

    def test_names_the_return(self, months):
        records = months["bai2_20351205.txt"].decode().splitlines()

        (detail,) = [record for record in records if record.startswith("16,")]
        assert detail.startswith("16,557,2000,0,4,021000020000001,R01 JANE DOE 1240003100")

    def test_adds_up_and_hands_its_balance_on(self, months):
        opening = 100_000_000
        for name, content in months.items():
            if name.startswith("bai2"):
                opening = self.judged(fields(content.decode().splitlines()), opening)
        assert opening == 99_997_077

    def judged(self, records, opening):
        """Check one file with nothing but the rules of the format; gives the closing balance."""
        by_code: dict[str, list[list[str]]] = {}
        for record in records:
            by_code.setdefault(record[0], []).append(record)
        ((_, _, _, _, first, _, _, _, last, *_),) = by_code["03"]
        (_, (_, _, credit, credits, _, _, debit, debits, *_)) = by_code["88"]
        details = [(each[1], int(each[2])) for each in by_code.get("16", [])]
        ins = [amount for code, amount in details if code < "400"]
        outs = [amount for code, amount in details if code >= "400"]
        assert int(first) == opening
        assert opening + sum(ins) - sum(outs) == int(last)
        assert (int(credit), int(credits)) == (sum(ins), len(ins))
        assert (int(debit), int(debits)) == (sum(outs), len(outs))
        total = 2 * (int(first) + int(last)) + int(credit) + int(debit) + sum(ins) + sum(outs)
        assert [by_code[code][0][1] for code in ("49", "98", "99")] == [str(total)] * 3
        account = 3 + len(details) + 1
        counts = [int(by_code[code][0][-1]) for code in ("49", "98", "99")]
        assert counts == [account, account + 2, account + 4]
        assert len(records) == account + 4
        return int(last)


class TestCamt053:
    def amount(self, element):
        sign = 1 if element.findtext(f"{CAMT}CdtDbtInd") == "CRDT" else -1
        text = element.findtext(f"{CAMT}Amt")
        assert element.find(f"{CAMT}Amt").get("Ccy") == "USD"
        return sign * int(text.replace(".", ""))

    def test_says_the_same(self, months):
        opening = 100_000_000
        for name, content in months.items():
            if name.startswith("camt"):
                statement = ElementTree.fromstring(content)[0][1]
                first, last, available = map(self.amount, statement.findall(f"{CAMT}Bal"))
                entries = [self.amount(each) for each in statement.findall(f"{CAMT}Ntry")]
                assert (first, last) == (opening, opening + sum(entries))
                assert available == last
                opening = last
        assert opening == 99_997_077

    def test_names_the_return(self, months):
        (entry,) = ElementTree.fromstring(months["camt053_20351205.xml"]).iter(f"{CAMT}Ntry")

        assert self.amount(entry) == -2_000
        assert entry.findtext(f".//{CAMT}RtrInf/{CAMT}Rsn/{CAMT}Prtry") == "R01"
        assert entry.findtext(f".//{CAMT}EndToEndId") == "021000020000001"
        assert entry.findtext(f".//{CAMT}SubFmlyCd") == "UPDD"
        assert entry.findtext(f"{CAMT}BookgDt/{CAMT}Dt") == "2035-12-05"


class TestTheAccount:
    def test_is_charged_fees(self, bank):
        bank.ask("charge", amount=1_250, text="MONTHLY FEE")
        bank.go_to("2035-12-04 07:00")

        bai2 = bank.read("statements", "bai2_20351203.txt").decode()
        assert "16,698,1250,0,1,,MONTHLY FEE\n" in bai2
        camt = ElementTree.fromstring(bank.read("statements", "camt053_20351203.xml"))
        assert [code.text for code in camt.iter(f"{CAMT}SubFmlyCd")] == ["CHRG"]
        assert bank.balance == 100_000_000 - 1_250

    def test_is_charged_no_fee_of_nothing(self, bank):
        with pytest.raises(client.ControlError, match="a fee of 0 cents is none"):
            bank.ask("charge", amount=0)

    def test_has_the_offset_of_a_balanced_file(self, bank):
        debit = Entry("555", 3_000)
        offset = Entry("4000123456", 3_000, "22", rdfi="124000313")
        found = bank.send(File([Batch([debit, offset], service_class="200")]).bytes())
        bank.days(2)

        postings = bank.ask("postings")
        assert found[0]["verdict"] == "accepted"
        assert [(each["kind"], each["amount"]) for each in postings] == [("offset", 3_000)]
        assert bank.balance == 100_003_000

    def test_may_be_overdrawn(self, bank):
        bank.ask("terms", opening_balance=100)
        bank.send(File([Batch([Entry("1", 300, "22")], service_class="220")]).bytes())
        bank.go_to("2035-12-05 07:00")

        content = bank.read("statements", "bai2_20351204.txt").decode()
        assert ",010,100,,,015,-200,," in content
        camt = ElementTree.fromstring(bank.read("statements", "camt053_20351204.xml"))
        assert [self.sign(each) for each in camt.iter(f"{CAMT}Bal")] == ["CRDT", "DBIT", "DBIT"]

    def sign(self, balance):
        return balance.findtext(f"{CAMT}CdtDbtInd")

    def test_agrees_with_the_book_to_the_cent(self, bank):
        accounts = ["555", "10001", "13002", "12003", "20010", "71000", "30001", "60001"]
        entries = [Entry(account, 100 + n) for n, account in enumerate(accounts)]
        bank.send(File([Batch(entries), Batch([Entry("9", 5)], company="")]).bytes())
        bank.days(60)

        book = bank.ask("book", limit=3)
        found = book["entries"]
        while book["next"]:
            book = bank.ask("book", after=book["next"], limit=3)
            found += book["entries"]
        moved = sum(each["effect"] + sum(a["effect"] for a in each["answers"]) for each in found)
        assert len(found) == 9
        assert bank.balance == 100_000_000 + moved
        assert bank.ask("postings")[-1]["balance"] == bank.balance


class TestSums:
    """What is agreed of the sums that settle, and of what they name."""

    @pytest.fixture
    def settled(self, bank):
        def settled(**terms):
            bank.ask("terms", **terms)
            debits = Batch([Entry("555", 1_000), Entry("556", 2_000)])
            credits = Batch([Entry("555", 4_000, "22")], service_class="220")
            bank.send(File([debits, credits]).bytes())
            bank.days(2)
            return [(each["amount"], each["reference"][10:]) for each in bank.ask("postings")]

        return settled

    @pytest.mark.parametrize(
        ("terms", "postings"),
        [
            ({}, [(3_000, "A-0000001"), (-4_000, "A-0000002")]),
            ({"quotes": "file"}, [(3_000, "A"), (-4_000, "A")]),
            ({"quotes": "nothing"}, [(3_000, ""), (-4_000, "")]),
            ({"totals": "file"}, [(-1_000, "A")]),
            ({"totals": "file", "gross": True}, [(3_000, "A"), (-4_000, "A")]),
        ],
        ids=["batches", "batches of files", "no names", "files", "files both ways"],
    )
    def test_are_as_agreed(self, settled, terms, postings):
        assert settled(**terms) == postings

    def test_are_named_in_both_formats(self, bank, settled):
        settled()
        content = bank.read("statements", "camt053_20351204.xml")

        (first, _) = ElementTree.fromstring(content).iter(f"{CAMT}Refs")
        file = first.findtext(f"{CAMT}MsgId", "")
        assert re.fullmatch("351203[0-9]{4}[A-Z]", file)
        assert first.findtext(f"{CAMT}PmtInfId") == f"{file}-0000001"

    def test_without_names_say_so(self, bank, settled):
        settled(quotes="nothing")
        content = bank.read("statements", "camt053_20351204.xml")

        found = [each.text for each in ElementTree.fromstring(content).iter(f"{CAMT}EndToEndId")]
        assert found == ["NOTPROVIDED", "NOTPROVIDED"]

    def test_that_nobody_knows_are_refused(self, bank):
        with pytest.raises(client.ControlError, match="totals takes batch, file, not 'day'"):
            bank.ask("terms", totals="day")
