"""What each job that has a login of its own may do (decisions 0180, 0181,
0190, 0191)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from common.database import desk_rights, rights, worker_rights
from common.database.jobs import AUDIT, DESK, DISPATCHER, WORKER
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

# What it tells of an endpoint that fails. Any other mail may bring a link that opens an account,
# and any other line may say that somebody is behind a key.
_DISPATCHERS_INSERTS: Mapping[str, str] = {
    "tenants_auditevent": "actor_type = 'system' AND action = 'webhook.disabled'",
    "tenants_outgoingemail": "template IN ('webhook_disabled', 'webhook_failing')",
}

# The audit proves rows of every table, but for these: sessions, second factors, invitations and
# what else packages keep.
_NEVER_AUDITED = frozenset(
    {
        "account_emailaddress",
        "account_emailconfirmation",
        "auth_group_permissions",
        "auth_permission",
        "django_admin_log",
        "django_content_type",
        "django_migrations",
        "django_session",
        "mfa_authenticator",
        "socialaccount_socialaccount",
        "socialaccount_socialtoken",
        "tenants_invitation",
        "tenants_user_user_permissions",
        "usersessions_usersession",
    }
)
# Columns that say who somebody is, or open something.
_SECRETS: Mapping[str, frozenset[str]] = {
    "ach_achkey": frozenset({"private_key_token"}),
    "instant_instantkey": frozenset({"private_key_token"}),
    "tenants_user": frozenset({"password"}),
    "webhooks_webhookendpoint": frozenset({"previous_secret_token", "secret_token"}),
}
# Its own rows: what it found, how far it proved, seals, and what was published or streamed.
_AUDITS_OWN: Mapping[str, Rights] = {
    "balance_checkpoint": Rights(),
    "balance_closed_month_total": Rights(update=False),
    "balance_full_proof": Rights(),
    "balance_ledger_check": Rights(delete=True),
    "balance_operator_day": Rights(update=False),
    "seals_auditstream": Rights(),
    "seals_seal": Rights(update=False),
    "seals_sealpublication": Rights(update=False, delete=True),
    "seals_sealround": Rights(update=False),
}


@cache
def needs_of(job: str) -> Needs:
    """What the role of this job works with, once the models are known."""
    return _MAKERS[job]()


def _of_audit() -> Needs:
    names = frozenset({"tenants_name_people"})
    return Needs({**_audited(), **_AUDITS_OWN}, names, is_told_of_transactions=True)


def _audited() -> dict[str, Rights]:
    """Every other table, to be read."""
    tables = rights.of_tables().keys() - _NEVER_AUDITED
    return {name: READ_ONLY._replace(read=_open_columns(name)) for name in tables}


def _open_columns(table: str) -> bool | tuple[str, ...]:
    """All but the secret ones; True where there are none."""
    hidden = _SECRETS.get(table)
    return True if hidden is None else rights.columns_but(table, hidden)


_MAKERS: Mapping[str, Callable[[], Needs]] = {
    DISPATCHER: lambda: Needs(_DISPATCHERS, inserts=_DISPATCHERS_INSERTS),
    AUDIT: _of_audit,
    WORKER: worker_rights.needs,
    DESK: desk_rights.needs,
}
