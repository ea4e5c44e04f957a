"""Which network carries what: rails as they are known by name, and the routes that lead to them."""

from __future__ import annotations
