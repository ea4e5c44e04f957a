"""Refusals about tenants, people and keys."""

from __future__ import annotations

from common.errors import Forbidden, InvalidInput, RuleViolation, StaffRefusal, Unavailable


class TenantSuspended(Forbidden):
    code = "tenant_suspended"
    title = "Tenant suspended"
    advice = "Contact support: nothing moves until the suspension is lifted."


class UnknownScope(InvalidInput):
    code = "unknown_scope"
    is_public = False
    title = "Unknown scope"
    advice = "Use scopes from the list in the API reference."


class TooManyKeys(RuleViolation):
    code = "too_many_api_keys"
    is_public = False
    title = "Too many API keys"
    advice = "Revoke a key you no longer use, then create a new one."


class InvalidKeySettings(InvalidInput):
    code = "invalid_key_settings"
    is_public = False
    title = "Invalid API key settings"
    advice = "Give networks as CIDR, an expiry in the future, an overlap of 0–7 days."


class InvalidName(InvalidInput):
    code = "invalid_name"
    is_public = False
    title = "Invalid name"
    advice = "Give a name of 1 to 120 visible characters on one line."


class TeamRefusal(RuleViolation):
    """A refusal that only pages show. It needs no code, because no API endpoint raises it."""

    title = "Not possible"
    advice = ""


class AlreadyMember(TeamRefusal):
    """The invited address belongs to somebody who is in the tenant."""


class TooManyInvitations(TeamRefusal):
    """So many invitations are open or were mailed that somebody must be collecting addresses."""


class InvitationClosed(TeamRefusal):
    """The invitation was accepted, revoked or replaced, has expired, or never existed."""


class InvitedSomebodyElse(TeamRefusal):
    """The person who is signed in has another address than the invited one."""


class AccountExists(TeamRefusal):
    """The invited address has an account already: its owner signs in, and joins then."""


class LastOwner(TeamRefusal):
    """A tenant keeps at least one owner."""


class NotAnOwner(TeamRefusal):
    """Somebody was an owner when the form was shown, and is none any more."""


class SignInRefused(TeamRefusal):
    """Somebody whom a provider vouches for is not let in; the text says what to do."""


class NotAMember(SignInRefused):
    """The person is no member of the tenant, and nobody but its owners makes them one."""


class OwnSecondFactorMissing(TeamRefusal):
    """Somebody without a second factor cannot ask everybody for one."""


class ReadOnlyMode(Unavailable):
    code = "read_only"
    title = "Read-only for the moment"
    advice = "Reads go on. Send the request again later, with the same Idempotency-Key."


class NotASecondPerson(StaffRefusal):
    code = "not_a_second_person"
    title = "Somebody else decides"
    advice = "Ask a colleague who had the role before it was proposed, from somebody else."


class ProposerLeft(NotASecondPerson):
    """Whoever proposed it works for us no more, or could not propose it any more: one person is
    left of two."""

    code = "proposer_left"
    title = "Whoever proposed it is gone"
    advice = "Reject it. Somebody who may can propose it anew."


class AddressTaken(StaffRefusal):
    code = "address_taken"
    title = "Address in use"
    advice = "Look for the person who has it."


class AccessRefused(StaffRefusal):
    code = "access_refused"
    title = "Not possible"
    advice = "Two people of staff give access, when its delay is over."


class InvalidRole(StaffRefusal):
    code = "invalid_staff_role"
    title = "No such role"
    advice = "Give a role of the table in docs/operations.md; `manage.py staff_roles` makes them."


class NoEnrolment(StaffRefusal):
    code = "no_enrolment"
    title = "No link for this person"
    advice = "Links to set up a second factor are for staff who have none, sent by somebody else."


class KeyRevoked(Forbidden):
    """A key was revoked between the check of a request and what it does."""

    code = "key_revoked"
    title = "API key revoked"
    advice = "Use a key that is not revoked. Nothing was done."


class MayNotPay(Forbidden):
    """Somebody could pay when the page was shown, and was removed or given another role since."""

    code = "may_not_pay"
    title = "You cannot pay here any more"
    advice = "Ask an owner of the team."
    is_public = False


class ProofNeeded(Forbidden):
    """Somebody has to prove once more who they are before this is done. Pages ask for it (decision
    0164)."""

    code = "proof_needed"
    title = "Confirm it is you"
    advice = "Prove your second factor, or your password if you have none. Nothing was done."
    is_public = False


class InvalidSwitch(StaffRefusal):
    code = "invalid_switch"
    title = "Invalid operator switch"
    advice = "Say what to stop, for whom, and why."


class SwitchEngaged(StaffRefusal):
    code = "switch_engaged"
    title = "Stopped already"
    advice = "Look at the switch that is engaged."


class SwitchReleased(StaffRefusal):
    code = "switch_released"
    title = "Released already"
    advice = "Look at who released it, and when."
