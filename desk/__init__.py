"""The staff desk's own pages inside Django's admin: what crosses the apps' boundaries."""

from __future__ import annotations
