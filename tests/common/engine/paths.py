"""Tests of what only the fast path through the database can do."""

from __future__ import annotations

import pytest
from django.conf import settings

fast_path_only = pytest.mark.skipif(
    not settings.DATABASE_FAST_PATH, reason="every statement goes through Django's own cursor"
)
