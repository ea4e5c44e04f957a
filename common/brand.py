"""What this deployment calls itself and its own people, wherever they are named in sentences."""

from __future__ import annotations

from django.conf import settings


def name() -> str:
    """The product's name."""
    brand: str = settings.BRAND_NAME
    return brand


def support() -> str:
    """What our own staff are called to tenants."""
    return f"{name()} support"
