"""What the operator and the banks say: the bodies of messages to the participant."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime

from devstack.instant.clock import read
from devstack.instant.profiles import REJECTION, REQUEST, Profile
from devstack.instant.xml import Amount, Fields

_PROPRIETARY = ("E9", "99", "11", "NOAT")


@dataclass(frozen=True)
class Original:
    """The message that another one is about."""

    message_id: str
    kind: str
    created_at: datetime
    instruction_id: str = ""
    end_to_end_id: str = ""


def original_of(payment: sqlite3.Row) -> Original:
    return Original(
        message_id=payment["message_id"],
        kind=payment["kind"],
        created_at=read(payment["created_at"]),
        instruction_id=payment["instruction_id"],
        end_to_end_id=payment["end_to_end_id"],
    )


def status(
    profile: Profile,
    message_id: str,
    original: Original,
    code: str,
    *,
    reason: str,
    day: str,
    at: datetime,
    routing: str,
) -> Fields:
    """pacs.002: what became of a message. `day` is the one of settlement, if it is settled, and
    `routing` the participant's that is told."""
    about = _about(profile, original)
    group: Fields = [("OrgnlGrpInfAndSts", [*about, ("OrgnlNbOfTxs", "1")])]
    settled: Fields = [("OrgnlTxRef", [("IntrBkSttlmDt", day)])] if day else []
    effective: Fields = [("FctvIntrBkSttlmDt", [("Dt", day)])] if day else []
    transaction: Fields = [
        *([] if profile.is_rtp else [("OrgnlGrpInf", about)]),
        ("OrgnlInstrId", original.instruction_id or original.message_id),
        ("OrgnlEndToEndId", original.end_to_end_id),
        ("TxSts", code),
        *_reasons("StsRsnInf", reason),
        ("AccptncDtTm", profile.written(at)),
        *([] if profile.is_rtp else effective),
        ("InstgAgt", agent(profile, profile.operator_id[:9])),
        ("InstdAgt", agent(profile, routing)),
        *(settled if profile.is_rtp else []),
    ]
    head: Fields = [("MsgId", message_id), ("CreDtTm", profile.written(at))]
    body: Fields = [
        ("GrpHdr", head),
        *(group if profile.is_rtp else []),
        ("TxInfAndSts", transaction),
    ]
    return [("FIToFIPmtStsRpt", body)]


def request_answer(
    profile: Profile,
    message_id: str,
    request: sqlite3.Row,
    code: str,
    *,
    reason: str,
    at: datetime,
) -> Fields:
    """pain.014: what the payer's bank says to a request."""
    original = Original(request["message_id"], REQUEST, read(request["created_at"]))
    count: Fields = [("OrgnlNbOfTxs", "1")] if profile.is_rtp else []
    head: Fields = [
        ("MsgId", message_id),
        ("CreDtTm", profile.written(at)),
        *_parties_of_answer(profile, request),
    ]
    transaction: Fields = [
        ("OrgnlEndToEndId", request["end_to_end_id"]),
        ("TxSts", code),
        *_reasons("StsRsnInf", reason),
        *(_original_of_answer(profile, request) if profile.is_rtp else []),
    ]
    information: Fields = [
        ("OrgnlPmtInfId", request["payment_information_id"]),
        ("TxInfAndSts", transaction),
    ]
    body: Fields = [
        ("GrpHdr", head),
        ("OrgnlGrpInfAndSts", [*_about(profile, original), *count]),
        ("OrgnlPmtInfAndSts", information),
    ]
    return [("CdtrPmtActvtnReqStsRpt", body)]


def _parties_of_answer(profile: Profile, request: sqlite3.Row) -> Fields:
    """RTP names the bank that answers; FedNow who asked, and both banks."""
    if profile.is_rtp:
        other = [("Othr", [("Id", request["debtor_routing"])])]
        return [("InitgPty", [("Id", [("OrgId", other)])])]
    return [
        ("InitgPty", [("Nm", request["creditor_name"])]),
        ("DbtrAgt", agent(profile, request["debtor_routing"])),
        ("CdtrAgt", agent(profile, request["creditor_routing"])),
    ]


def _original_of_answer(profile: Profile, request: sqlite3.Row) -> Fields:
    reference: Fields = [
        ("Amt", [("InstdAmt", Amount(request["amount"]))]),
        ("ReqdExctnDt", [("Dt", request["requested_day"])]),
        ("CdtrAgt", agent(profile, request["creditor_routing"])),
        ("Cdtr", [("Nm", request["creditor_name"])]),
    ]
    return [("OrgnlTxRef", reference)]


def payment(profile: Profile, row: sqlite3.Row, *, gives_back: str = "") -> Fields:
    """pacs.008: a payment to the participant. `gives_back` is the end-to-end id of a payment of the
    participant's that this one returns."""
    day = profile.cycle_day(read(row["created_at"])).isoformat()
    head: Fields = [
        *_head(profile, row),
        ("TtlIntrBkSttlmAmt", Amount(row["amount"]) if profile.is_rtp else None),
        ("IntrBkSttlmDt", day if profile.is_rtp else None),
        _settlement(profile),
    ]
    identification: Fields = [
        ("InstrId", row["instruction_id"]),
        ("EndToEndId", row["end_to_end_id"]),
        ("TxId", row["instruction_id"] if profile.is_rtp else None),
    ]
    transaction: Fields = [
        ("PmtId", identification),
        ("PmtTpInf", _type(profile)),
        ("IntrBkSttlmAmt", Amount(row["amount"])),
        ("IntrBkSttlmDt", None if profile.is_rtp else day),
        ("ChrgBr", "SLEV"),
        ("InstgAgt", agent(profile, row["debtor_routing"])),
        ("InstdAgt", agent(profile, row["creditor_routing"])),
        ("Dbtr", [("Nm", row["debtor_name"])]),
        ("DbtrAcct", account(row["debtor_account"])),
        ("DbtrAgt", agent(profile, row["debtor_routing"])),
        ("CdtrAgt", agent(profile, row["creditor_routing"])),
        ("Cdtr", [("Nm", row["creditor_name"])]),
        ("CdtrAcct", account(row["creditor_account"])),
        *_remittance(row["remittance"], gives_back),
    ]
    return [("FIToFICstmrCdtTrf", [("GrpHdr", head), ("CdtTrfTxInf", transaction)])]


def payment_return(profile: Profile, row: sqlite3.Row, original: sqlite3.Row) -> Fields:
    """pacs.004: a payment of the participant's given back."""
    about = original_of(original)
    chain: Fields = [
        ("Dbtr", [("Pty", [("Nm", row["debtor_name"])])]),
        ("DbtrAcct", account(row["debtor_account"])),
        ("DbtrAgt", agent(profile, row["debtor_routing"])),
        ("CdtrAgt", agent(profile, row["creditor_routing"])),
        ("Cdtr", [("Pty", [("Nm", row["creditor_name"])])]),
        ("CdtrAcct", account(row["creditor_account"])),
    ]
    transaction: Fields = [
        ("OrgnlGrpInf", _about(profile, about)),
        ("OrgnlInstrId", about.instruction_id),
        ("OrgnlEndToEndId", about.end_to_end_id),
        ("OrgnlIntrBkSttlmAmt", Amount(original["amount"])),
        ("OrgnlIntrBkSttlmDt", original["cycle_day"]),
        ("RtrdIntrBkSttlmAmt", Amount(row["amount"])),
        ("IntrBkSttlmDt", profile.cycle_day(read(row["created_at"])).isoformat()),
        ("ChrgBr", "SLEV"),
        ("InstgAgt", agent(profile, row["debtor_routing"])),
        ("InstdAgt", agent(profile, row["creditor_routing"])),
        ("RtrChain", chain),
        *_reasons("RtrRsnInf", row["reason"]),
        ("OrgnlTxRef", [("PmtTpInf", _type(profile)[:1])]),
    ]
    head: Fields = [*_head(profile, row), _settlement(profile)]
    return [("PmtRtr", [("GrpHdr", head), ("TxInf", transaction)])]


def return_request(
    profile: Profile, message_id: str, row: sqlite3.Row, *, reason: str, at: datetime
) -> Fields:
    """camt.056: a payer's bank asks for a payment to the participant to be returned."""
    about = original_of(row)
    creator = agent_of(profile, row["debtor_routing"])
    assignment: Fields = [
        ("Id", message_id),
        ("Assgnr", creator),
        ("Assgne", agent_of(profile, row["creditor_routing"])),
        ("CreDtTm", profile.written(at)),
    ]
    group = _about(profile, about)
    parties: Fields = [
        ("Dbtr", [("Pty", [("Nm", row["debtor_name"])])]),
        ("Cdtr", [("Pty", [("Nm", row["creditor_name"])])]),
    ]
    transaction: Fields = [
        *([] if profile.is_rtp else [("OrgnlGrpInf", group)]),
        ("OrgnlInstrId", about.instruction_id),
        ("OrgnlEndToEndId", about.end_to_end_id),
        ("OrgnlTxId", about.instruction_id if profile.is_rtp else None),
        ("OrgnlIntrBkSttlmAmt", Amount(row["amount"])),
        ("OrgnlIntrBkSttlmDt", row["cycle_day"]),
        *_reasons("CxlRsnInf", reason),
        *([("OrgnlTxRef", parties)] if profile.is_rtp else []),
    ]
    underlying: Fields = [
        *([("OrgnlGrpInfAndCxl", group)] if profile.is_rtp else []),
        ("TxInf", transaction),
    ]
    body: Fields = [
        ("Assgnmt", assignment),
        ("Case", [("Id", message_id), ("Cretr", creator)]),
        ("Undrlyg", underlying),
    ]
    return [("FIToFIPmtCxlReq", body)]


def rejection(profile: Profile, reference: str, reason: str, text: str, *, at: datetime) -> Fields:
    """admi.002: a message that is not taken."""
    return [
        (
            profile.full_name(REJECTION),
            [
                ("RltdRef", [("Ref", reference)]),
                (
                    "Rsn",
                    [
                        ("RjctgPtyRsn", reason),
                        ("RjctnDtTm", profile.written(at)),
                        ("RsnDesc", text[:350]),
                    ],
                ),
            ],
        )
    ]


def agent(profile: Profile, routing: str) -> Fields:
    """A bank by its routing number."""
    system = [] if profile.is_rtp else [("ClrSysId", [("Cd", "USABA")])]
    return [("FinInstnId", [("ClrSysMmbId", [*system, ("MmbId", routing)])])]


def agent_of(profile: Profile, routing: str) -> Fields:
    """The same where a bank is one of several kinds of parties."""
    return [("Agt", agent(profile, routing))]


def account(number: str) -> Fields:
    return [("Id", [("Othr", [("Id", number)])])]


def _about(profile: Profile, original: Original) -> Fields:
    return [
        ("OrgnlMsgId", original.message_id),
        ("OrgnlMsgNmId", profile.full_name(original.kind)),
        ("OrgnlCreDtTm", profile.written(original.created_at)),
    ]


def _head(profile: Profile, row: sqlite3.Row) -> Fields:
    return [
        ("MsgId", row["message_id"]),
        ("CreDtTm", profile.written(read(row["created_at"]))),
        ("NbOfTxs", "1"),
    ]


def _settlement(profile: Profile) -> tuple[str, Fields]:
    system: Fields = [("Cd", "TCH" if profile.is_rtp else "FDN")]
    return "SttlmInf", [("SttlmMtd", "CLRG"), ("ClrSys", system)]


def _reasons(name: str, code: str) -> Fields:
    """Why, by a code of ISO or one of the network's own; nothing where there is none."""
    if not code:
        return []
    kind = "Prtry" if code.startswith(_PROPRIETARY) else "Cd"
    return [(name, [("Rsn", [(kind, code)])])]


def _type(profile: Profile) -> Fields:
    if not profile.is_rtp:
        return [("LclInstrm", [("Prtry", "FDNA")]), ("CtgyPurp", [("Prtry", "BIZZ")])]
    return [
        ("SvcLvl", [("Cd", "SDVA")]),
        ("LclInstrm", [("Prtry", "STANDARD")]),
        ("CtgyPurp", [("Prtry", "BUSINESS")]),
    ]


def _remittance(text: str, gives_back: str) -> Fields:
    """RTP knows no message that returns money: a new payment names the first one, as a document."""
    if not gives_back:
        return [("RmtInf", [("Ustrd", text)])] if text else []
    kind: Fields = [("CdOrPrtry", [("Prtry", "RETURN")])]
    document: Fields = [("Tp", kind), ("Nb", gives_back)]
    return [("RmtInf", [("Strd", [("RfrdDocInf", document)])])]
