"""Bank accounts we may draw from, the attempts to bring money in, and the rules that start them."""

from __future__ import annotations

from funding.models.approvals import Confirmation, ConfirmationLink
from funding.models.authorizations import (
    AuthorizationKind,
    AuthorizationScope,
    AuthorizedDebit,
    DebitAuthorization,
)
from funding.models.auto_funding import AutoFundingConfig, AutoFundingDecision, DecisionOutcome
from funding.models.back_offs import AccountBackOff
from funding.models.consents import LinkConsent
from funding.models.deposits import DEPOSIT_SOURCE_TYPE, DepositEntry
from funding.models.limits import FundingLimit
from funding.models.retries import AFTER_DAYS_MAX, RetryRule
from funding.models.sources import (
    FundingMethod,
    FundingSource,
    FundingSourceVersion,
    SourceType,
    SourceVerification,
    VerificationMethod,
)
from funding.models.transactions import (
    DESCRIPTION_LENGTH_MAX,
    SOURCE_TYPE,
    FundingEvent,
    FundingTransaction,
    Trigger,
)

__all__ = [
    "AFTER_DAYS_MAX",
    "DEPOSIT_SOURCE_TYPE",
    "DESCRIPTION_LENGTH_MAX",
    "SOURCE_TYPE",
    "AccountBackOff",
    "AuthorizationKind",
    "AuthorizationScope",
    "AuthorizedDebit",
    "AutoFundingConfig",
    "AutoFundingDecision",
    "Confirmation",
    "ConfirmationLink",
    "DebitAuthorization",
    "DecisionOutcome",
    "DepositEntry",
    "FundingEvent",
    "FundingLimit",
    "FundingMethod",
    "FundingSource",
    "FundingSourceVersion",
    "FundingTransaction",
    "LinkConsent",
    "RetryRule",
    "SourceType",
    "SourceVerification",
    "Trigger",
    "VerificationMethod",
]
