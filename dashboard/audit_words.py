"""What the audit log says, in plain words; an action that is new here is still readable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from common.money import format_cents
from tenants.models import Role

# By area, as the filter offers them: the beginnings of its actions.
AREAS = {
    "sign-in": ("Sign-in", ("sign_in.", "second_factor.", "password.", "address.", "session.")),
    "team": ("Team", ("member.", "invitation.", "tenant.", "user.")),
    "keys": ("API keys", ("api_key.",)),
    "webhooks": ("Webhooks", ("webhook.",)),
    "banks": ("Bank accounts", ("funding_source.",)),
    "auto-funding": ("Auto-funding", ("auto_funding.",)),
    "approvals": ("Approvals", ("confirmation.",)),
    "payments": ("Payments", ("payment.", "payments.", "recipient.")),
    "balance": ("Adjustments", ("balance.", "adjustment.", "funding.")),
}

_SENTENCES = {
    "sign_in.succeeded": "Signed in with {how}",
    "sign_in.failed": "Somebody tried to sign in as {subject}: wrong {how}",
    "second_factor.added": "Added {kind} to sign in",
    "second_factor.removed": "Removed {kind} from signing in",
    "second_factor.renewed": "Made new {kind}",
    "password.set_by_support": "Changed the password of {subject}",
    "address.set_by_support": "Changed the address of {before} to {email}",
    "second_factor.reset_by_support": "Removed the second factor of {subject}, who had lost it",
    "second_factor.required": "Required a second factor of everybody",
    "second_factor.made_optional": "Made the second factor optional",
    "password.changed": "Changed the own password",
    "password.reset": "Reset the own password by e-mail",
    "session.ended": "Signed out a browser at {kind}",
    "user.renamed": "Changed the own name to {kind}",
    "member.added": "Added {email} as {role}",
    "member.role_changed": "Made {email} {role}",
    "member.removed": "Removed {email}, who was {role}",
    "invitation.sent": "Invited {email} as {role}",
    "invitation.resent": "Invited {email} again as {role}",
    "invitation.revoked": "Revoked the invitation to {email}",
    "invitation.accepted": "Joined as {role}",
    "tenant.created": "Opened this tenant",
    "tenant.renamed": "Renamed the tenant from {before} to {name}",
    "tenant.suspended": "Suspended this tenant",
    "tenant.released": "Lifted the suspension",
    "tenant.limits_changed": "Changed the limits of this tenant",
    "tenant.viewed_by_staff": "Looked at the dashboard to help, read only",
    "tenant.view_by_staff_ended": "Stopped looking at the dashboard",
    "api_key.issued": "Created the API key {name}",
    "api_key.rotated": "Rotated the API key {subject}",
    "api_key.revoked": "Revoked the API key {subject}",
    "api_key.pace_set": "Set the rate limits of the API key {subject}",
    "webhook.registered": "Added the webhook endpoint {url}",
    "webhook.updated": "Changed a webhook endpoint",
    "webhook.removed": "Removed a webhook endpoint",
    "webhook.secret_rotated": "Rotated the secret of a webhook endpoint",
    "webhook.enabled": "Switched a webhook endpoint on",
    "webhook.disabled": "Switched a webhook endpoint off",
    "webhook.replayed": "Sent {queued} deliveries of a webhook endpoint again",
    "funding_source.number_revealed": "Looked at the full number of the account ··{last4}",
    "recipient.number_revealed": "Looked at the full number of the recipient ··{last4}",
    "funding_source.added": "Added {bankName} ··{last4}",
    "funding_source.removed": "Removed {bankName} ··{last4}",
    "funding_source.default_set": "Chose another default bank account",
    "funding_source.verified": "Verified a bank account",
    "funding_source.verification_tried": "Typed wrong deposits; {attemptsRemaining} tries left",
    "auto_funding.configured": "Changed auto-funding",
    "auto_funding.paused": "Paused auto-funding",
    "auto_funding.resumed": "Resumed auto-funding",
    "confirmation.approved": "Approved {subject}",
    "confirmation.declined": "Declined {subject}: {reason}",
    "confirmation.resent": "Asked the approvers of {subject} again",
    "payments.approval_threshold_changed": "Changed the approval limit of payments {from_to}",
    "payments.approval_threshold_asked": "Asked to change the approval limit of payments {from_to}",
    "payments.approval_threshold_kept": "Kept the approval limit of payments, not {from_to}",
    "recipient.saved": "Saved the recipient ··{last4}",
    "recipient.removed": "Removed the recipient ··{last4}",
    "payment.held": "Held a payment for review",
    "payment.released": "Released a payment from review",
    "payment.stopped": "Stopped a payment after a review",
    "funding.held": "Held funding for review",
    "funding.released": "Released funding from review",
    "funding.stopped": "Stopped funding after a review",
    "switch.engaged": "Stopped a part of the service for this tenant",
    "switch.released": "Let a stopped part of the service go on",
    "balance.adjustment": "Adjusted the balance by {amount}: {reason}",
}
_FACTORS = {
    "password": "password",
    "totp": "authenticator app",
    "webauthn": "passkey",
    "recovery_codes": "recovery codes",
}


def sentence(action: str, details: Mapping[str, Any], subject: str) -> str:
    """One event in words; `subject` is what to call what it is about."""
    known = _SENTENCES.get(action)
    if known is None:
        area, _, verb = action.partition(".")
        return f"{area} {verb}".replace("_", " ").strip().capitalize()
    return known.format_map(_Words({**details, "subject": subject}))


class _Words(dict[str, Any]):
    """Details in words; one that an old row does not have leaves a dash."""

    def __getitem__(self, name: str) -> str:
        if name == "from_to":
            return f"from {_limit(self.get('from'))} to {_limit(self.get('to'))}"
        value = self.get(name)
        if value in (None, ""):
            return "–"
        if name == "role" and value in Role.values:
            return Role(value).label.lower()
        if name in ("how", "kind"):
            return " and ".join(_FACTORS.get(part, part) for part in str(value).split(" + "))
        if name == "amount":
            return format_cents(int(value))
        return str(value)


def _limit(cents: Any) -> str:
    return "none" if cents is None else format_cents(int(cents))
