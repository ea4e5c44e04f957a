"""The demo tenant and what it has lived through, made by `./run manage seed_demo`."""

from __future__ import annotations
