"""What this app tells the apps above. A signal that shortens a wait has receivers that also sweep;
the receivers of `owner_left` act in its transaction, or it does not happen."""

from __future__ import annotations

from django.dispatch import Signal

# A suspension was lifted. Sent by `tenants.services.accounts` with `tenant_id` and `now`, in the
# transaction that lifts it.
tenant_released = Signal()

# Somebody has an owner's say no more. Sent by `tenants.services.leaving` with `tenant_id`,
# `user_id`, `actor` and `now`, in the transaction that ends it, which has locked the tenant.
# Receivers answer with a list of what they ended, in words.
owner_left = Signal()
