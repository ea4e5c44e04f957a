"""The whole public interface on one page, in the order of the reference."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from balance.api.limits import LimitsViewSet
from balance.api.views import BalanceTransactionViewSet, BalanceViewSet
from funding.api.auto_funding import AutoFundingViewSet
from funding.api.sandbox import SandboxViewSet
from funding.api.sources import FundingSourceViewSet
from funding.api.transactions import FundingTransactionViewSet, TopUpViewSet
from payments.api.payments import PaymentViewSet, SandboxPaymentViewSet
from payments.api.recipients import RecipientViewSet
from solvency.api.views import ProofViewSet
from webhooks.api.history import EventViewSet, WebhookDeliveryViewSet
from webhooks.api.views import WebhookViewSet

urlpatterns: list[URLPattern | URLResolver] = [
    path("balance/summary", BalanceViewSet.as_view({"get": "summary"})),
    path("balance/topup", TopUpViewSet.as_view({"post": "create"})),
    path("balance/limits", LimitsViewSet.as_view({"get": "retrieve"})),
    path("balance/transactions", BalanceTransactionViewSet.as_view({"get": "list"})),
    path("balance/transactions.csv", BalanceTransactionViewSet.as_view({"get": "download"})),
    path(
        "balance/transactions/<str:transaction_id>",
        BalanceTransactionViewSet.as_view({"get": "retrieve"}),
    ),
    path("balance/proofs", ProofViewSet.as_view({"get": "list"})),
    path("balance/proofs/<str:day>", ProofViewSet.as_view({"get": "retrieve"})),
    path(
        "balance/auto-funding/config",
        AutoFundingViewSet.as_view({"get": "retrieve", "post": "configure"}),
    ),
    path("balance/auto-funding/decisions", AutoFundingViewSet.as_view({"get": "decisions"})),
    path(
        "balance/funding-sources",
        FundingSourceViewSet.as_view({"get": "list", "post": "link"}),
    ),
    path("balance/funding-sources/manual", FundingSourceViewSet.as_view({"post": "enter"})),
    path(
        "balance/funding-sources/<str:source_id>",
        FundingSourceViewSet.as_view({"get": "retrieve", "delete": "remove"}),
    ),
    path(
        "balance/funding-sources/<str:source_id>/default",
        FundingSourceViewSet.as_view({"post": "make_default"}),
    ),
    path(
        "balance/funding-sources/<str:source_id>/verify",
        FundingSourceViewSet.as_view({"post": "verify"}),
    ),
    path("funding/transactions", FundingTransactionViewSet.as_view({"get": "list"})),
    path(
        "funding/transactions.csv",
        FundingTransactionViewSet.as_view({"get": "download"}),
    ),
    path(
        "funding/transactions/<str:funding_id>",
        FundingTransactionViewSet.as_view({"get": "retrieve"}),
    ),
    path(
        "funding/transactions/<str:funding_id>/cancel",
        FundingTransactionViewSet.as_view({"post": "cancel"}),
    ),
    path("payments", PaymentViewSet.as_view({"get": "list", "post": "create"})),
    path("payments.csv", PaymentViewSet.as_view({"get": "download"})),
    path("payments/<str:payment_id>", PaymentViewSet.as_view({"get": "retrieve"})),
    path("payments/<str:payment_id>/cancel", PaymentViewSet.as_view({"post": "cancel"})),
    path("recipients", RecipientViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "recipients/<str:recipient_id>",
        RecipientViewSet.as_view({"get": "retrieve", "delete": "remove"}),
    ),
    path("sandbox/confirmations/<str:funding_id>", SandboxViewSet.as_view({"get": "confirmation"})),
    path("sandbox/process-due", SandboxViewSet.as_view({"post": "process_due"})),
    path(
        "sandbox/funding-transactions/<str:funding_id>/<str:name>",
        SandboxViewSet.as_view({"post": "step"}),
    ),
    path(
        "sandbox/payments/<str:payment_id>/confirmation",
        SandboxPaymentViewSet.as_view({"get": "confirmation"}),
    ),
    path(
        "sandbox/payments/<str:payment_id>/<str:name>",
        SandboxPaymentViewSet.as_view({"post": "step"}),
    ),
    path("webhooks", WebhookViewSet.as_view({"get": "list", "post": "create"})),
    path(
        "webhooks/deliveries/<str:delivery_id>",
        WebhookDeliveryViewSet.as_view({"get": "retrieve"}),
    ),
    path(
        "webhooks/deliveries/<str:delivery_id>/resend",
        WebhookDeliveryViewSet.as_view({"post": "resend"}),
    ),
    path(
        "webhooks/<str:endpoint_id>",
        WebhookViewSet.as_view({"get": "retrieve", "patch": "change", "delete": "remove"}),
    ),
    path(
        "webhooks/<str:endpoint_id>/rotate-secret",
        WebhookViewSet.as_view({"post": "rotate_secret"}),
    ),
    path("webhooks/<str:endpoint_id>/test", WebhookViewSet.as_view({"post": "test"})),
    path("webhooks/<str:endpoint_id>/replay", WebhookViewSet.as_view({"post": "replay"})),
    path(
        "webhooks/<str:endpoint_id>/deliveries",
        WebhookDeliveryViewSet.as_view({"get": "list"}),
    ),
    path("events", EventViewSet.as_view({"get": "list"})),
    path("events/<str:event_id>", EventViewSet.as_view({"get": "retrieve"})),
]
