"""RTP's messages: The Clearing House's profile of ISO 20022."""

from __future__ import annotations

from collections.abc import Iterator

from networks.instant.iso import kinds
from networks.instant.iso.layouts.base import (
    Layout,
    account,
    below,
    day_or_moment,
    group,
    original,
    party,
    reason,
    rejection,
    remittance,
    transfer_ids,
)
from networks.instant.iso.leaves import Leaf, fixed, optional, written
from networks.instant.iso.messages import (
    CreditTransfer,
    RequestAnswer,
    RequestForPayment,
    Resolution,
    ReturnRequest,
    StatusReport,
)

_RETURN = "RmtInf/Strd/RfrdDocInf"


def _agent(path: str, source: str) -> Leaf:
    return Leaf(f"{path}/FinInstnId/ClrSysMmbId/MmbId", kinds.ROUTING, source)


def _initiator(source: str) -> Leaf:
    return written(Leaf("GrpHdr/InitgPty/Id/OrgId/Othr/Id", kinds.ROUTING, source))


def _type() -> Iterator[Leaf]:
    yield fixed("PmtTpInf/SvcLvl/Cd", "SDVA")
    yield fixed("PmtTpInf/LclInstrm/Prtry", "STANDARD")
    yield fixed("PmtTpInf/CtgyPurp/Prtry", "BUSINESS")


REQUEST = Layout(
    message=RequestForPayment,
    wrapper="PaymentRequest",
    root="CdtrPmtActvtnReq",
    leaves=(
        *group(is_counted=True),
        _initiator("creditor.routing_number"),
        *below(
            "PmtInf",
            Leaf("PmtInfId", kinds.ID, "instruction_id"),
            fixed("PmtMtd", "TRF"),
            *day_or_moment("ReqdExctnDt", "execute_at", kinds.START_OF_DAY),
            *day_or_moment("XpryDt", "expires_at", kinds.END_OF_DAY),
            party("Dbtr", "debtor.name"),
            account("DbtrAcct", "debtor.account_number"),
            _agent("DbtrAgt", "debtor.routing_number"),
        ),
        *below(
            "PmtInf/CdtTrfTx",
            written(Leaf("PmtId/InstrId", kinds.ID, "instruction_id")),
            Leaf("PmtId/EndToEndId", kinds.ID, "end_to_end_id"),
            *_type(),
            fixed("PmtCond/AmtModAllwd", "false"),
            fixed("PmtCond/EarlyPmtAllwd", "true"),
            fixed("PmtCond/GrntedPmtReqd", "false"),
            Leaf("Amt/InstdAmt", kinds.CENTS, "amount"),
            fixed("ChrgBr", "SLEV"),
            _agent("CdtrAgt", "creditor.routing_number"),
            party("Cdtr", "creditor.name"),
            account("CdtrAcct", "creditor.account_number"),
            remittance(),
        ),
    ),
)

ANSWER = Layout(
    message=RequestAnswer,
    wrapper="ResponsePaymentRequest",
    root="CdtrPmtActvtnReqStsRpt",
    leaves=(
        *group(),
        _initiator("header.sender"),
        Leaf("OrgnlGrpInfAndSts/OrgnlMsgId", kinds.ID, "original_message_id"),
        fixed("OrgnlGrpInfAndSts/OrgnlMsgNmId", "pain.013.001.07"),
        Leaf("OrgnlGrpInfAndSts/OrgnlCreDtTm", kinds.MOMENT, "original_created_at"),
        fixed("OrgnlGrpInfAndSts/OrgnlNbOfTxs", "1"),
        Leaf("OrgnlPmtInfAndSts/OrgnlPmtInfId", kinds.ID, "original_instruction_id"),
        *below(
            "OrgnlPmtInfAndSts/TxInfAndSts",
            Leaf("OrgnlEndToEndId", kinds.ID, "original_end_to_end_id"),
            Leaf("TxSts", kinds.CODE, "status"),
            *reason("StsRsnInf"),
            *day_or_moment("OrgnlTxRef/ReqdExctnDt", "execute_at", kinds.START_OF_DAY),
            _agent("OrgnlTxRef/CdtrAgt", "creditor_routing_number"),
            party("OrgnlTxRef/Cdtr", "creditor_name"),
        ),
    ),
)

TRANSFER = Layout(
    message=CreditTransfer,
    wrapper="CreditTransfer",
    root="FIToFICstmrCdtTrf",
    leaves=(
        *group(is_counted=True),
        written(Leaf("GrpHdr/TtlIntrBkSttlmAmt", kinds.CENTS, "amount")),
        Leaf("GrpHdr/IntrBkSttlmDt", kinds.DAY, "settlement_date"),
        fixed("GrpHdr/SttlmInf/SttlmMtd", "CLRG"),
        fixed("GrpHdr/SttlmInf/ClrSys/Cd", "TCH"),
        *below(
            "CdtTrfTxInf",
            Leaf("PmtId/InstrId", kinds.ID, "instruction_id"),
            Leaf("PmtId/EndToEndId", kinds.ID, "end_to_end_id"),
            Leaf("PmtId/TxId", kinds.ID, "transaction_id"),
            *_type(),
            Leaf("IntrBkSttlmAmt", kinds.CENTS, "amount"),
            fixed("ChrgBr", "SLEV"),
            written(_agent("InstgAgt", "debtor.routing_number")),
            written(_agent("InstdAgt", "creditor.routing_number")),
            party("Dbtr", "debtor.name"),
            account("DbtrAcct", "debtor.account_number"),
            _agent("DbtrAgt", "debtor.routing_number"),
            _agent("CdtrAgt", "creditor.routing_number"),
            party("Cdtr", "creditor.name"),
            account("CdtrAcct", "creditor.account_number"),
            remittance(),
            fixed(f"{_RETURN}/Tp/CdOrPrtry/Prtry", "RETURN", where="returns_of"),
            optional(Leaf(f"{_RETURN}/Nb", kinds.ID, "returns_of")),
        ),
    ),
)

REPORT = Layout(
    message=StatusReport,
    wrapper="MessageStatusReport",
    root="FIToFIPmtStsRpt",
    leaves=(
        *group(),
        *below("OrgnlGrpInfAndSts", *original()),
        fixed("OrgnlGrpInfAndSts/OrgnlNbOfTxs", "1"),
        *below(
            "TxInfAndSts",
            *map(optional, transfer_ids()),
            optional(Leaf("OrgnlTxId", kinds.ID, "original_transaction_id")),
            Leaf("TxSts", kinds.CODE, "status"),
            *reason("StsRsnInf"),
            optional(Leaf("AccptncDtTm", kinds.MOMENT, "accepted_at")),
            written(_agent("InstgAgt", "header.sender")),
            written(_agent("InstdAgt", "header.receiver")),
            optional(Leaf("OrgnlTxRef/IntrBkSttlmDt", kinds.DAY, "settlement_date")),
        ),
    ),
)

RETURN_REQUEST = Layout(
    message=ReturnRequest,
    wrapper="ReturnOfFunds",
    root="FIToFIPmtCxlReq",
    leaves=(
        Leaf("Assgnmt/Id", kinds.ID, "message_id"),
        written(_agent("Assgnmt/Assgnr/Agt", "header.sender")),
        written(_agent("Assgnmt/Assgne/Agt", "header.receiver")),
        Leaf("Assgnmt/CreDtTm", kinds.MOMENT, "created_at"),
        Leaf("Case/Id", kinds.ID, "case_id"),
        written(_agent("Case/Cretr/Agt", "header.sender")),
        *below("Undrlyg/OrgnlGrpInfAndCxl", *original()),
        *below(
            "Undrlyg/TxInf",
            *transfer_ids(),
            optional(Leaf("OrgnlTxId", kinds.ID, "original_transaction_id")),
            Leaf("OrgnlIntrBkSttlmAmt", kinds.CENTS, "amount"),
            Leaf("OrgnlIntrBkSttlmDt", kinds.DAY, "settlement_date"),
            *reason("CxlRsnInf"),
            optional(party("OrgnlTxRef/Dbtr/Pty", "debtor_name")),
            optional(party("OrgnlTxRef/Cdtr/Pty", "creditor_name")),
        ),
    ),
)

RESOLUTION = Layout(
    message=Resolution,
    wrapper="ResponseReturnOfFunds",
    root="RsltnOfInvstgtn",
    leaves=(
        Leaf("Assgnmt/Id", kinds.ID, "message_id"),
        written(_agent("Assgnmt/Assgnr/Agt", "header.sender")),
        written(_agent("Assgnmt/Assgne/Agt", "header.receiver")),
        Leaf("Assgnmt/CreDtTm", kinds.MOMENT, "created_at"),
        Leaf("Sts/Conf", kinds.CODE, "status"),
        *below(
            "CxlDtls/OrgnlGrpInfAndSts",
            Leaf("RslvdCase/Id", kinds.ID, "case_id"),
            written(_agent("RslvdCase/Cretr/Agt", "header.receiver")),
            Leaf("OrgnlMsgId", kinds.ID, "request_message_id"),
            fixed("OrgnlMsgNmId", "camt.056.001.08"),
            Leaf("OrgnlCreDtTm", kinds.MOMENT, "request_created_at"),
        ),
        *below(
            "CxlDtls/TxInfAndSts",
            written(Leaf("CxlStsId", kinds.ID, "message_id")),
            *reason("CxlStsRsnInf"),
            optional(Leaf("RsltnRltdInf/IntrBkSttlmAmt", kinds.CENTS, "amount")),
            optional(Leaf("RsltnRltdInf/IntrBkSttlmDt", kinds.DAY, "settlement_date")),
        ),
    ),
)

REJECTION = rejection("MessageReject")
LAYOUTS = (REQUEST, ANSWER, TRANSFER, REPORT, RETURN_REQUEST, RESOLUTION, REJECTION)
