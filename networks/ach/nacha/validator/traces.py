"""Which trace numbers a file has had: a bit for each of a bank's ten million."""

from __future__ import annotations

_SEQUENCES = 10_000_000
_BANKS_MAX = 8


class Traces:
    """Needs 1.25 MB for each sending bank, however many entries there are."""

    def __init__(self) -> None:
        self._seen: dict[str, bytearray] = {}

    def is_new(self, trace: str) -> bool:
        """Notes a trace number of 15 digits. Beyond eight banks nothing is noted."""
        bits = self._seen.get(trace[:8])
        if bits is None:
            if len(self._seen) == _BANKS_MAX:
                return True
            bits = self._seen[trace[:8]] = bytearray(_SEQUENCES // 8)
        place, bit = divmod(int(trace[8:]), 8)
        if bits[place] >> bit & 1:
            return False
        bits[place] |= 1 << bit
        return True
