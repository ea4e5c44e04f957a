"""Whom a provider vouches for, however it says so."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

SKEW_SECONDS = 60  # that a provider's clock may be off


class Refused(Exception):
    """What the provider sent is not what it should be; the text is for the log and holds nothing of
    it."""


@dataclass(frozen=True, kw_only=True)
class Identity:
    """A person as their provider knows them. `email` is empty unless the provider has verified it;
    `proven_at`, in seconds since 1970, is when they last proved who they are, 0 if it does not say.
    """

    issuer: str
    subject: str
    email: str
    name: str = ""
    values: frozenset[str] = field(default_factory=frozenset)
    has_factor: bool = False
    proven_at: float = 0.0

    @property
    def uid(self) -> str:
        """The same for this issuer and subject, for no other two."""
        return hashlib.sha256(f"{self.issuer}\0{self.subject}".encode()).hexdigest()
