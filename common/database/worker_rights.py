"""What workers may do: whatever the product does, but for what is written here (decision 0190).

A worker moves money as the ledger's functions let it, and has little to do with people: it makes
nobody, gives no power, and does not learn what opens an account. A table to come opens itself to
workers as it does to the product, until it is named here.
"""

from __future__ import annotations

from collections.abc import Mapping

from common.database import rights
from common.database.rights import NONE, READ_ONLY, Needs, Rights

# How people prove who they are, what packages keep, what staff note of their work, and what the
# audit alone writes or reads.
_NEVER = frozenset(
    {
        "account_emailaddress",
        "account_emailconfirmation",
        "balance_checkpoint",
        "balance_closed_month_total",
        "balance_full_proof",
        "balance_ledger_check",
        "desk_assignment",
        "desk_itemnote",
        "django_admin_log",
        "django_migrations",
        "django_session",
        "mfa_authenticator",
        "seals_auditstream",
        "seals_seal",
        "seals_sealpublication",
        "seals_sealround",
        "socialaccount_socialaccount",
        "socialaccount_socialtoken",
        "tenants_user_user_permissions",
        "usersessions_usersession",
    }
)
# What people decide: who may do what, how much, and with whom.
_ONLY_READ = frozenset(
    {
        "ach_achkey",
        "ach_achproposal",
        "ach_achrail",
        "ach_railswitch",
        "ach_railversion",
        "auth_group",
        "auth_group_permissions",
        "auth_permission",
        "balance_adjustment",
        "balance_adjustment_proposal",
        "balance_operator_day",
        "django_content_type",
        "funding_fundinglimit",
        "funding_retryrule",
        "instant_instantkey",
        "instant_instantrail",
        "instant_instantversion",
        "instant_participant",
        "instant_participantlist",
        "instant_positionmove",
        "network_inbox_handsettlement",
        "payments_paymentsettings",
        "rails_rail",
        "rails_route",
        "reconciliation_clearing",
        "reconciliation_transitnote",
        "tenants_membership",
        "tenants_staffpower",
        "tenants_switch",
        "tenants_user_groups",
    }
)
_SOME: Mapping[str, Rights] = {
    # To lock it.
    "reconciliation_settlementaccount": READ_ONLY._replace(update=("id",)),
    "tenants_tenant": READ_ONLY._replace(update=("id",)),
    "funding_autofundingconfig": Rights(
        insert=False,
        update=(
            "failures_in_a_row",
            "last_decline_reason",
            "last_triggered_at",
            "low_since",
            "paused_reason",
            "paused_until",
        ),
    ),
    # Approvals end without an answer; whoever is asked for the first time, or again, is noted.
    **dict.fromkeys(
        ("funding_confirmation", "payments_paymentconfirmation"),
        Rights(
            update=(
                "approvers",
                "decided_at",
                "decided_by",
                "decision",
                "decline_reason",
                "reminded_at",
            )
        ),
    ),
    **dict.fromkeys(
        ("funding_confirmationlink", "payments_paymentconfirmationlink"), Rights(update=False)
    ),
    "tenants_accessproposal": Rights(
        insert=False, update=("decided_at", "decided_by_id", "decision", "decision_note")
    ),
    # The mailer makes the link that it sends, of which the digest is kept.
    "tenants_invitation": Rights(insert=False, update=("digest",)),
    "tenants_outgoingemail": Rights(
        update=(
            "attempts",
            "failed_at",
            "last_error",
            "lease_version",
            "leased_until",
            "next_attempt_at",
            "sent_at",
        )
    ),
    "tenants_apikey": READ_ONLY,
    "tenants_user": READ_ONLY,
    "webhooks_webhookendpoint": READ_ONLY,  # the dispatcher's login switches them off
}
# What people decided, and whose word it is: a worker changes the rest of such a row.
_DECIDED: Mapping[str, frozenset[str]] = {
    "ach_achreversal": frozenset({"decided_at", "decided_by", "proposed_at", "proposed_by"}),
    "ach_originator": frozenset({"daily_credit_max"}),
    "ach_outfile": frozenset({"first_released_at", "first_released_by", "released_by"}),
    "ach_spokenanswer": frozenset({"decided_by", "proposed_at", "proposed_by"}),
    "funding_fundingtransaction": frozenset(
        {"confirmed_at", "created_by_id", "created_by_type", "requires_confirmation"}
    ),
    "instant_conversation": frozenset({"resolution", "resolved_at", "resolved_by"}),
    "instant_message": frozenset({"resolution", "resolved_at", "resolved_by"}),
    "instant_returnask": frozenset(
        {
            "decided_at",
            "decided_by",
            "gives_back",
            "proposed_at",
            "proposed_by",
            "proposed_why",
            "reason_code",
            "status",
        }
    ),
    # It changes `confirmed_at` and `second_look_at` where it keeps a payment back whose payer left;
    # triggers let no payment go by that (decision 0196).
    "payments_payment": frozenset({"created_by_id", "created_by_type", "requires_confirmation"}),
    "reconciliation_match": frozenset({"voided_at", "voided_by", "voided_why"}),
}
# It opens the lines to banks.
_READ_ALL = frozenset({"ach_achkey", "instant_instantkey"})
_MAILS_WITH_LINKS = "('password_reset', 'staff_enrolment', 'enrolment')"
_IS_NOBODYS = "actor_type IN ('system', 'network')"
_INSERTS: Mapping[str, str] = {
    "funding_confirmation": "decision = 'open'",
    "payments_paymentconfirmation": "decision = 'open'",
    # What people match, book and close, they do at the desk or by a command.
    "reconciliation_bookedline": "booked_by = ''",
    "reconciliation_closedday": "closed_by = ''",
    "reconciliation_match": "made_by = ''",
    # Any other line would say that a person did it, or is behind a key.
    "tenants_auditevent": _IS_NOBODYS,
    # Only who asked for such a link is mailed one.
    "tenants_outgoingemail": f"template NOT IN {_MAILS_WITH_LINKS}",
}
_UPDATES: Mapping[str, str] = {
    "funding_confirmation": "decision IN ('open', 'expired', 'superseded')",
    "payments_paymentconfirmation": "decision IN ('open', 'expired', 'superseded')",
    "tenants_accessproposal": "decision = 'expired'",
    "tenants_invitation": "accepted_at IS NULL AND revoked_at IS NULL",
}
# Who holds a key, and whose address it is, are questions of requests.
_FUNCTIONS = rights.FUNCTIONS - {
    "funding_find_link",
    "payments_find_link",
    "tenants_find_invitation",
    "tenants_find_key",
    "tenants_find_session",
    "tenants_find_person",
    "tenants_has_password",
    "tenants_link_states",
}


def needs() -> Needs:
    """What the role of workers works with, once the models are known."""
    every = rights.of_tables()
    tables = {name: _of_table(name, given) for name, given in every.items()}
    named = {name: given for name, given in tables.items() if given != NONE}
    return Needs(named, _FUNCTIONS, inserts=_INSERTS, updates=_UPDATES)


def _of_table(name: str, given: Rights) -> Rights:
    if name in _NEVER:
        return NONE
    left = READ_ONLY if name in _ONLY_READ else _SOME.get(name, given)
    if decided := _DECIDED.get(name):
        left = left._replace(update=_but(name, left.update, decided))
    hidden = None if name in _READ_ALL else rights.SECRETS.get(name)
    return left._replace(read=rights.columns_but(name, hidden)) if hidden else left


def _but(table: str, update: bool | tuple[str, ...], decided: frozenset[str]) -> tuple[str, ...]:
    """The columns that may be changed, without those that people decide."""
    columns = rights.columns_but(table, frozenset()) if update is True else update or ()
    return tuple(column for column in columns if column not in decided)
