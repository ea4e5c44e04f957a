"""Another brand, worn by a test, and what of ours may be left where it is."""

from __future__ import annotations

import re

from config import brand, desk_theme

NAME = "Harborline & Co"
SHOWN = "Harborline &amp; Co"
PALETTE = brand.palette(light="#1d4ed8", dark="#93c5fd")
LOGO = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">'
    b'<circle cx="12" cy="12" r="9" fill="#1d4ed8"/></svg>'
)
MAILBOX = "help@harborline.example"
HELP = "https://harborline.example/help"
# Names of packages and classes are part of the interface, so they stay.
_CODE = re.compile(r"import (\{ )?Ballast\b|\bBallast\(|Ballast-Webhooks/")


def wear(settings):
    settings.BRAND_NAME = NAME
    settings.BRAND_PALETTE = PALETTE
    settings.BRAND_LOGO = LOGO
    settings.BRAND_SUPPORT_EMAIL = MAILBOX
    settings.BRAND_SUPPORT_URL = HELP
    settings.DEFAULT_FROM_EMAIL = '"Harborline & Co" <no-reply@harborline.example>'
    settings.UNFOLD = desk_theme.theme(NAME, PALETTE, has_logo=True)


def left(text):
    """Where our own name is left in a page or mail: the surroundings of each place."""
    text = re.sub(r"<[^>]*>", "", text) if _CODE.search(re.sub(r"<[^>]*>", "", text)) else text
    shown = _CODE.sub("", text)
    return [shown[max(0, at.start() - 60) : at.end() + 40] for at in re.finditer("Ballast", shown)]
