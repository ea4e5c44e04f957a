"""What the product is called here and how it looks: white label."""

from __future__ import annotations

from config import brand
from config.env import text

BRAND_NAME = brand.name("BRAND_NAME", text("BRAND_NAME", default=brand.NAME))
BRAND_MAIL_SENDER = brand.name("BRAND_MAIL_SENDER", text("BRAND_MAIL_SENDER", default=BRAND_NAME))
BRAND_SUPPORT_EMAIL = brand.address("BRAND_SUPPORT_EMAIL", text("BRAND_SUPPORT_EMAIL", default=""))
BRAND_SUPPORT_URL = brand.https_address("BRAND_SUPPORT_URL", text("BRAND_SUPPORT_URL", default=""))
BRAND_LOGO = brand.logo(text("BRAND_LOGO", default=""))
BRAND_PALETTE = brand.palette(
    light=text("BRAND_ACCENT_LIGHT", default="").lower(),
    dark=text("BRAND_ACCENT_DARK", default="").lower(),
)
