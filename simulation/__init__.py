"""A deterministic simulation of the whole service: one seed, one history, and what was said in it.

`processes` and `scheduler` run the product's own code on a real PostgreSQL, one step at a time and
several transactions open at once; `seams` takes time, chance and database calls into one hand.
`bank` and `receivers` play the world outside, `actors` the people and the beat; `plans` is what a
seed decides, `history` lives through it; `oracles` and `promises` compare what was said with what
is so. `shrinking` makes a failure smaller, `plants` are bugs to find (docs/simulation.md).
"""

from __future__ import annotations
