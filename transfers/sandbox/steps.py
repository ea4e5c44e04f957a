"""Lets a sandbox tenant play its bank: one step of one transfer, whichever app it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from types import MappingProxyType
from typing import Any

from common.errors import Conflict, NotFound
from networks.sandbox import control
from transfers import submission
from transfers.contract import Transfer
from transfers.inbox import messages

ADVANCE = "advance"
_STEPS = MappingProxyType[str, Callable[..., object]](
    {
        ADVANCE: control.advance,
        "complete": control.complete,
        "fail": control.fail,
        "return": control.return_entry,
    }
)
NAMES = tuple(_STEPS)


class SandboxRefused(Conflict):
    code = "sandbox_refused"
    title = "No bank could do this now"
    advice = "Read the object: its status does not allow this step."


def require(name: str) -> None:
    """Raises NotFound for a step that does not exist."""
    if name not in NAMES:
        raise NotFound(f"There is no step {name[:20]}. Steps: {', '.join(NAMES)}.")


def take(name: str, transfer: Transfer[Any], row: Any, *, now: datetime) -> None:
    """Make the bank do `name` with `row` now, and apply it. `row` itself is not brought up to date.

    A row that no bank has seen is handed over first; for `advance` that is the step. Calls the
    network, so it must not run in a transaction. Raises SandboxRefused.
    """
    was_unsent = transfer.due().filter(pk=row.pk).exists()
    if was_unsent:
        submission.submit_due(transfer, now=now, only=row.pk)
    if was_unsent and name == ADVANCE:
        return
    try:
        _STEPS[name](row.pk, network=row.network, now=now)
    except control.ControlRefused as refusal:
        status = str(row.status)
        raise SandboxRefused(_sentence(refusal, status), current_status=status) from refusal
    messages.process(transfer, now=now)


def _sentence(refusal: control.ControlRefused, status: str) -> str:
    """The refusal as a sentence. `str.capitalize` would turn R01 and RTP into lower case."""
    if isinstance(refusal, control.UnknownInstruction):
        return f"No bank has been handed this: it is {status}."
    words = str(refusal)
    return f"{words[0].upper()}{words[1:]}."
