"""What the audit log says, in plain words; an action that is new here is still readable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from string import Formatter
from typing import Any

from common.money import format_cents
from funding.methods import METHODS
from funding.models import FundingMethod
from tenants.models import Role
from tenants.notices import NOTICES

# By area, as the filter offers them: the beginnings of its actions.
AREAS = {
    "sign-in": (
        "Sign-in",
        ("sign_in.", "proof.", "second_factor.", "password.", "address.", "session."),
    ),
    "team": ("Team", ("member.", "invitation.", "tenant.", "user.")),
    "keys": ("API keys", ("api_key.",)),
    "webhooks": ("Webhooks", ("webhook.",)),
    "banks": ("Bank accounts", ("funding_source.", "debit_authorization.")),
    "auto-funding": ("Auto-funding", ("auto_funding.",)),
    "approvals": ("Approvals", ("confirmation.",)),
    "payments": ("Payments", ("payment.", "payments.", "recipient.")),
    "balance": ("Adjustments", ("balance.", "adjustment.", "funding.")),
    "files": ("Downloads", ("file.",)),
}

_SENTENCES: dict[str, str | tuple[str, ...]] = {
    "sign_in.succeeded": ("Signed in with {how}", "Signed in"),
    "sign_in.linked": "Connected single sign-on by {kind}",
    "sign_in.unlinked_by_support": "Disconnected {subject} from single sign-on by {kind}",
    "sign_in.failed": "Somebody tried to sign in as {subject}: wrong {how}",
    "proof.failed": "Somebody signed in as {subject} typed {wrong} when proving who they are",
    "second_factor.added": "Added {kind} to sign in",
    "second_factor.removed": "Removed {kind}",
    "second_factor.renewed": "Made new {kind}",
    "second_factor.link_asked_for": "Asked for the link to set up a second factor",
    "password.link_sent_by_support": "Sent {subject} a link to choose a password",
    "password.set_by_support": "Changed the password of {subject}",  # by earlier releases
    "address.set_by_support": "Changed the address of {before} to {email}",
    "second_factor.reset_by_support": "Removed the second factor of {subject}, who had lost it",
    "account.closed_by_support": "Closed the account of {subject}",
    "account.reopened_by_support": "Opened the account of {subject} again",
    "user.renamed_by_support": "Changed the name of {subject} from “{before}” to “{name}”",
    "second_factor.required": "Required a second factor for everybody",
    "second_factor.made_optional": "Made the second factor optional",
    "password.changed": "Changed their password",
    "password.reset": "Reset their password by e-mail",
    "session.ended": "Signed out a browser at {kind}",
    "user.renamed": "Changed their name to {kind}",
    "member.added": (
        "Added {email} as {role}, by single sign-on with {connection}",
        "Added {email} as {role}",
    ),
    "member.role_changed": (
        "Made {email} {role}, by single sign-on with {connection}",
        "Made {email} {role}",
    ),
    "member.removed": "Removed {email}, who was {role}",
    "member.notices_chosen": "Changed which e-mails they get: {notices}",
    "file.downloaded": "Downloaded {download}",
    "invitation.sent": "Invited {email} as {role}",
    "invitation.resent": "Invited {email} again as {role}",
    "invitation.revoked": "Revoked the invitation to {email}",
    "invitation.accepted": "Joined as {role}",
    "tenant.created": "Created this organization",
    "tenant.renamed": "Renamed the organization from {before} to {name}",
    "tenant.suspended": "Suspended this organization",
    "tenant.released": "Lifted the suspension",
    "tenant.limits_changed": (
        "Changed the limits of this organization: {changes}",
        "Changed the limits of this organization",
    ),
    "tenant.retry_rule_changed": (
        "Set how often we retry a returned top-up: {times}, {afterDays} banking days after each"
        " return",
        "Set how often we retry a returned top-up",
    ),
    "tenant.viewed_by_staff": "Looked at the dashboard to help, read only",
    "tenant.view_by_staff_ended": "Stopped looking at the dashboard",
    "api_key.issued": "Created the API key {name}",
    "api_key.rotated": "Rotated the API key {subject}",
    "api_key.revoked": "Revoked the API key {subject}",
    "api_key.taken_over": "Took over the API key {name}",
    "api_key.loosening_allowed": "Let the API key {name} loosen auto-funding",
    "api_key.loosening_forbidden": "Stopped the API key {name} from loosening auto-funding",
    "api_key.pace_set": "Set the rate limits of the API key {subject}",
    "webhook.registered": "Added the webhook endpoint {url}",
    "webhook.updated": ("Changed the webhook endpoint {url}", "Changed a webhook endpoint"),
    "webhook.removed": ("Removed the webhook endpoint {url}", "Removed a webhook endpoint"),
    "webhook.secret_rotated": (
        "Rotated the secret of {url}",
        "Rotated the secret of a webhook endpoint",
    ),
    "webhook.enabled": ("Switched {url} on", "Switched a webhook endpoint on"),
    "webhook.disabled": ("Switched {url} off", "Switched a webhook endpoint off"),
    "webhook.resent": "Sent {event} to {url} again",
    "webhook.replayed": (
        "Sent {queued} deliveries to {url} again",
        "Sent {queued} deliveries of a webhook endpoint again",
    ),
    "funding_source.number_revealed": "Looked at the full number of the account {account}",
    "recipient.number_revealed": "Looked at the full number of the recipient {account}",
    "funding_source.added": "Added {account}",
    "funding_source.removed": "Removed {account}",
    "funding_source.default_set": (
        "Made {account} the default",
        "Chose another default bank account",
    ),
    "funding_source.authorized": (
        "Said that the holder of {account} agrees to debits again after {returnCode}",
        "Said that the holder of {account} agrees to debits again",
    ),
    "funding_source.holder_told": (
        "Said that {account} is held by {kind}",
        "Said whose bank account it is",
    ),
    "debit_authorization.recorded": (
        "Authorized debits of {account} ({kind})",
        "Authorized debits of a bank account",
    ),
    "debit_authorization.revoked": (
        "Revoked the authorization ({kind}) of debits of {account}",
        "Revoked the authorization of debits",
    ),
    "funding_source.corrected": "Its bank corrected {account}, ··{lastFourBefore} before: {code}",
    "funding_source.correction_noted": "Its bank said something about {account}: {code}",
    "recipient.corrected": "Its bank corrected the recipient {account}: {code}",
    "recipient.correction_noted": "Its bank said something about the recipient {account}: {code}",
    "funding_source.verified": ("Verified {account}", "Verified a bank account"),
    "funding_source.verification_tried": (
        "Entered the wrong deposit amounts for {account} ({attemptsRemaining} attempts left)",
        "Entered the wrong deposit amounts ({attemptsRemaining} attempts left)",
    ),
    "auto_funding.configured": ("Changed auto-funding: {changes}", "Changed auto-funding"),
    "auto_funding.paused": "Paused auto-funding",
    "auto_funding.resumed": "Resumed auto-funding",
    "confirmation.approved": ("Approved {amount} {route}", "Approved {subject}"),
    "confirmation.declined": (
        "Declined {amount} {route}: {reason}",
        "Declined {subject}: {reason}",
    ),
    "confirmation.asked": (
        "Asked the approvers of {amount} {route}",
        "Asked the approvers of {subject}",
    ),
    "confirmation.required": (
        "Let {amount} {route} wait for a second person. {why}",
        "Let {subject} wait for a second person",
    ),
    "confirmation.required_if_kept_back": (
        "Decided that {subject} waits for a second person unless the bank has it already"
    ),
    "confirmation.resent": (
        "Asked the approvers of {amount} {route} again",
        "Asked the approvers of {subject} again",
    ),
    "payments.approval_threshold_changed": "Changed the approval limit of payments {from_to}",
    "payments.approval_threshold_asked": "Asked to change the approval limit of payments {from_to}",
    "payments.approval_threshold_kept": (
        "Refused a change to the approval limit of payments {from_to}"
    ),
    "payments.limits_changed": "Changed the limits on money out",
    "payments.limits_asked": "Asked to change the limits on money out",
    "payments.cool_down_changed": "Changed how long new recipients need a second person",
    "payments.cool_down_asked": "Asked to change how long new recipients need a second person",
    "payments.cool_down_kept": "Refused a change to how long new recipients need a second person",
    "payments.limits_kept": "Refused a change to the limits on money out",
    "recipient.saved": ("Saved the recipient {name}, {account}", "Saved the recipient {account}"),
    "recipient.removed": (
        "Removed the recipient {name}, {account}",
        "Removed the recipient {account}",
    ),
    "payment.held": ("Held {amount} {route} for review", "Held a payment for review"),
    "payment.released": ("Released {amount} {route} from review", "Released a payment from review"),
    "payment.stopped": (
        "Stopped {amount} {route} after a review",
        "Stopped a payment after a review",
    ),
    "funding.held": ("Held {amount} {route} for review", "Held funding for review"),
    "funding.released": ("Released {amount} {route} from review", "Released funding from review"),
    "funding.stopped": (
        "Stopped {amount} {route} after a review",
        "Stopped funding after a review",
    ),
    "payment.rerouted": (
        "Sent {amount} {route} another way, because the first network refused it: {code}",
        "Sent a payment another way, because the first network refused it",
    ),
    "payment.withdrawal_asked": (
        "Asked the network to give back {amount} {route}",
        "Asked the network to give back a payment",
    ),
    "funding.withdrawal_asked": (
        "Asked the network to give back {amount} {route}",
        "Asked the network to give back funding",
    ),
    "switch.engaged": "Stopped a part of the service for this organization",
    "switch.released": "Resumed a stopped part of the service",
    "desk.searched": "Searched all tenants for {kind}",
    "balance.credit": "Credited {amount}: {reason}",
    "balance.debit": "Debited {amount}: {reason}",
    "return_dishonor.counted": "Posted a {type} of {amount}: a return was not accepted",
    "return_dishonor.contested": "Posted a {type} of {amount}: a return stands after all",
    "recipient.renamed": ("Renamed the recipient {account} to {name}", "Renamed a recipient"),
}
# Actions that no tenant may read.
_AMONG_STAFF = {
    "ach_entry.taken_out": "Took {subject} out of a file to a bank",
    "ach_file.answer_confirmed": "Confirmed what the bank said of the file {name}: {verdict}",
    "ach_file.answer_proposed": "Wrote down what the bank said of the file {name}: {verdict}",
    "ach_file.answer_rejected": "Rejected what was written down as said of the file {name}",
    "ach_file.at_bank": "Wrote down that the bank has the file {name}",
    "ach_file.built_again": "Had the file {name} built again",
    "ach_file.downloaded": "Downloaded the file {name}, account numbers masked",
    "ach_file.held": "Held the file {name}",
    "ach_proposal.approved": "Approved for the rail {rail}: {what}",
    "ach_proposal.proposed": "Proposed for the rail {rail}: {what}",
    "ach_proposal.rejected": "Rejected for the rail {rail}: {what}",
    "ach_file.not_at_bank": "Wrote down that the bank does not have the file {name}",
    "ach_file.released": "Released the file {name}, as the second person",
    "ach_file.released_first": "Released the file {name}, as the first person",
    "ach_file.taken_apart": "Took the file {name} apart",
    "ach_file.tried_again": "Had the file {name} sent again, after {code}",
    "ach_file.taken_over": "Wrote down that the bank has the file {name}",
    "ach_file.unheld": "Released the hold of the file {name}",
    "ach_file.read_again": "Had a file from a bank read again",
    "ach_file.resolve": "Resolved a file from a bank",
    "ach_file.propose_dismissal": "Proposed that a bank statement is never taken",
    "ach_file.take_again": "Had a bank statement read again",
    "ach_record.apply": "Applied a change that a bank notified",
    "ach_record.dishonor": "Dishonored a return with {code}",
    "ach_record.let_stand": "Let a late return stand",
    "ach_record.match": "Matched a return to {instructionId}",
    "ach_record.refuse": "Refused a change with {code}",
    "ach_record.resolve": "Resolved what a bank said",
    "ach_reply.withdrawn": "Took back {code}, before it was in a file",
    "ach_reversal.approved": "Approved to take {instructionId} back",
    "ach_reversal.proposed": "Proposed to take {instructionId} back",
    "ach_reversal.rejected": "Refused to take {instructionId} back",
    "adjustment.proposed": "Proposed to {type} {amount}",
    "adjustment.approved": "Approved to {type} {amount}",
    "adjustment.rejected": "Rejected to {type} {amount}",
    "bank_statement.dismissed": "Approved that a bank statement of the rail {rail} is never taken",
    "bank_statement.uploaded": "Uploaded a bank statement of the rail {rail}",
    "clearing.approved": "Approved what {amount} in suspense was",
    "clearing.proposed": "Proposed what {amount} in suspense was",
    "clearing.rejected": "Rejected what {amount} in suspense was said to be",
    "day.closed": "Closed {day} of the rail {rail}",
    "day.left_open": "Told who matches lines that {day} of the rail {rail} is not closed",
    "item.given": "Gave the {item} {subject} to {email}",
    "item.noted": "Wrote a note on the {item} {subject}",
    "item.released": "Released the {item} {subject}, which is nobody's now",
    "item.taken": "Took the {item} {subject} to work on",
    "journal.exported": "Exported the journal from {since} up to {until}",
    "ledger_check.requested": "Asked for a ledger check",
    "network_event.resolved": "Resolved the message {eventId} of {network}",
    "network_event.retried": "Tried the message {eventId} of {network} again",
    "originator.assigned": "Sends in the name of {company_name} on the rail {rail}",
    "originator.debits_went_on": "Resumed debits of {company_name}: {why}",
    "originator.ended": "Sends no more in the name of {company_name} on the rail {rail}",
    "proof.missing": "Told who matches lines that {day} has no proof of funds",
    "rail.approved": "Put version {number} of the rail {subject} in force",
    "rail.changed": "Put version {number} of the rail {subject} in force, alone",
    "rail.key_made": "Made a new key of the rail {subject}: {fingerprint}",
    "rail.key_replaced": "Replaced all keys of the rail {subject} by {fingerprint}",
    "rail.key_retired": "Retired a key of the rail {subject}: {fingerprint}",
    "rail.key_switched": "Switched the rail {subject} to the key {fingerprint}",
    "rail.looked_again": "Had files of the rail {subject} fetched again, after {code}",
    "rail.proposed": "Proposed version {number} of the rail {subject}",
    "rail.rejected": "Rejected version {number} of the rail {subject}",
    "rail.stopped": "Stopped {part} files on the rail {subject}",
    "rail.tested": "Tested the connection of the rail {subject}",
    "rail.traces_set": "Set the next trace number of {odfi} to {next}",
    "rail.went_on": "Resumed {part} files on the rail {subject}",
    "reconciliation.failed": "Told who matches lines that {sweep} of {of} fails",
    "route.closed": "Closed the route of {mode} {method} to {rail}",
    "route.opened": "Opened the route of {mode} {method} to {rail}",
    "second_factor.link_sent": "Sent {email} the link to set up a second factor: {reason}",
    "second_factor.reset": "Removed the second factor of {email}: {reason}",
    "settlement_account.approved": "Put the settlement account ··{last4} of {rail} in force",
    "settlement_account.proposed": "Proposed the settlement account ··{last4} of {rail}",
    "settlement_account.put_in_force": (
        "Put the settlement account ··{last4} of {rail} in force, alone"
    ),
    "settlement_account.rejected": "Rejected the settlement account ··{last4} of {rail}",
    "statement_line.booked": "Booked {amount} of a bank statement to suspense",
    "statement_line.matched": "Matched {amount} of a bank statement by hand",
    "statement_line.revealed": "Read what the bank says in line {position} of a statement",
    "statement_line.unmatched": "Unmatched {amount} of a bank statement",
    "suspense.left_open": "Told who matches lines that {amount} are in suspense of the rail {rail}",
    "tenants.not_covered": "Told who matches lines that tenants own {amount} more than banks have",
    "transit.explained": "Wrote why line {line} of the books is long in transit",
    "user.changed": "Changed {email}",  # by earlier releases
    "user.created": "Created {email}",
}
_SETTINGS = {
    "ach_transaction_max": f"each {METHODS[FundingMethod.ACH_DEBIT].words}",
    "confirm_topups": "top-ups need approval as well",
    "confirmation_emails": "approvers",
    "confirmation_threshold": "approval above",
    "daily_max": "a day",
    "enabled": "switched on",
    "funding_amount": "amount",
    "funding_method": "method",
    "low_balance_threshold": "when below",
    "monthly_limit": "a month",
    "monthly_max": "a month",
    "rtp_transaction_max": f"each {METHODS[FundingMethod.RTP].words}",
    "source_id": "bank account",
}
_FACTORS = {
    "password": "password",
    "totp": "authenticator app",
    "webauthn": "passkey",
    "recovery_codes": "recovery codes",
}


def sentence(action: str, details: Mapping[str, Any], subject: str) -> str:
    """One event in words; `subject` is what to call what it is about.

    Of several sentences the first is taken for which the row has all details: old ones have fewer.
    """
    known = _SENTENCES.get(action) or _AMONG_STAFF.get(action)
    if known is None:
        area, _, verb = action.partition(".")
        return f"{area} {verb}".replace("_", " ").strip().capitalize()
    words = _Words(details, subject)
    choices = (known,) if isinstance(known, str) else known
    return next(filter(words.suffice_for, choices), choices[-1]).format_map(words)


class _Words(dict[str, str]):
    """Details as people say them; one that the row does not have leaves a dash."""

    def __init__(self, details: Mapping[str, Any], subject: str) -> None:
        self._details: dict[str, Any] = {**details, "subject": subject}

    def __missing__(self, name: str) -> str:
        return self._text(name) or "–"

    def suffice_for(self, template: str) -> bool:
        fields = (field for _text, field, _spec, _conversion in Formatter().parse(template))
        return all(self._text(field) for field in fields if field)

    def _text(self, name: str) -> str:
        if compose := _COMPOSED.get(name):
            return compose(self._details)
        value = self._details.get(name)
        if value in (None, ""):
            return ""
        if name == "role" and value in Role.values:
            return Role(value).label.lower()
        if name in ("how", "kind"):
            return " and ".join(_factor(part) for part in str(value).split(" + "))
        if name in ("since", "until"):
            return str(value)[: len("2026-11-20")]
        return format_cents(int(value)) if name == "amount" else str(value)


def _factor(name: str) -> str:
    """Of single sign-on, by which connection."""
    method, _, connection = name.partition(":")
    return f"single sign-on ({connection})" if method == "sso" else _FACTORS.get(name, name)


def _wrong(details: Mapping[str, Any]) -> str:
    """`a wrong password`."""
    if (how := details.get("how")) == "password":
        return "a wrong password"
    return f"a wrong code of the {_FACTORS.get(str(how), str(how))}"


def _account(details: Mapping[str, Any]) -> str:
    """`Chase ··6789`."""
    last4 = details.get("last4")
    return f"{details.get('bankName', '')} ··{last4}".strip() if last4 else ""


def _route(details: Mapping[str, Any]) -> str:
    """`from Chase ··6789` of money in, `to …` of money out."""
    word, account = {"in": "from", "out": "to"}.get(details.get("direction", "")), _account(details)
    return f"{word} {account}" if word and account else ""


def _from_to(details: Mapping[str, Any]) -> str:
    return f"from {_value(details.get('from'))} to {_value(details.get('to'))}"


def _changes(details: Mapping[str, Any]) -> str:
    """`amount $500.00 → $800.00, switched on` of what differs."""
    if "from" in details:
        before, after = details["from"], details["to"]
        pairs = {name: (before.get(name), after.get(name)) for name in after}
    else:
        pairs = {name: pair for name, pair in details.items() if name in _SETTINGS}
    return ", ".join(
        _change(name, old, new) for name, (old, new) in sorted(pairs.items()) if old != new
    )


def _change(name: str, old: Any, new: Any) -> str:
    label = _SETTINGS.get(name, name)
    if name == "source_id":
        return f"another {label}" if new else f"no {label}"
    if name == "enabled":
        return label if new else "switched off"
    if isinstance(new, bool):
        return f"{label}: {_value(new)}"
    return f"{label} {_value(old)} → {_value(new)}" if old else f"{label} {_value(new)}"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return format_cents(value)
    if isinstance(value, list):
        return ", ".join(value) or "owners and approvers"
    return str(_METHODS.get(value, value)) if value else "none"


_METHODS = dict(FundingMethod.choices)


def _download(details: Mapping[str, Any]) -> str:
    """`payments.csv, from 2026-11-01 up to 2026-11-20, narrowed by status` of a file."""
    since, until = details.get("since"), details.get("until")
    parts = [
        str(details.get("file", "")),
        " ".join(filter(None, [since and f"from {since}", until and f"up to {until}"])),
        f"narrowed by {' and '.join(details['narrowedBy'])}" if details.get("narrowedBy") else "",
    ]
    return ", ".join(filter(None, parts))


def _notices(details: Mapping[str, Any]) -> str:
    """`Reviews on, Low balance off` of what a person switched."""
    labels = {notice.key: notice.label for notice in NOTICES}
    return ", ".join(
        f"{labels.get(key, key)} {state}"
        for state in ("on", "off")
        for key in details.get(state, ())
    )


_COMPOSED: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "account": _account,
    "wrong": _wrong,
    "changes": _changes,
    "download": _download,
    "from_to": _from_to,
    "notices": _notices,
    "route": _route,
}
