"""A network over a folder that does what its rules say: it settles each payment once, and answers
whoever repeats or asks. It forgets nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from common.clock import utc_now
from networks.instant.iso import reader
from networks.instant.iso.messages import (
    CreditTransfer,
    Message,
    RequestForPayment,
    StatusReport,
    StatusRequest,
)
from tests.networks.instant.operator import Operator

_NOT_FOUND = "NOOR"


@dataclass
class Obedient:
    """`settled` counts by end-to-end id how often the money of a payment moved."""

    operator: Operator
    settled: Counter[str] = field(default_factory=Counter)
    _said: dict[str, list[Message]] = field(default_factory=dict)  # by the id of what it answers
    _money: dict[str, CreditTransfer] = field(default_factory=dict)  # that it sends us

    def answer(self) -> int:
        """Take what we sent, and say what follows; returns how many messages that were."""
        files = sorted((self.operator.home / "outbound").glob("*.xml"))
        for file in files:
            self._take(reader.read(file.read_bytes(), self.operator.profile).message)
            file.unlink()
        return len(files)

    def _take(self, message: Any) -> None:
        if isinstance(message, StatusRequest):
            self.operator.say(*self._told(message))
            return
        if message.message_id not in self._said:
            self._said[message.message_id] = list(self._new(message))
        self.operator.say(*self._said[message.message_id])

    def _told(self, question: StatusRequest) -> list[Message]:
        known = self._said.get(question.original_message_id)
        return known or [self._report(question, "RJCT", code=_NOT_FOUND)]

    def _new(self, message: Any) -> list[Message]:
        if isinstance(message, CreditTransfer):
            self.settled[message.end_to_end_id] += 1
            return [self._report(message, self._accepted)]
        if isinstance(message, RequestForPayment):
            money = self.operator.payment_of(message, now=utc_now())
            self._money[money.message_id] = money
            return [self.operator.answer(message, "ACTC", now=utc_now()), money]
        if isinstance(message, StatusReport):
            money = self._money[message.original_message_id]
            if money.message_id not in self._said:  # the first answer counts
                self.settled[money.end_to_end_id] += 1
                self._said[money.message_id] = [self._report(money, self._accepted)]
            return self._said[money.message_id]
        raise AssertionError(f"nobody expects {message.kind}")

    @property
    def _accepted(self) -> str:
        return "ACTC" if self.operator.name == "rtp" else "ACSC"

    def _report(self, about: Any, status: str, *, code: str = "") -> StatusReport:
        return self.operator.report(about, status, code=code, now=utc_now())
