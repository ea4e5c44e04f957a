"""The message handlers of the apps above, by the prefix of the ids that messages are about."""

from __future__ import annotations

from typing import Any

from transfers.contract import MessageHandler, Transfer

_handlers: dict[str, MessageHandler[Any]] = {}


def register(*handlers: MessageHandler[Any]) -> None:
    """Have these handlers get the messages about ids with their prefixes."""
    _handlers.update({handler.id_prefix: handler for handler in handlers})


def of(row_id: str) -> MessageHandler[Any] | None:
    """The handler for a row with this id; None if no app has such ids."""
    known = (handler for prefix, handler in _handlers.items() if row_id.startswith(prefix))
    return next(known, None)


def hides_amount(row_id: str) -> bool:
    """Whether nobody may see how much a row with this id moves."""
    handler = of(row_id)
    return handler is not None and handler.hides_amounts


def transfers() -> list[Transfer[Any]]:
    """What is handed to networks, of all apps."""
    return [handler for handler in _handlers.values() if isinstance(handler, Transfer)]
