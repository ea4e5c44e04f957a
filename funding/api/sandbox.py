"""`/sandbox/…`: a sandbox tenant plays its own bank. Live tenants get 404."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers

from api import responses
from api.authentication import TenantRequest
from api.idempotency import idempotent
from api.sandbox import require_sandbox, step_parameter
from api.schema import envelope, refuses
from api.views import ApiViewSet
from approvals.api import ConfirmationOut, confirmation_body
from approvals.errors import UnknownApproval
from common import clock
from funding.api import presenters
from funding.api.serializers import FundingTransactionOut
from funding.models import FundingTransaction
from funding.services import sandbox
from transfers.sandbox import due, steps
from transfers.sandbox.due import Transition


class TransitionOut(serializers.Serializer[Any]):
    id = serializers.CharField()
    fromStatus = serializers.CharField(allow_null=True)
    toStatus = serializers.CharField()
    at = serializers.DateTimeField()


class DueWorkOut(serializers.Serializer[Any]):
    transitions = TransitionOut(many=True)


class SandboxConfirmationOut(ConfirmationOut):
    """The approval of one funding, with its magic links."""

    fundingTransactionId = serializers.CharField()


STEP = step_parameter(steps.NAMES)


class SandboxViewSet(ApiViewSet):
    """The bank is called in `prepare_…`, outside the transaction of the idempotency record."""

    scopes: ClassVar = {
        "step": "funding:write",
        "process_due": "funding:write",
        "confirmation": "autofunding:write",
    }

    def prepare_step(
        self, request: TenantRequest, funding_id: str, name: str
    ) -> FundingTransaction:
        require_sandbox(request)
        steps.require(name)
        return sandbox.step(
            tenant_id=request.auth.tenant_id,
            funding_id=funding_id,
            name=name,
            now=clock.utc_now(),
        )

    @extend_schema(
        parameters=[STEP],
        request=None,
        responses=envelope(FundingTransactionOut),
        extensions=refuses(steps.SandboxRefused),
    )
    @idempotent
    def step(
        self, request: TenantRequest, prepared: FundingTransaction, **_path: str
    ) -> HttpResponse:
        """Make the bank take the next step: advance, complete, fail or return."""
        return responses.data(presenters.funding_transaction(prepared))

    @extend_schema(responses=envelope(SandboxConfirmationOut), extensions=refuses(UnknownApproval))
    def confirmation(self, request: TenantRequest, funding_id: str) -> HttpResponse:
        """New magic links for the approvers of a funding, so that no mailbox is needed."""
        require_sandbox(request)
        links = sandbox.magic_links(
            tenant_id=request.auth.tenant_id, funding_id=funding_id, now=clock.utc_now()
        )
        return responses.data(confirmation_body(links, subject_name="fundingTransactionId"))

    def prepare_process_due(self, request: TenantRequest) -> list[Transition]:
        require_sandbox(request)
        return due.run_all(tenant_id=request.auth.tenant_id, now=clock.utc_now())

    @extend_schema(request=None, responses=envelope(DueWorkOut))
    @idempotent
    def process_due(self, request: TenantRequest, prepared: list[Transition]) -> HttpResponse:
        """Run all due work now; answers when it is done, with the transitions it made."""
        return responses.data({"transitions": [_transition(step) for step in prepared]})


def _transition(step: Transition) -> dict[str, Any]:
    return {
        "id": step.id,
        "fromStatus": step.from_status or None,
        "toStatus": step.to_status,
        "at": clock.text_of(step.at),
    }
