"""What requests of the staff's desk may do (decision 0191): whatever the product does, but for what
is written here.

Staff look after all tenants, and hold nobody's credentials: they make no key, read no password, and
order no money. What two of them propose and approve is done under this login.
"""

from __future__ import annotations

from collections.abc import Mapping

from common.database import rights
from common.database.rights import NONE, READ_ONLY, Needs, Rights

# What workers, sign-in and requests of keys write and read alone.
_NEVER = frozenset(
    {
        "account_emailconfirmation",
        "django_migrations",
        "socialaccount_socialaccount",
        "socialaccount_socialtoken",
    }
)
_ONLY_READ = frozenset(
    {
        "api_apirequest",
        "api_idempotencyrecord",
        "balance_checkpoint",
        "balance_closed_month_total",
        "balance_full_proof",
        "balance_operator_day",
        "funding_authorizeddebit",
        "funding_autofundingconfig",
        "funding_autofundingdecision",
        "funding_confirmationlink",
        "payments_paymentconfirmationlink",
        "seals_auditstream",
        "seals_seal",
        "seals_sealpublication",
        "seals_sealround",
        "webhooks_dispatcherheartbeat",
        "webhooks_webhookattempt",
    }
)
# Staff try the line to a bank.
_READ_ALL = frozenset({"ach_achkey", "instant_instantkey"})
# An invitation that is sent anew or revoked loses its link.
_MAY_EMPTY = frozenset({"tenants_invitation"})
# Nobody orders money, issues a key or joins a team here, or says what a bank says.
_NEVER_INSERTED = frozenset(
    {
        "funding_confirmation",
        "funding_debitauthorization",
        "funding_fundingsource",
        "funding_fundingtransaction",
        "payments_payment",
        "payments_paymentattempt",
        "payments_recipient",
        "reconciliation_bankstatement",
        "reconciliation_statementline",
        "solvency_proofleaf",
        "solvency_proofreport",
        "solvency_prooftree",
        "tenants_apikey",
        "tenants_membership",
        "webhooks_webhookendpoint",
    }
)
_SOME: Mapping[str, Rights] = {
    # Whose session it is, to end it.
    "django_session": Rights(insert=False, update=False, delete=True, read=("session_key",)),
    "instant_instantevent": Rights(update=False),
    # Staff have a network asked at once; up to when it was heard workers say.
    "instant_instantline": Rights(insert=False, update=("attempts", "next_attempt_at")),
    "mfa_authenticator": Rights(
        insert=False, update=False, delete=True, read=("id", "type", "user_id")
    ),
    "tenants_outgoingemail": Rights(update=False),
}
_IS_OURS = "actor_type IN ('staff', 'system')"
_IS_NO_SUPERUSER = "NOT is_superuser"
_IS_UNANSWERED = "decision IN ('open', 'expired', 'superseded')"
_HAS_NO_LINK = "digest = ''"  # the mailer makes it; what staff send or revoke has none
# A superuser is made by a command alone; and what staff do is not said to be a tenant's doing.
_INSERTS: Mapping[str, str] = {
    # What two of them give back, and what they take back before it leaves: what a network said is
    # written by workers alone.
    "instant_conversation": "kind = 'give_back'",
    "instant_instantevent": "kind = 'rejected' AND code = 'withdrawn'",
    "instant_message": "direction = 'out'",
    # Of payments whose payer's account staff close.
    "payments_paymentconfirmation": "decision = 'open'",
    # No rule finds anything here: a person did.
    "reconciliation_bookedline": "booked_by <> ''",
    "reconciliation_closedday": "closed_by <> ''",
    "reconciliation_match": "made_by <> ''",
    "tenants_auditevent": _IS_OURS,
    "tenants_invitation": _HAS_NO_LINK,
    "tenants_user": _IS_NO_SUPERUSER,
}
_UPDATES: Mapping[str, str] = {
    # Staff stop a transfer, whose approval is withdrawn then; they answer none.
    "funding_confirmation": _IS_UNANSWERED,
    "payments_paymentconfirmation": _IS_UNANSWERED,
    "tenants_invitation": _HAS_NO_LINK,
    "tenants_user": _IS_NO_SUPERUSER,
}
_FUNCTIONS = rights.FUNCTIONS - {
    "funding_find_link",
    "payments_find_link",
    "tenants_find_invitation",
    "tenants_find_key",
    "tenants_find_session",
    "tenants_link_state_of_mail",
    "tenants_link_states",
}


def needs() -> Needs:
    """What the desk's role works with, once the models are known."""
    tables = {name: _of_table(name, given) for name, given in rights.of_tables().items()}
    named = {name: given for name, given in tables.items() if given != NONE}
    return Needs(named, _FUNCTIONS, inserts=_INSERTS, updates=_UPDATES)


def _of_table(name: str, given: Rights) -> Rights:
    if name in _SOME:
        return _SOME[name]
    if name in _NEVER:
        return NONE
    left = READ_ONLY if name in _ONLY_READ else given
    left = left._replace(insert=left.insert and name not in _NEVER_INSERTED)
    hidden = None if name in _READ_ALL else rights.SECRETS.get(name)
    if hidden is None:
        return left
    open_ones = rights.columns_but(name, hidden)
    changed = open_ones if left.update is True and name not in _MAY_EMPTY else left.update
    return left._replace(read=open_ones, update=changed)
