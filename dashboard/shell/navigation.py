"""The navigation of a tenant's pages, and which line of it a page belongs to."""

from __future__ import annotations

from functools import lru_cache

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

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


@lru_cache(maxsize=512)  # of about 150 pages for three kinds of readers, 5 KB each
def rendered(page: str, *, may_move_money: bool, is_owner: bool) -> SafeString:
    """The lines as HTML. They are kept because they took a third of the time of a small page, and
    say nothing of a tenant: only which page is shown, and what the reader's role may open."""
    values = {"page": page, "may_move_money": may_move_money, "is_owner": is_owner}
    return render_to_string("components/navigation.html", values)


def current(line: str, *, page: str) -> str:
    """`aria-current` of the line: `page` on its own page, `true` on those below, else nothing."""
    if page == line:
        return "page"
    namespace, _, name = page.partition(":")
    return "true" if namespace == "dashboard" and name.startswith(_BELOW.get(line, ())) else ""
