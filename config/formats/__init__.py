"""How values look where Django writes them: at the staff desk."""

from __future__ import annotations
