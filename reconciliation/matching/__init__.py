"""Ties lines of bank statements to what the books expect: `tying` does it, `rules` say which lines
belong together, and `running` tries the rules."""

from __future__ import annotations

from reconciliation.matching.tying import Pair, tie, tie_pairs, untie

__all__ = ["Pair", "tie", "tie_pairs", "untie"]
