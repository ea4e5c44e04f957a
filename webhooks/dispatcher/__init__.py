"""Delivers what is due: claims rows, sends them on one event loop, records what happened.

`claims` and `results` read and write the database, `outcomes` decides what an answer means,
`sender` makes the request, `loop` does one after the other, and `heartbeats` notes that a
dispatcher is alive.
"""

from __future__ import annotations
