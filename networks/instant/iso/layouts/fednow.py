"""FedNow's messages: the Federal Reserve's profile of ISO 20022."""

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
    PaymentReturn,
    RequestAnswer,
    RequestForPayment,
    Resolution,
    ReturnRequest,
    StatusReport,
    StatusRequest,
)


def _agent(path: str, source: str) -> tuple[Leaf, Leaf]:
    member = f"{path}/FinInstnId/ClrSysMmbId"
    return (
        fixed(f"{member}/ClrSysId/Cd", "USABA", where=source),
        Leaf(f"{member}/MmbId", kinds.ROUTING, source),
    )


def _known_agent(path: str, source: str) -> Iterator[Leaf]:
    """An agent that the header or another part of the message names, too."""
    return map(written, _agent(path, source))


def _type() -> Iterator[Leaf]:
    yield fixed("PmtTpInf/LclInstrm/Prtry", "FDNA")
    yield fixed("PmtTpInf/CtgyPurp/Prtry", "BIZZ")


def _settled() -> Iterator[Leaf]:
    yield fixed("GrpHdr/SttlmInf/SttlmMtd", "CLRG")
    yield fixed("GrpHdr/SttlmInf/ClrSys/Cd", "FDN")


def _original() -> Iterator[Leaf]:
    return below("OrgnlGrpInf", *original())


def _uetr() -> Leaf:
    return optional(Leaf("OrgnlUETR", kinds.UETR, "original_uetr"))


REQUEST = Layout(
    message=RequestForPayment,
    wrapper="FedNowRequestForPayment",
    root="CdtrPmtActvtnReq",
    leaves=(
        *group(is_counted=True),
        written(party("GrpHdr/InitgPty", "creditor.name")),
        *below(
            "PmtInf",
            Leaf("PmtInfId", kinds.ID, "instruction_id"),
            fixed("PmtMtd", "TRF"),
            *day_or_moment("ReqdExctnDt", "execute_at", kinds.START_OF_DAY),
            *day_or_moment("XpryDt", "expires_at", kinds.END_OF_DAY),
            party("Dbtr", "debtor.name"),
            account("DbtrAcct", "debtor.account_number"),
            *_agent("DbtrAgt", "debtor.routing_number"),
        ),
        *below(
            "PmtInf/CdtTrfTx",
            Leaf("PmtId/EndToEndId", kinds.ID, "end_to_end_id"),
            *_type(),
            fixed("PmtCond/AmtModAllwd", "false"),
            fixed("PmtCond/EarlyPmtAllwd", "true"),
            fixed("PmtCond/GrntedPmtReqd", "false"),
            Leaf("Amt/InstdAmt", kinds.CENTS, "amount"),
            fixed("ChrgBr", "SLEV"),
            *_agent("CdtrAgt", "creditor.routing_number"),
            party("Cdtr", "creditor.name"),
            account("CdtrAcct", "creditor.account_number"),
            remittance(),
        ),
    ),
)

ANSWER = Layout(
    message=RequestAnswer,
    wrapper="FedNowRequestForPaymentResponse",
    root="CdtrPmtActvtnReqStsRpt",
    leaves=(
        *group(),
        party("GrpHdr/InitgPty", "creditor_name"),
        *_agent("GrpHdr/DbtrAgt", "debtor_routing_number"),
        *_agent("GrpHdr/CdtrAgt", "creditor_routing_number"),
        Leaf("OrgnlGrpInfAndSts/OrgnlMsgId", kinds.ID, "original_message_id"),
        fixed("OrgnlGrpInfAndSts/OrgnlMsgNmId", "pain.013.001.07"),
        Leaf("OrgnlGrpInfAndSts/OrgnlCreDtTm", kinds.MOMENT, "original_created_at"),
        Leaf("OrgnlPmtInfAndSts/OrgnlPmtInfId", kinds.ID, "original_instruction_id"),
        *below(
            "OrgnlPmtInfAndSts/TxInfAndSts",
            Leaf("OrgnlEndToEndId", kinds.ID, "original_end_to_end_id"),
            Leaf("TxSts", kinds.CODE, "status"),
            *reason("StsRsnInf"),
        ),
    ),
)

TRANSFER = Layout(
    message=CreditTransfer,
    wrapper="FedNowCustomerCreditTransfer",
    root="FIToFICstmrCdtTrf",
    leaves=(
        *group(is_counted=True),
        *_settled(),
        *below(
            "CdtTrfTxInf",
            Leaf("PmtId/InstrId", kinds.ID, "instruction_id"),
            Leaf("PmtId/EndToEndId", kinds.ID, "end_to_end_id"),
            optional(Leaf("PmtId/UETR", kinds.UETR, "uetr")),
            *_type(),
            Leaf("IntrBkSttlmAmt", kinds.CENTS, "amount"),
            Leaf("IntrBkSttlmDt", kinds.DAY, "settlement_date"),
            fixed("ChrgBr", "SLEV"),
            *_known_agent("InstgAgt", "debtor.routing_number"),
            *_known_agent("InstdAgt", "creditor.routing_number"),
            party("Dbtr", "debtor.name"),
            account("DbtrAcct", "debtor.account_number"),
            *_agent("DbtrAgt", "debtor.routing_number"),
            *_agent("CdtrAgt", "creditor.routing_number"),
            party("Cdtr", "creditor.name"),
            account("CdtrAcct", "creditor.account_number"),
            remittance(),
        ),
    ),
)

REPORT = Layout(
    message=StatusReport,
    wrapper="FedNowPaymentStatus",
    root="FIToFIPmtStsRpt",
    leaves=(
        *group(),
        *below(
            "TxInfAndSts",
            *_original(),
            *map(optional, transfer_ids()),
            _uetr(),
            Leaf("TxSts", kinds.CODE, "status"),
            *reason("StsRsnInf"),
            optional(Leaf("AccptncDtTm", kinds.MOMENT, "accepted_at")),
            optional(Leaf("FctvIntrBkSttlmDt/Dt", kinds.DAY, "settlement_date")),
            *_known_agent("InstgAgt", "header.sender"),
            *_known_agent("InstdAgt", "header.receiver"),
        ),
    ),
)

STATUS_REQUEST = Layout(
    message=StatusRequest,
    wrapper="FedNowPaymentStatusRequest",
    root="FIToFIPmtStsReq",
    leaves=(
        *group(),
        *below(
            "TxInf",
            *_original(),
            *transfer_ids(),
            _uetr(),
            *_known_agent("InstgAgt", "header.sender"),
            *_known_agent("InstdAgt", "header.receiver"),
        ),
    ),
)

PAYMENT_RETURN = Layout(
    message=PaymentReturn,
    wrapper="FedNowPaymentReturn",
    root="PmtRtr",
    leaves=(
        *group(is_counted=True),
        *_settled(),
        *below(
            "TxInf",
            *_original(),
            *transfer_ids(),
            _uetr(),
            Leaf("OrgnlIntrBkSttlmAmt", kinds.CENTS, "original_amount"),
            Leaf("OrgnlIntrBkSttlmDt", kinds.DAY, "original_settlement_date"),
            Leaf("RtrdIntrBkSttlmAmt", kinds.CENTS, "amount"),
            Leaf("IntrBkSttlmDt", kinds.DAY, "settlement_date"),
            fixed("ChrgBr", "SLEV"),
            *_known_agent("InstgAgt", "debtor.routing_number"),
            *_known_agent("InstdAgt", "creditor.routing_number"),
            party("RtrChain/Dbtr/Pty", "debtor.name"),
            account("RtrChain/DbtrAcct", "debtor.account_number"),
            *_agent("RtrChain/DbtrAgt", "debtor.routing_number"),
            *_agent("RtrChain/CdtrAgt", "creditor.routing_number"),
            party("RtrChain/Cdtr/Pty", "creditor.name"),
            account("RtrChain/CdtrAcct", "creditor.account_number"),
            *reason("RtrRsnInf"),
            fixed("OrgnlTxRef/PmtTpInf/LclInstrm/Prtry", "FDNA"),
        ),
    ),
)

RETURN_REQUEST = Layout(
    message=ReturnRequest,
    wrapper="FedNowReturnRequest",
    root="FIToFIPmtCxlReq",
    leaves=(
        Leaf("Assgnmt/Id", kinds.ID, "message_id"),
        *_known_agent("Assgnmt/Assgnr/Agt", "header.sender"),
        *_known_agent("Assgnmt/Assgne/Agt", "header.receiver"),
        Leaf("Assgnmt/CreDtTm", kinds.MOMENT, "created_at"),
        Leaf("Case/Id", kinds.ID, "case_id"),
        *_known_agent("Case/Cretr/Agt", "header.sender"),
        *below(
            "Undrlyg/TxInf",
            *_original(),
            *transfer_ids(),
            _uetr(),
            Leaf("OrgnlIntrBkSttlmAmt", kinds.CENTS, "amount"),
            Leaf("OrgnlIntrBkSttlmDt", kinds.DAY, "settlement_date"),
            *reason("CxlRsnInf"),
        ),
    ),
)

RESOLUTION = Layout(
    message=Resolution,
    wrapper="FedNowReturnRequestResponse",
    root="RsltnOfInvstgtn",
    leaves=(
        Leaf("Assgnmt/Id", kinds.ID, "message_id"),
        *_known_agent("Assgnmt/Assgnr/Agt", "header.sender"),
        *_known_agent("Assgnmt/Assgne/Agt", "header.receiver"),
        Leaf("Assgnmt/CreDtTm", kinds.MOMENT, "created_at"),
        Leaf("RslvdCase/Id", kinds.ID, "case_id"),
        *_known_agent("RslvdCase/Cretr/Agt", "header.receiver"),
        Leaf("Sts/Conf", kinds.CODE, "status"),
        *below(
            "CxlDtls/TxInfAndSts",
            *_original(),
            *transfer_ids(),
            _uetr(),
            *reason("CxlStsRsnInf"),
            optional(Leaf("RsltnRltdInf/IntrBkSttlmAmt", kinds.CENTS, "amount")),
            optional(Leaf("RsltnRltdInf/IntrBkSttlmDt", kinds.DAY, "settlement_date")),
        ),
    ),
)

REJECTION = rejection("FedNowMessageReject")
LAYOUTS = (
    REQUEST,
    ANSWER,
    TRANSFER,
    REPORT,
    STATUS_REQUEST,
    PAYMENT_RETURN,
    RETURN_REQUEST,
    RESOLUTION,
    REJECTION,
)
