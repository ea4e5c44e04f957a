"""The other end of a folder: what we sent, and messages from the network, by our own codec."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from networks.instant.iso import ids, reader, writer
from networks.instant.iso.messages import (
    NO_REASON,
    Account,
    CreditTransfer,
    Header,
    Message,
    PaymentReturn,
    Reason,
    Rejection,
    RequestAnswer,
    RequestForPayment,
    ReturnRequest,
    StatusReport,
)
from networks.instant.iso.profiles import EASTERN, PROFILES, Profile
from networks.instant.iso.reader import Read
from tests.networks.instant.builders import ACCOUNT, PARTICIPANTS, PAYEE_ROUTING, ROUTING

_NUMBERS = count(1)  # of all operators: an id is used once
PAYER = Account(routing_number=PAYEE_ROUTING, account_number="1000200", name="Acme")
US = Account(routing_number=ROUTING, account_number=ACCOUNT, name="Ballast Inc.")


@dataclass
class Operator:
    """One network at the end of a folder. It says what a test has it say."""

    home: Path
    name: str
    numbers: Iterator[int] = field(default_factory=lambda: _NUMBERS)

    @property
    def profile(self) -> Profile:
        return PROFILES[self.name]

    # --- What it got

    def sent(self) -> list[Read]:
        """What we sent, in the order of the messages' ids, and is still in the folder."""
        files = sorted((self.home / "outbound").glob("*.xml"))
        return [reader.read(file.read_bytes(), self.profile) for file in files]

    def taken(self) -> list[Message]:
        """What we sent since the last call."""
        files = sorted((self.home / "outbound").glob("*.xml"))
        found = [reader.read(file.read_bytes(), self.profile).message for file in files]
        for file in files:
            file.unlink()
        return found

    # --- What it says

    def message_id(self, now: datetime) -> str:
        day = now.astimezone(EASTERN).date()
        by = "011000015T1" if self.name == "rtp" else "011000015"
        return ids.message_id(self.profile, participant=by, day=day, number=next(self.numbers))

    def say(self, *messages: Any, is_duplicate: bool = False) -> None:
        for each in messages:
            self.put(self.content(each), is_duplicate=is_duplicate)

    def content(self, message: Any) -> bytes:
        header = Header(
            message_id=message.message_id,
            business_id=ids.business_id(self.profile, message.message_id),
            sender=self.profile.operator,
            receiver=PARTICIPANTS[self.name],
            created_at=message.created_at,
        )
        return writer.write(message, header, self.profile)

    def put(self, content: bytes, *, is_duplicate: bool = False) -> None:
        if is_duplicate:
            content = writer.duplicate(content, self.profile)
        folder = self.home / "inbound"
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{next(self.numbers):08}.xml"
        unfinished = folder / f".{name}"  # not there yet for who looks meanwhile
        unfinished.write_bytes(content)
        unfinished.rename(folder / name)

    def refuse(self, about: Any, code: str, *, now: datetime) -> None:
        """Say that a message as such cannot be taken (admi.002)."""
        message_id, moment = self.message_id(now), now.replace(microsecond=0)
        header = Header(
            message_id=message_id,
            business_id=message_id,
            sender=self.profile.operator,
            receiver=PARTICIPANTS[self.name],
            created_at=moment,
        )
        said = Rejection(reference=about.message_id, code=code, rejected_at=moment)
        self.put(writer.write(said, header, self.profile))

    # --- Words

    def report(
        self,
        about: Any,
        status: str,
        *,
        now: datetime,
        code: str = "",
        **changes: Any,
    ) -> StatusReport:
        values: dict[str, Any] = {
            "message_id": self.message_id(now),
            "created_at": now.replace(microsecond=0),
            "original_message_id": about.message_id,
            "original_message_name": self.profile.full_name(about.kind),
            "original_created_at": about.created_at,
            "original_instruction_id": _id_of(about, "instruction_id"),
            "original_end_to_end_id": _id_of(about, "end_to_end_id"),
            "status": status,
            "reason": Reason(code=code) if code else NO_REASON,
            "accepted_at": now.replace(microsecond=0),
        }
        return StatusReport(**{**values, **changes})

    def answer(
        self, about: RequestForPayment, status: str, *, now: datetime, code: str = ""
    ) -> RequestAnswer:
        return RequestAnswer(
            message_id=self.message_id(now),
            created_at=now.replace(microsecond=0),
            original_message_id=about.message_id,
            original_created_at=about.created_at,
            original_instruction_id=about.instruction_id,
            original_end_to_end_id=about.end_to_end_id,
            status=status,
            reason=Reason(code=code) if code else NO_REASON,
            debtor_routing_number=about.debtor.routing_number,
            creditor_routing_number=about.creditor.routing_number,
            creditor_name=about.creditor.name,
            execute_at=about.execute_at,
        )

    def transfer(self, *, now: datetime, **changes: Any) -> CreditTransfer:
        """Money to us that nobody asked for."""
        day = now.astimezone(EASTERN).date()
        instruction = ids.instruction_id(
            self.profile,
            participant="011000015T1" if self.name == "rtp" else "011000015",
            day=day,
            number=next(self.numbers),
        )
        values: dict[str, Any] = {
            "message_id": self.message_id(now),
            "created_at": now.replace(microsecond=0),
            "instruction_id": instruction,
            "end_to_end_id": instruction,
            "transaction_id": instruction if self.name == "rtp" else "",
            "uetr": "" if self.name == "rtp" else "9d7f0a3e-0b0c-4b7a-8f39-8b6a0d3a7c11",
            "amount": 1_234,
            "settlement_date": self.profile.settlement_date(now),
            "debtor": PAYER,
            "creditor": US,
        }
        return CreditTransfer(**{**values, **changes})

    def payment_of(
        self, asked: RequestForPayment, *, now: datetime, **changes: Any
    ) -> CreditTransfer:
        """What pays a request."""
        about = {"end_to_end_id": asked.end_to_end_id, "amount": asked.amount}
        return self.transfer(now=now, **{**about, "debtor": asked.debtor, **changes})

    def give_back(self, paid: CreditTransfer, *, now: datetime, code: str = "AC04") -> Message:
        """A payment of ours comes back: a message of its own (FedNow) or a new payment (RTP)."""
        if self.name == "rtp":
            return self.transfer(now=now, amount=paid.amount, returns_of=paid.end_to_end_id)
        return PaymentReturn(
            message_id=self.message_id(now),
            created_at=now.replace(microsecond=0),
            original_message_id=paid.message_id,
            original_message_name=self.profile.full_name(paid.kind),
            original_created_at=paid.created_at,
            original_instruction_id=paid.instruction_id,
            original_end_to_end_id=paid.end_to_end_id,
            original_uetr=paid.uetr,
            original_amount=paid.amount,
            original_settlement_date=paid.settlement_date,
            amount=paid.amount,
            settlement_date=self.profile.settlement_date(now),
            debtor=paid.creditor,
            creditor=US,
            reason=Reason(code=code),
        )

    def ask_back(self, paid: CreditTransfer, *, now: datetime, code: str = "DUPL") -> ReturnRequest:
        message_id = self.message_id(now)
        return ReturnRequest(
            message_id=message_id,
            created_at=now.replace(microsecond=0),
            case_id=message_id,
            original_message_id=paid.message_id,
            original_message_name=self.profile.full_name(paid.kind),
            original_created_at=paid.created_at,
            original_instruction_id=paid.instruction_id,
            original_end_to_end_id=paid.end_to_end_id,
            original_transaction_id=paid.transaction_id,
            original_uetr=paid.uetr,
            amount=paid.amount,
            settlement_date=paid.settlement_date,
            debtor_name=paid.debtor.name,
            creditor_name=paid.creditor.name,
            reason=Reason(code=code),
        )


def _id_of(about: Any, name: str) -> str:
    """An id of a payment, or of the one that a return or a question is about."""
    return str(getattr(about, name, "") or getattr(about, f"original_{name}"))


def only(messages: Sequence[Message]) -> Any:
    (message,) = messages
    return message
