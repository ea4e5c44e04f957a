"""Messages that are wrong in one place: each has a named fault, and the place is named."""

from __future__ import annotations

import pytest

from networks.instant.iso.faults import SENTENCES, Unreadable
from networks.instant.iso.profiles import FEDNOW, PROFILES, RTP
from networks.instant.iso.reader import read
from tests.networks.instant.iso.bending import bent, marked, says, twice, without
from tests.networks.instant.iso.messages import came, message, written

AMOUNT = "IntrBkSttlmAmt"

# The network, the message, the bend, the fault and its element.
BENT = [
    ("rtp", "pacs.008", says(AMOUNT, "1.005"), "amount_decimals", AMOUNT),
    ("fednow", "pacs.008", says(AMOUNT, "1.000"), "amount_decimals", AMOUNT),
    ("rtp", "pacs.008", says(AMOUNT, "NaN"), "amount_malformed", AMOUNT),
    ("rtp", "pacs.008", says(AMOUNT, "INF"), "amount_malformed", AMOUNT),
    ("rtp", "pacs.008", says(AMOUNT, "1e3"), "amount_malformed", AMOUNT),
    ("rtp", "pacs.008", says(AMOUNT, "-1.00"), "amount_malformed", AMOUNT),
    ("rtp", "pacs.008", says(AMOUNT, "0.00"), "amount_malformed", AMOUNT),
    ("rtp", "pacs.008", says(AMOUNT, "+1.00"), "amount_malformed", AMOUNT),
    ("rtp", "pacs.008", says(AMOUNT, "1,000.00"), "amount_malformed", AMOUNT),
    ("rtp", "pacs.008", says(AMOUNT, "1000000000000.00"), "amount_malformed", AMOUNT),
    ("rtp", "pacs.008", says(AMOUNT, ""), "amount_malformed", AMOUNT),
    ("rtp", "pacs.008", says(AMOUNT, "\N{ARABIC-INDIC DIGIT ONE}"), "amount_malformed", AMOUNT),
    ("rtp", "pacs.008", marked(AMOUNT, "Ccy", "EUR"), "currency_unsupported", AMOUNT),
    ("fednow", "pacs.004", marked("RtrdIntrBkSttlmAmt", "Ccy", "usd"), "currency_unsupported",
     "RtrdIntrBkSttlmAmt"),
    ("rtp", "pacs.008", marked(AMOUNT, "Ccy", None), "currency_unsupported", AMOUNT),
    ("rtp", "pacs.008", says("TtlIntrBkSttlmAmt", "9999999.99"), "amounts_differ",
     "GrpHdr/TtlIntrBkSttlmAmt"),
    ("rtp", "pacs.008", says("EndToEndId", "E" * 36), "value_too_long", "EndToEndId"),
    ("fednow", "pacs.008", says("MsgId", "M" * 36), "value_too_long", "MsgId"),
    ("rtp", "pacs.008", says("EndToEndId", ""), "value_malformed", "EndToEndId"),
    ("rtp", "pacs.008", says("Nm", "N" * 141), "value_too_long", "Nm"),
    ("rtp", "pacs.008", without("EndToEndId"), "element_unexpected", "TxId"),
    ("rtp", "pacs.008", without("TxId"), "element_missing", "PmtId"),
    ("rtp", "pacs.008", without("CdtrAcct"), "element_unexpected", "RmtInf"),
    ("rtp", "pacs.008", twice("EndToEndId"), "element_unexpected", "EndToEndId"),
    ("rtp", "pacs.008", twice("CdtTrfTxInf"), "element_unexpected", "CdtTrfTxInf"),
    ("rtp", "pacs.008", says("NbOfTxs", "2"), "value_unknown", "NbOfTxs"),
    ("rtp", "pacs.008", says("Cd", "FDN"), "value_unknown", "Cd"),
    ("rtp", "pacs.008", says("MmbId", "12345678", number=2), "value_malformed", "MmbId"),
    ("rtp", "pacs.008", says("CreDtTm", "2026-11-28T21:00:00-05:00"), "moment_malformed",
     "CreDtTm"),
    ("rtp", "pacs.008", says("CreDtTm", "2027-03-14T02:30:00"), "moment_malformed",
     "GrpHdr/CreDtTm"),
    ("fednow", "pacs.008", says("CreDtTm", "2026-11-28T21:00:00"), "moment_malformed", "CreDtTm"),
    ("fednow", "pacs.008", says("IntrBkSttlmDt", "2026-02-30"), "moment_malformed",
     "IntrBkSttlmDt"),
    ("fednow", "pacs.008", says("IntrBkSttlmDt", "28.11.2026"), "moment_malformed",
     "IntrBkSttlmDt"),
    ("fednow", "pacs.008", says("UETR", "8a562c67ca1648bab07465581be6f011"), "value_malformed",
     "UETR"),
    ("rtp", "pacs.002", says("TxSts", "ACSC"), "value_unknown", "TxSts"),
    ("fednow", "pacs.002", says("TxSts", "ACCP"), "value_unknown", "TxSts"),
    ("rtp", "pain.014", says("TxSts", "PRES"), "value_unknown", "TxSts"),
    ("fednow", "camt.029", says("Conf", "MAYB"), "value_unknown", "Conf"),
    ("rtp", "pacs.002", says("BizMsgIdr", "B" * 36), "value_too_long", "BizMsgIdr"),
    ("rtp", "pacs.002", says("MmbId", "123456780"), "value_malformed", "MmbId"),
    ("rtp", "pacs.002", says("MsgDefIdr", "pacs.008.001.08"), "header_mismatch", "MsgDefIdr"),
    ("fednow", "pacs.002", without("BizMsgIdr"), "element_unexpected", "MsgDefIdr"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "kind", "bend", "fault", "element"),
    BENT,
    ids=[f"{number:02}-{row[1]}-{row[3]}" for number, row in enumerate(BENT)],
)
def test_one_wrong_place_has_a_named_fault(name, kind, bend, fault, element):
    profile = PROFILES[name]
    content = written(message(kind, profile), profile)

    with pytest.raises(Unreadable) as found:
        read(bent(content, bend), profile)

    assert (found.value.fault, found.value.where) == (fault, element)
    assert str(found.value).startswith(SENTENCES[fault])


class TestNamespacesAndEnvelopes:
    @pytest.mark.parametrize(
        ("old", "new", "fault"),
        [
            (b"pacs.008.001.08", b"pacs.008.001.06", "version_unsupported"),
            (b"pacs.008.001.08", b"pacs.008.001.09", "version_unsupported"),
            (b"pacs.008.001.08", b"pacs.009.001.08", "message_unsupported"),
            (b"pacs.008.001.08", b"", "message_unsupported"),
            (b"iso:20022:tech", b"iso:20023:tech", "message_unsupported"),
            (b"urn:tch", b"urn:tch2", "envelope_unknown"),
            (b"CreditTransfer>", b"DebitTransfer>", "envelope_unknown"),
            (b"head.001.001.01", b"head.001.001.02", "element_unexpected"),
            (b"AppHdr>", b"AppHeader>", "envelope_unknown"),
        ],
    )
    def test_of_rtp(self, old, new, fault):
        content = written(message("pacs.008", RTP), RTP)

        assert _fault(content.replace(old, new), RTP) == fault

    @pytest.mark.parametrize(
        ("old", "new", "fault"),
        [
            (b"pacs.008.001.08", b"pacs.008.001.07", "version_unsupported"),
            (b"head.001.001.02", b"head.001.001.01", "envelope_unknown"),
            (b"Incoming", b"Sideways", "envelope_unknown"),
            (b"FedNowCustomerCreditTransfer", b"FedNowPaymentStatus", "envelope_unknown"),
            (b"Document", b"Documents", "envelope_unknown"),
        ],
    )
    def test_of_fednow(self, old, new, fault):
        content = written(message("pacs.008", FEDNOW), FEDNOW)

        assert _fault(content.replace(old, new), FEDNOW) == fault

    def test_a_mark_that_is_none(self):
        content = written(message("pacs.008", FEDNOW), FEDNOW)
        marked_ = content.replace(b"</CreDt>", b"</CreDt><CpyDplct>MAYB</CpyDplct>")

        assert _fault(marked_, FEDNOW) == "value_unknown"

    def test_two_messages_in_one_envelope(self):
        content = written(message("pacs.008", RTP), RTP)
        body = content[content.index(b"<CreditTransfer>") : content.index(b"</Message>")]

        assert _fault(content.replace(body, body + body), RTP) == "envelope_unknown"

    def test_a_message_of_fednow_may_come_either_way(self):
        sent = message("pacs.008", FEDNOW)
        content = written(sent, FEDNOW)
        other = content.replace(b"Incoming", b"Outgoing").replace(b"incoming", b"outgoing")

        assert came(other, FEDNOW) == sent


class TestWhatIsPassedOver:
    def test_addresses_signatures_and_a_technical_header(self):
        sent = message("pacs.008", FEDNOW)
        content = written(sent, FEDNOW)
        more = (
            content.replace(b"</CreDt>", b"</CreDt><Sgntr><X xmlns='urn:x'>1</X></Sgntr>")
            .replace(b"Co</Nm>", b"Co</Nm><PstlAdr><TwnNm>Lisle</TwnNm></PstlAdr>")
            .replace(
                b"<FedNowIncomingMessage>",
                b"<FedNowTechnicalHeader><a/></FedNowTechnicalHeader><FedNowIncomingMessage>",
            )
        )

        assert b"PstlAdr" in more
        assert b"Technical" in more
        assert b"Sgntr" in more
        assert came(more, FEDNOW) == sent

    def test_an_amount_in_whole_dollars(self):
        content = written(message("pain.013", RTP), RTP)

        assert came(content.replace(b">123.45<", b">50000<"), RTP).amount == 5_000_000

    def test_an_expiry_without_a_time_lasts_until_the_end_of_the_day(self):
        content = written(message("pain.013", RTP), RTP)
        old = content[content.index(b"<m:XpryDt>") : content.index(b"</m:XpryDt>")]
        bent_ = content.replace(old, b"<m:XpryDt><m:Dt>2026-12-01</m:Dt>")

        assert came(bent_, RTP).expires_at.isoformat() == "2026-12-02T04:59:59+00:00"


def _fault(content: bytes, profile) -> str:
    with pytest.raises(Unreadable) as found:
        read(content, profile)
    return found.value.fault
