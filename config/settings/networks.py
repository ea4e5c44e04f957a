"""Banks: how money moves, and how accounts are linked."""

from __future__ import annotations

from config.env import (
    all_or_none,
    choice,
    count,
    dated_limits,
    flag,
    only_on_this_machine,
    text,
    web_address,
)
from config.settings.deployment import BASE_URL

# How fast the sandbox bank moves: instant, seconds or banking_days.
SANDBOX_PACE = text("SANDBOX_PACE", default="seconds")
# Lets live tenants use a stand-in where a route says so: on a developer's machine only.
DEVELOPMENT_ROUTES = flag("DEVELOPMENT_ROUTES", default=False)
# Where the stand-in bank of a development copy, whose days pass in seconds, says what its clock
# shows. Its files, and what is due between banks, are then dated by that clock.
ACH_BANK_CLOCK = text("ACH_BANK_CLOCK", default="")
only_on_this_machine(
    BASE_URL, DEVELOPMENT_ROUTES=DEVELOPMENT_ROUTES, ACH_BANK_CLOCK=bool(ACH_BANK_CLOCK)
)
# How long a process uses what it read about routes. None (in tests): until it changes one itself.
ROUTES_KNOWN_SECONDS: int | None = 3
# Messages of networks that are applied in one transaction where they are plain; 1: each alone.
NETWORK_MESSAGES_PER_SET = count("NETWORK_MESSAGES_PER_SET", default=200, minimum=1)

# Limits of instant networks that begin on a day, for one payment, in cents. Before that: those that
# are known here (`networks/instant/iso/profiles.py`).
INSTANT_LIMITS = dated_limits("INSTANT_LIMITS", networks=("rtp", "fednow"))

# Bank linking of live tenants: Plaid, connected when it has an id and a secret.
PLAID_CLIENT_ID = text("PLAID_CLIENT_ID", default="")
PLAID_SECRET = text("PLAID_SECRET", default="")
all_or_none(PLAID_CLIENT_ID=PLAID_CLIENT_ID, PLAID_SECRET=PLAID_SECRET)
PLAID_ENVIRONMENT = choice("PLAID_ENVIRONMENT", of=("production", "sandbox"))
PLAID_HOST = web_address("PLAID_HOST", default=f"https://{PLAID_ENVIRONMENT}.plaid.com")
PLAID_LINK_SCRIPT = web_address(
    "PLAID_LINK_SCRIPT", default="https://cdn.plaid.com/link/v2/stable/link-initialize.js"
)
# True once the address of our link page is entered at Plaid, which refuses any other.
PLAID_RETURN = flag("PLAID_RETURN", default=False)
