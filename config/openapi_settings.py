"""How the OpenAPI document is made: the settings of drf-spectacular."""

from __future__ import annotations

from typing import Any

from config.settings.brand import BRAND_NAME

SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": f"{BRAND_NAME} API",
    "VERSION": "1.0.0",
    "DESCRIPTION": "Per-tenant balances that keep themselves funded.",
    "EXTERNAL_DOCS": {"description": "Guide", "url": "/docs/guide"},
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "api.openapi.describe_conventions",
        "webhooks.api.openapi.describe_webhooks",
        "config.openapi.describe_summaries",
        "config.openapi.describe_examples",
        "config.openapi.describe_links",
    ],
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "AccountHolderType": "networks.base.HolderType",
        "AccountType": "networks.base.AccountType",
        "ApprovalStatus": "approvals.models.ApprovalStatus.values",
        "PaymentMethod": "payments.api.serializers.ASKED",
        "PaymentMethodUsed": "payments.models.PaymentMethod.values",
        "PaymentStatus": "payments.states.PaymentStatus.values",
        "FundingMethod": "funding.models.FundingMethod.values",
        "FundingSourceStatus": "funding.states.SourceStatus.values",
        "FundingSourceType": "funding.models.SourceType.values",
        "VerificationMethod": "funding.models.VerificationMethod.values",
        "WebhookDeliveryStatus": "webhooks.states.DeliveryStatus",
        "WebhookStatus": "webhooks.states.EndpointStatus",
    },
}
