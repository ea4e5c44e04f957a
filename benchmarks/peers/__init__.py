"""What others would use instead, each in processes of its own."""

from __future__ import annotations
