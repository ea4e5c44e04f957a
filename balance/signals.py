"""The one piece of news the ledger sends upwards."""

from __future__ import annotations

from django.dispatch import Signal

# A posting lowered the available balance and left less than `notify_below`. Sent by
# `balance.services` with `tenant_id`, `available` (cents) and `now`, in the posting's transaction.
# It only shortens a wait: whoever must act on a low balance also sweeps.
available_balance_fell = Signal()
