"""The pages that the search knows: their names, what else people call them, who may see them."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from dashboard.shell.access import MONEY
from tenants.models import Role

_EVERYBODY = tuple(Role)
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True)
class Page:
    """A page without an id in its address. `words` are other names for it."""

    view: str
    title: str
    words: str
    roles: Collection[str] = _EVERYBODY


# In the order in which they are offered before anything is typed.
PAGES = (
    Page("dashboard:overview", "Overview", "home dashboard balance start available chart"),
    Page("dashboard:pay", "Pay", "new payment send money out transfer wire credit", MONEY),
    Page("dashboard:topup", "Add money", "top-up topup deposit fund debit new funding", MONEY),
    Page("dashboard:transactions", "Transactions", "ledger lines history balance export csv"),
    Page("dashboard:payments", "Payments", "money out sent transfers outgoing"),
    Page("dashboard:funding", "Funding", "money in top-ups deposits debits incoming"),
    Page("dashboard:approvals", "Approvals", "approve decline requests waiting confirmations"),
    Page("dashboard:recipients", "Recipients", "payees vendors suppliers beneficiaries contacts"),
    Page("dashboard:recipient_add", "Add a recipient", "new payee vendor supplier", MONEY),
    Page("dashboard:bank_accounts", "Bank accounts", "funding sources linked banks verify"),
    Page("dashboard:bank_account_enter", "Add a bank account", "new link source routing", MONEY),
    Page("dashboard:authorizations", "Authorizations", "mandates debits agreements revoke"),
    Page("dashboard:auto_funding", "Auto-funding", "automatic autofunding refill rule threshold"),
    Page("dashboard:auto_funding_settings", "Auto-funding settings", "rule edit change", MONEY),
    Page("dashboard:statements", "Statements", "monthly months pdf reports accounting"),
    Page("dashboard:payment_limits", "Payment limits", "maximum daily caps spending controls"),
    Page("dashboard:payment_approval", "Payment approval", "threshold second person", ("owner",)),
    Page("dashboard:developers", "Quickstart", "developers integration start code curl"),
    Page("dashboard:api_keys", "API keys", "tokens secrets credentials scopes", MONEY),
    Page("dashboard:webhooks", "Webhooks", "endpoints callbacks deliveries urls"),
    Page("dashboard:webhook_register", "Add a webhook endpoint", "new url callback", ("owner",)),
    Page("dashboard:events", "Events", "webhook notifications happened"),
    Page("dashboard:requests", "Request log", "api calls logs errors debugging"),
    Page("docs:index", "Documentation", "docs help manual developers"),
    Page("docs:guide", "Guide", "documentation help tutorial examples"),
    Page("docs:reference", "API reference", "documentation endpoints openapi schema"),
    Page("docs:errors", "Error codes", "documentation problems refusals"),
    Page("dashboard:team", "Team", "people members users roles owners colleagues"),
    Page("dashboard:team_invite", "Invite somebody", "add person member user", ("owner",)),
    Page("dashboard:settings", "Settings", "organization company preferences limits retries"),
    Page("dashboard:notifications", "Notifications", "emails alerts mail preferences"),
    Page("dashboard:audit_log", "Audit log", "history who did what changes security", ("owner",)),
    Page("profile", "Your profile", "account me name email password user"),
    Page("mfa_index", "Security", "two-factor second factor 2fa passkey authenticator password"),
    Page("usersessions_list", "Sessions", "signed in devices browsers sign out"),
)


def for_role(role: str) -> list[Page]:
    """The pages that a person in this role may see."""
    return [page for page in PAGES if role in page.roles]


def called(text: str, *, role: str) -> list[Page]:
    """Those pages, those first whose own name begins with `text`."""
    found = [page for page in for_role(role) if is_called(text, f"{page.title} {page.words}")]
    return sorted(found, key=lambda page: not page.title.lower().startswith(text.lower().strip()))


def is_called(text: str, names: str) -> bool:
    """Whether every word of `text` is the beginning of a word of `names`."""
    asked, known = _WORD.findall(text.lower()), _WORD.findall(names.lower())
    return bool(asked) and all(any(word.startswith(item) for word in known) for item in asked)
