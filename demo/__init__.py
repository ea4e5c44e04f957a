"""For development only: the demo tenant of `./run`, the story of `./run demo`, the pictures."""

from __future__ import annotations
