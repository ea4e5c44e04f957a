"""What the ledger tells the apps above. A signal only shortens a wait: receivers that must act also
sweep."""

from __future__ import annotations

from django.dispatch import Signal

# A posting lowered the available balance and left less than `notify_below`. Sent by
# `balance.services` with `tenant_id`, `available` (cents), `now` and the `source_type` of what was
# posted, in the posting's transaction.
available_balance_fell = Signal()

# A posting raised the available balance of a tenant with `notify_rise`. It has the same arguments
# and is sent in the same transaction; receivers must not touch the balance there, only wake
# somebody after commit.
available_balance_rose = Signal()
