"""What the tables of both networks are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from networks.instant.iso import kinds
from networks.instant.iso.leaves import Leaf, Way, fixed, optional
from networks.instant.iso.messages import Message, Rejection


class Layout(NamedTuple):
    """One message of one network: the elements around it, and its leaves."""

    message: type[Message]
    wrapper: str  # of the message, in the envelope
    root: str  # of the message itself
    leaves: tuple[Leaf, ...]


def below(path: str, *leaves: Leaf) -> Iterator[Leaf]:
    """The leaves, each of whose paths begins at `path`."""
    return (leaf._replace(path=f"{path}/{leaf.path}") for leaf in leaves)


def group(*, is_counted: bool = False) -> Iterator[Leaf]:
    """The beginning of a group header, with how many transactions there are."""
    yield Leaf("GrpHdr/MsgId", kinds.ID, "message_id")
    yield Leaf("GrpHdr/CreDtTm", kinds.MOMENT, "created_at")
    if is_counted:
        yield fixed("GrpHdr/NbOfTxs", "1")


def party(path: str, source: str) -> Leaf:
    return Leaf(f"{path}/Nm", kinds.NAME, source)


def account(path: str, source: str) -> Leaf:
    return Leaf(f"{path}/Id/Othr/Id", kinds.ACCOUNT, source)


def reason(path: str) -> Iterator[Leaf]:
    """A code or the network's own one, and words."""
    yield optional(Leaf(f"{path}/Rsn/Cd", kinds.CODE, "reason.code"))
    yield optional(Leaf(f"{path}/Rsn/Prtry", kinds.CODE, "reason.proprietary"))
    yield optional(Leaf(f"{path}/AddtlInf", kinds.WORDS, "reason.text"))


def day_or_moment(path: str, source: str, day: kinds.Kind) -> Iterator[Leaf]:
    """A moment, which others may write as a day."""
    yield Leaf(f"{path}/DtTm", kinds.MOMENT, source)
    yield Leaf(f"{path}/Dt", day, source, way=Way.READ)


def original() -> Iterator[Leaf]:
    """Which message something is about. Who never saw it does not know when it was made."""
    yield Leaf("OrgnlMsgId", kinds.ID, "original_message_id")
    yield Leaf("OrgnlMsgNmId", kinds.CODE, "original_message_name")
    yield optional(Leaf("OrgnlCreDtTm", kinds.MOMENT, "original_created_at"))


def transfer_ids() -> Iterator[Leaf]:
    """Which payment of a message something is about."""
    yield Leaf("OrgnlInstrId", kinds.ID, "original_instruction_id")
    yield Leaf("OrgnlEndToEndId", kinds.ID, "original_end_to_end_id")


def remittance() -> Leaf:
    return optional(Leaf("RmtInf/Ustrd", kinds.REMITTANCE, "remittance"))


def rejection(wrapper: str) -> Layout:
    """admi.002, which is the same in both networks but for its envelope."""
    return Layout(
        message=Rejection,
        wrapper=wrapper,
        root="admi.002.001.01",
        leaves=(
            Leaf("RltdRef/Ref", kinds.ID, "reference"),
            Leaf("Rsn/RjctgPtyRsn", kinds.CODE, "code"),
            optional(Leaf("Rsn/RjctnDtTm", kinds.MOMENT, "rejected_at")),
            optional(Leaf("Rsn/RsnDesc", kinds.WORDS, "text")),
        ),
    )
