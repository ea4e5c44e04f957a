"""What each job that has a login of its own may do (decision 0180)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common.database.jobs import DISPATCHER
from common.database.rights import READ_ONLY, Needs, Rights

_ADD_ONLY = Rights(update=False, read=False)
_DISPATCHERS: Mapping[str, Rights] = {
    "webhooks_dispatcherheartbeat": Rights(delete=True),
    "webhooks_webhookattempt": Rights(update=False, read=("delivery_id", "number")),
    "webhooks_webhookdelivery": Rights(
        insert=False,
        update=(
            "attempts",
            "delivered_at",
            "failures",
            "is_parked",
            "last_error",
            "last_status_code",
            "lease_version",
            "leased_until",
            "next_attempt_at",
            "status",
        ),
    ),
    # An endpoint that answered 410 is switched off at once.
    "webhooks_webhookendpoint": Rights(
        insert=False,
        update=(
            "consecutive_failures",
            "disabled_reason",
            "first_failure_at",
            "last_success_at",
            "paused_until",
            "status",
            "updated_at",
            "warnings_sent",
        ),
    ),
    "webhooks_webhookevent": READ_ONLY._replace(read=("id", "body")),
    # Whether deliveries are stopped, and in which mode the tenant is.
    "tenants_switch": READ_ONLY._replace(read=("kind", "released_at", "tenant_id")),
    "tenants_tenant": READ_ONLY,
    # Then its owners are told.
    "tenants_auditevent": _ADD_ONLY,
    "tenants_outgoingemail": _ADD_ONLY,
    "tenants_membership": READ_ONLY,
    "tenants_user": READ_ONLY._replace(read=("id", "email", "is_active")),
}

NEEDS: Final[Mapping[str, Needs]] = {DISPATCHER: Needs(_DISPATCHERS)}
