"""Refusals about bank accounts, funding and auto-funding."""

from __future__ import annotations

from common.errors import Conflict, Forbidden, InvalidInput, RuleViolation, Unavailable


class FundingSourceNotVerified(RuleViolation):
    code = "funding_source_not_verified"
    title = "Bank account not verified"
    advice = "Verify the two small deposits first, or use another bank account."


class FundingSourceUnusable(RuleViolation):
    code = "funding_source_unusable"
    title = "Bank account cannot be used"
    advice = "It was removed or the bank refused it. Remove it and link it again, or use another."


class FundingSourceNotAuthorized(RuleViolation):
    code = "funding_source_not_authorized"
    title = "Authorization ended"
    advice = (
        "Get the account holder's agreement again, or use another bank account. An API key cannot"
        " confirm it."
    )


class AuthorizationRequired(RuleViolation):
    code = "authorization_required"
    title = "Authorization required"
    advice = (
        "Show the account holder what you want to debit and send what they agreed to as"
        " `authorization`, or let a person give it in the dashboard. Only individuals' accounts of"
        " live tenants need it."
    )


class InvalidAuthorization(InvalidInput):
    code = "invalid_authorization"
    title = "Authorization not valid"
    advice = (
        "Send the moment at which the account holder agreed: after 1999, and not in the future."
    )


class FundingMethodNotSupported(RuleViolation):
    code = "funding_method_not_supported"
    title = "Funding method not supported"
    advice = "Use one of the source's `supportedMethods`."


class DailyLimitExceeded(RuleViolation):
    code = "daily_limit_exceeded"
    title = "Daily limit exceeded"
    advice = "Wait until tomorrow (Eastern time) or ask for a higher limit."


class MonthlyLimitExceeded(RuleViolation):
    code = "monthly_limit_exceeded"
    title = "Monthly limit exceeded"
    advice = "Wait until next month (Eastern time) or ask for a higher limit."


class NetworkNotConnected(RuleViolation):
    code = "network_not_connected"
    title = "No payment network connected"
    advice = "Try again once the operator has connected a payment network for live tenants."


class NoLongerFits(RuleViolation):
    """A funding fitted the limits when it was asked for, and does not when it is approved."""

    code = "no_longer_fits"
    is_public = False
    title = "This amount no longer fits your limits"
    advice = "Raise the limit, or wait until its day or month is over (Eastern time)."


class InvalidLinkToken(RuleViolation):
    code = "invalid_link_token"
    title = "Link token not accepted"
    advice = "Run the bank-linking flow again and send its new token."


class LinkAccountMismatch(RuleViolation):
    code = "link_account_mismatch"
    title = "Account does not belong to the token"
    advice = "Send the account id that came with this token."


class LinkNeedsRepair(RuleViolation):
    code = "link_needs_repair"
    title = "The bank asks to sign in again"
    advice = "Let the account holder sign in to the bank in the linking flow, then try again."


class LinkProviderUnavailable(Unavailable):
    code = "link_provider_unavailable"
    title = "Bank-linking provider not reachable"
    advice = "Try again in a moment; nothing was stored."


class DuplicateFundingSource(Conflict):
    code = "duplicate_funding_source"
    title = "Bank account already linked"
    advice = "Use the source named in `existingId`."


class FundingSourceInUse(Conflict):
    code = "funding_source_in_use"
    title = "Bank account in use"
    advice = "Wait until the funding in flight from it has completed or failed, then remove it."


class TooManyFundingSources(RuleViolation):
    code = "too_many_funding_sources"
    title = "Too many bank accounts"
    advice = "Remove one you no longer use."


class VerificationNotPending(Conflict):
    code = "verification_not_pending"
    title = "Nothing to verify"
    advice = "This bank account does not wait for deposit amounts."


class VerificationAmountsWrong(RuleViolation):
    code = "verification_amounts_wrong"
    title = "Amounts do not match"
    advice = "Look up the two deposits again; `attemptsRemaining` says how often you may still try."


class VerificationExpired(RuleViolation):
    code = "verification_expired"
    title = "Verification expired"
    advice = "Remove the bank account and add it again to get new deposits."


class TooManyVerifications(RuleViolation):
    code = "too_many_verifications"
    title = "Deposits were sent too often"
    advice = "Link the account through the bank-linking provider, or wait 30 days."


class IncompleteAutoFunding(RuleViolation):
    code = "auto_funding_incomplete"
    title = "Auto-funding settings incomplete"
    advice = "To enable it, set threshold, amount and method, and link a bank account."


class TooManySafeguardChanges(RuleViolation):
    code = "too_many_safeguard_changes"
    title = "Safeguards changed too often"
    advice = "Wait a day, or let a person change them in the dashboard."


class LooseningNotAllowed(Forbidden):
    code = "loosening_not_allowed"
    title = "This key may not loosen auto-funding"
    advice = (
        "An owner turned off `may loosen auto-funding` for this key. Let a person make the change"
        " in the dashboard, or turn the switch on there under API keys."
    )


class AuthorizationChanged(Conflict):
    """Somebody changed the authorization after the form was shown. It has no code, because only the
    dashboard's forms raise it, never the API."""

    title = "Refused again in the meantime"
    advice = "Check what the bank says now."


class AutoFundingChanged(Conflict):
    """Somebody changed the settings after the form was shown. It has no code, because only the
    dashboard's forms raise it, never the API."""

    title = "Changed in the meantime"
    advice = "Check the current settings."


class RetryNotPossible(Conflict):
    """It has no code, because only the dashboard and the tenant's rule try again, never the API."""

    title = "This cannot be retried"
    advice = "Only a debit that was returned for lack of funds can be retried, two times at most."
