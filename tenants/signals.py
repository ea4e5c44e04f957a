"""What this app tells the apps above. A signal only shortens a wait: receivers that must act also
sweep."""

from __future__ import annotations

from django.dispatch import Signal

# A suspension was lifted. Sent by `tenants.services.accounts` with `tenant_id` and `now`, in the
# transaction that lifts it.
tenant_released = Signal()
