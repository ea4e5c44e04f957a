"""Messages of payment networks: stored before they are applied, and kept."""

from __future__ import annotations
