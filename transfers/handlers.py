"""Whose a row is that a network speaks of: the handlers of the apps above, by the prefix of ids."""

from __future__ import annotations

from typing import Any

from transfers.contract import MessageHandler

_handlers: dict[str, MessageHandler[Any]] = {}


def register(*handlers: MessageHandler[Any]) -> None:
    """Messages about ids with their prefixes belong to these."""
    _handlers.update({handler.id_prefix: handler for handler in handlers})


def of(row_id: str) -> MessageHandler[Any] | None:
    """Whose a row of this id is; None for an id that nobody knows."""
    known = (handler for prefix, handler in _handlers.items() if row_id.startswith(prefix))
    return next(known, None)
