"""`/recipients`: accounts saved, so that a repeat payment needs no account number."""

from __future__ import annotations

from typing import ClassVar, cast

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from api import responses
from api.authentication import TenantRequest
from api.filters import RemovableFilter
from api.idempotency import idempotent
from api.pagination import paginate
from api.schema import REMOVABLE_LIST_PARAMETERS, envelope, page, refuses
from api.serializers import validated
from api.views import ApiViewSet
from common.clock import utc_now
from networks.bank_details import BankDetails
from networks.errors import InvalidBankDetails
from payments import selectors
from payments.api import presenters
from payments.api.serializers import RecipientOut, RemovedRecipientOut, SavedRecipientIn
from payments.errors import DuplicateRecipient
from payments.services import recipients


class RecipientViewSet(ApiViewSet):
    scopes: ClassVar = {
        "create": "payments:write",
        "list": "payments:read",
        "retrieve": "payments:read",
        "remove": "payments:write",
    }

    @extend_schema(
        request=SavedRecipientIn,
        responses={201: envelope(RecipientOut)},
        extensions=refuses(InvalidBankDetails, DuplicateRecipient),
    )
    @idempotent
    def create(self, request: TenantRequest) -> HttpResponse:
        """Save an account to pay; its number is never shown again."""
        body = dict(validated(SavedRecipientIn, request.data))
        recipient = recipients.save(
            tenant_id=request.auth.tenant_id,
            nickname=body.pop("nickname", ""),
            details=cast(BankDetails, body),
            actor=request.auth.actor,
            now=utc_now(),
        )
        return responses.data(
            presenters.recipient(recipient),
            status=201,
            location=f"/api/v1/recipients/{recipient.pk}",
        )

    @extend_schema(parameters=REMOVABLE_LIST_PARAMETERS, responses=page(RecipientOut))
    def list(self, request: TenantRequest) -> HttpResponse:
        """Saved recipients, newest first; removed ones only on request."""
        rows = selectors.recipients(tenant_id=request.auth.tenant_id)
        return paginate(request, RemovableFilter.apply(request, rows), present=presenters.recipient)

    @extend_schema(responses=envelope(RecipientOut))
    def retrieve(self, request: TenantRequest, recipient_id: str) -> HttpResponse:
        """One saved recipient, removed or not."""
        recipient = selectors.recipient(tenant_id=request.auth.tenant_id, recipient_id=recipient_id)
        return responses.data(presenters.recipient(recipient))

    @extend_schema(request=None, responses={200: envelope(RemovedRecipientOut)})
    @idempotent
    def remove(self, request: TenantRequest, recipient_id: str) -> HttpResponse:
        """Take a recipient off the list; payments already made out to it go on."""
        recipient = recipients.remove(
            tenant_id=request.auth.tenant_id,
            recipient_id=recipient_id,
            actor=request.auth.actor,
            now=utc_now(),
        )
        return responses.data(presenters.removal(recipient))
