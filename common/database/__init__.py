"""PostgreSQL for the whole product: the rights of roles, tables whose rows stay, and what errors
mean."""

from __future__ import annotations
