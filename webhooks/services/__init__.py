"""What changes webhook endpoints, events and deliveries."""

from __future__ import annotations
