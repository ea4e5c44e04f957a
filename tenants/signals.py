"""What this app tells the apps above. A signal that shortens a wait has receivers that also sweep;
those of `member_left` and `key_revoked` act in its transaction, or it does not happen."""

from __future__ import annotations

from enum import StrEnum

from django.dispatch import Signal


class Leaving(StrEnum):
    """How somebody leaves, as a sentence about them says it."""

    REMOVED = "was removed from the team"
    DEMOTED = "was given another role"
    CLOSED = "had the account closed by support"


# A suspension was lifted. Sent by `tenants.services.accounts` with `tenant_id` and `now`, in the
# transaction that lifts it.
tenant_released = Signal()

# Somebody is removed, gets another role than owner, or has the account closed. Sent by
# `tenants.services.leaving` with `tenant_id`, `user_id`, `how` (a `Leaving`), `actor`, `now` and
# `canceled`, the ids of what whoever acts chose to cancel, in the transaction that does it, which
# has locked the tenant and the person's keys. Receivers answer with what they ended, in words, by
# its label.
member_left = Signal()

# A key is revoked by itself, not because whoever is behind it leaves. Sent by
# `tenants.services.keys` with `tenant_id`, `key_id`, `actor` and `now`, in the transaction that
# revokes it, which has locked the key.
key_revoked = Signal()
