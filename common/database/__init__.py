"""PostgreSQL for the whole product: who may do what, rows that stay, and what its errors mean."""

from __future__ import annotations
