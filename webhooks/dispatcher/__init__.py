"""Delivers what is due: claims rows, sends them on one event loop, records what happened.

`claims` and `results` are the two ends in the database, `outcomes` decides what an answer means,
`sender` makes the request, `loop` turns the wheel, `heartbeats` says that somebody does.
"""

from __future__ import annotations
