"""The news of tenants for the apps above. It only shortens a wait: whoever must act also sweeps."""

from __future__ import annotations

from django.dispatch import Signal

# A suspension was lifted. Sent by `tenants.services.accounts` with `tenant_id` and `now`, in the
# transaction that lifts it.
tenant_released = Signal()
