"""Ties lines of bank statements to what the books expect: `tying` does it, `rules` say which lines
belong together, and `running` tries the rules."""

from __future__ import annotations

from reconciliation.matching.tying import tie, untie

__all__ = ["tie", "untie"]
