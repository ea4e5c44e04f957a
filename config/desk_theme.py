"""How the staff desk looks: the settings of its skin, django-unfold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from config.brand import Palette

_OURS: Mapping[str, str] = {
    "50": "oklch(97.5% .012 185)",
    "100": "oklch(94% .03 185)",
    "200": "oklch(88.5% .055 185)",
    "300": "oklch(82% .085 185)",
    "400": "oklch(74% .095 185)",
    "500": "oklch(60% .09 187)",
    "600": "oklch(46% .078 188)",
    "700": "oklch(41% .07 188)",
    "800": "oklch(35% .06 189)",
    "900": "oklch(29% .05 190)",
    "950": "oklch(22% .038 190)",
}


_LOGO = "desk.navigation.logo"
_ICON = {"rel": "icon", "type": "image/svg+xml", "href": _LOGO}


def theme(name: str, palette: Palette, *, has_logo: bool) -> dict[str, Any]:
    """The skin under the name and in the colors of the brand."""
    return {
        "SITE_TITLE": f"{name} staff desk",
        "SITE_HEADER": name,
        "SITE_SUBHEADER": "Staff desk",
        "SITE_SYMBOL": "account_balance",
        "SITE_ICON": _LOGO if has_logo else None,
        "SITE_FAVICONS": [_ICON] if has_logo else [],
        "SITE_URL": "/dashboard/",
        "BORDER_RADIUS": "6px",
        "SHOW_VIEW_ON_SITE": False,
        "DASHBOARD_CALLBACK": "desk.home.page.callback",
        "STYLES": ["desk.navigation.stylesheet", "desk.navigation.search_stylesheet"],
        "COLORS": {"primary": dict(_OURS if palette.is_ours else palette.weights)},
        "SIDEBAR": {"show_search": True},
    }
