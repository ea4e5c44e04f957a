"""What we wrote in place of a library, for speed or safety: see README.md here."""

from __future__ import annotations
