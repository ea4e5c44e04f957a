"""Which line of the navigation a page belongs to."""

from __future__ import annotations

# How the names of the pages begin that are reached through each of the lines.
_BELOW = {
    "dashboard:transactions": ("statement",),
    "dashboard:funding": ("funding_", "topup"),
    "dashboard:payments": ("payment_", "pay"),
    "dashboard:recipients": ("recipient",),
    "dashboard:approvals": ("approval",),
    "dashboard:auto_funding": ("auto_funding_",),
    "dashboard:bank_accounts": ("bank_account_",),
    "dashboard:api_keys": ("api_key_",),
    "dashboard:webhooks": ("webhook", "delivery"),
    "dashboard:events": ("event",),
    "dashboard:requests": ("request",),
    "dashboard:team": ("team_", "member_"),
    "dashboard:settings": ("notifications",),
}


def current(line: str, *, page: str) -> str:
    """`aria-current` of the line: `page` on its own page, `true` on those below, else nothing."""
    if page == line:
        return "page"
    namespace, _, name = page.partition(":")
    return "true" if namespace == "dashboard" and name.startswith(_BELOW.get(line, ())) else ""
