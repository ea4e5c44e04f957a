"""`/payments`: money out of the balance."""

from __future__ import annotations

from typing import ClassVar

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema

from api import responses
from api.authentication import TenantRequest
from api.downloads import csv_download
from api.idempotency import idempotent
from api.pagination import paginate
from api.sandbox import require_sandbox, step_parameter
from api.schema import envelope, page, refuses
from api.serializers import validated
from api.views import ApiViewSet
from approvals.api import confirmation_body
from approvals.errors import UnknownApproval
from balance.errors import InsufficientBalance
from common.clock import utc_now
from common.errors import NotFound
from networks.errors import InvalidBankDetails
from payments import selectors
from payments.api import presenters
from payments.api.filters import FILTER_PARAMETERS, PAYMENT_PARAMETERS, PaymentFilter
from payments.api.serializers import PaymentConfirmationOut, PaymentIn, PaymentOut
from payments.errors import (
    PayerIsNew,
    PaymentLimitReached,
    PaymentMethodNotSupported,
    RecipientRemoved,
)
from payments.models import Payment
from payments.services import approvals, orders, sandbox
from tenants.errors import KeyRevoked
from transfers.errors import AmountAboveLimit, NotCancelable
from transfers.listing import newest_first
from transfers.sandbox import steps


class PaymentViewSet(ApiViewSet):
    scopes: ClassVar = {
        "create": "payments:write",
        "list": "payments:read",
        "download": "payments:read",
        "retrieve": "payments:read",
        "cancel": "payments:write",
    }

    @extend_schema(
        request=PaymentIn,
        responses={201: envelope(PaymentOut)},
        extensions=refuses(
            InvalidBankDetails,
            NotFound,
            AmountAboveLimit,
            InsufficientBalance,
            KeyRevoked,
            PayerIsNew,
            PaymentLimitReached,
            PaymentMethodNotSupported,
            RecipientRemoved,
        ),
    )
    @idempotent
    def create(self, request: TenantRequest) -> HttpResponse:
        """Pay out of the balance. The money is set aside at once and arrives later."""
        payment = orders.place(
            tenant_id=request.auth.tenant_id,
            mode=request.auth.mode,
            order=validated(PaymentIn, request.data),
            actor=request.auth.actor,
            now=utc_now(),
        )
        return responses.data(
            presenters.payment(payment), status=201, location=f"/api/v1/payments/{payment.pk}"
        )

    @extend_schema(parameters=PAYMENT_PARAMETERS, responses=page(PaymentOut))
    def list(self, request: TenantRequest) -> HttpResponse:
        """Payments, newest first."""
        rows = selectors.payments(tenant_id=request.auth.tenant_id)
        return paginate(request, PaymentFilter.apply(request, rows), present=presenters.payment)

    @extend_schema(parameters=FILTER_PARAMETERS, responses={(200, "text/csv"): OpenApiTypes.STR})
    def download(self, request: TenantRequest) -> StreamingHttpResponse:
        """All payments as CSV, newest first, by the same filters."""
        rows = selectors.payments(tenant_id=request.auth.tenant_id)
        chosen = PaymentFilter.apply(request, rows, paged=False)
        return csv_download(
            "payments.csv",
            presenters.CSV_HEADER,
            map(presenters.csv_row, newest_first(chosen)),
        )

    @extend_schema(responses=envelope(PaymentOut))
    def retrieve(self, request: TenantRequest, payment_id: str) -> HttpResponse:
        """One payment."""
        payment = selectors.payment(tenant_id=request.auth.tenant_id, payment_id=payment_id)
        return responses.data(presenters.payment(payment))

    @extend_schema(request=None, responses=envelope(PaymentOut), extensions=refuses(NotCancelable))
    @idempotent
    def cancel(self, request: TenantRequest, payment_id: str) -> HttpResponse:
        """Give up a payment that waits for money, or was not yet handed to the network."""
        tenant_id = request.auth.tenant_id
        orders.cancel(
            tenant_id=tenant_id, payment_id=payment_id, actor=request.auth.actor, now=utc_now()
        )
        # Its approval may have been withdrawn: read both as they are now.
        payment = selectors.payment(tenant_id=tenant_id, payment_id=payment_id)
        return responses.data(presenters.payment(payment))


class SandboxPaymentViewSet(ApiViewSet):
    """The bank is called in `prepare_…`, outside the transaction of the idempotency record."""

    scopes: ClassVar = {"step": "payments:write", "confirmation": "payments:write"}

    def prepare_step(self, request: TenantRequest, payment_id: str, name: str) -> Payment:
        require_sandbox(request)
        steps.require(name)
        return sandbox.step(
            tenant_id=request.auth.tenant_id, payment_id=payment_id, name=name, now=utc_now()
        )

    @extend_schema(
        parameters=[step_parameter(steps.NAMES)],
        request=None,
        responses=envelope(PaymentOut),
        extensions=refuses(steps.SandboxRefused),
    )
    @idempotent
    def step(self, request: TenantRequest, prepared: Payment, **_path: str) -> HttpResponse:
        """Make the bank take the next step: advance, complete, fail or return."""
        return responses.data(presenters.payment(prepared))

    @extend_schema(responses=envelope(PaymentConfirmationOut), extensions=refuses(UnknownApproval))
    def confirmation(self, request: TenantRequest, payment_id: str) -> HttpResponse:
        """New magic links for the approvers of a payment, so that no mailbox is needed."""
        require_sandbox(request)
        links = approvals.magic_links(
            tenant_id=request.auth.tenant_id, payment_id=payment_id, now=utc_now()
        )
        return responses.data(confirmation_body(links, subject_name="paymentId"))
