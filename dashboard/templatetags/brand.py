"""The brand in templates. These are builtins: pages of errors and e-mails are rendered without a
request, so a context processor would not reach them."""

from __future__ import annotations

from django import template
from django.conf import settings

from dashboard.shell import brand_files

register = template.Library()


@register.simple_tag
def brand_name() -> str:
    return str(settings.BRAND_NAME)


@register.simple_tag
def brand_stylesheet() -> str:
    """The address of the stylesheet with the deployment's accent; empty where it has none."""
    return brand_files.stylesheet_address()


@register.simple_tag
def brand_logo() -> str:
    """The address of the deployment's logo; empty where it has none."""
    return brand_files.logo_address()


@register.simple_tag
def brand_accent(mode: str) -> str:
    """The accent of `light` or `dark`, for e-mails, which take no stylesheet."""
    return str(getattr(settings.BRAND_PALETTE, mode).accent)


@register.simple_tag
def brand_on_accent() -> str:
    """What is written on the accent in e-mails."""
    return str(settings.BRAND_PALETTE.light.on_accent)


@register.simple_tag
def brand_support_email() -> str:
    return str(settings.BRAND_SUPPORT_EMAIL)


@register.simple_tag
def brand_support_url() -> str:
    return str(settings.BRAND_SUPPORT_URL)
