"""Which e-mails a member may switch off, and who gets them by default.

Requests for approval and news about one's own account always go out.
"""

from __future__ import annotations

from dataclasses import dataclass

from tenants.models import Role


@dataclass(frozen=True)
class Notice:
    """`key` is stored with a membership; `roles` get the message unless they switch it off."""

    key: str
    label: str
    meaning: str
    roles: tuple[Role, ...]
    templates: tuple[str, ...]


_MONEY = (Role.OWNER, Role.MEMBER)

NOTICES = (
    Notice(
        key="returns",
        label="Failures and returns",
        meaning="The bank refused money, or took it back.",
        roles=_MONEY,
        templates=("funding_returned",),
    ),
    Notice(
        key="corrections",
        label="Corrected accounts",
        meaning="A bank corrected the number or routing number of an account that you use.",
        roles=_MONEY,
        templates=("account_corrected",),
    ),
    Notice(
        key="auto_funding",
        label="Auto-funding stopped or skipped",
        meaning="The balance needed money, and none was added.",
        roles=_MONEY,
        templates=("auto_funding_paused", "auto_funding_skipped"),
    ),
    Notice(
        key="low_balance",
        label="Low balance",
        meaning="The balance fell below the threshold of auto-funding, each time it does.",
        roles=(),
        templates=("balance_low",),
    ),
    Notice(
        key="reviews",
        label="Reviews",
        meaning="Our staff look at money before it is sent, and what came of it.",
        roles=_MONEY,
        templates=("review",),
    ),
    Notice(
        key="webhooks",
        label="Webhook endpoints",
        meaning="An endpoint fails for a day or longer, or was switched off.",
        roles=(Role.OWNER,),
        templates=("webhook_failing", "webhook_disabled"),
    ),
)

_BY_TEMPLATE = {template: notice for notice in NOTICES for template in notice.templates}


def of_template(template: str) -> Notice:
    """The notice of this template. Raises KeyError for one that always goes out."""
    return _BY_TEMPLATE[template]


def wants(notice: Notice, *, role: str, chosen: dict[str, bool]) -> bool:
    """Whether somebody in `role` with these choices gets it."""
    return chosen.get(notice.key, role in notice.roles)
