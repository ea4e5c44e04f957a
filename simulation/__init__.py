"""A deterministic simulation of the whole service: the same seed gives the same history.

`processes` and `scheduler` run the product's own code on a real PostgreSQL, one step at a time and
with several transactions open at once. `seams` replaces time, chance and database calls. `bank` and
`receivers` play the outside world, `actors` the people and the periodic tasks. `plans` is what a
seed decides, `history` runs it. `oracles` and `promises` compare what clients and people were told
with what is stored. `shrinking` makes a failure smaller, `plants` are bugs to find
(docs/simulation.md).
"""

from __future__ import annotations
