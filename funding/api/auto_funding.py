"""`/balance/auto-funding`: the settings and the log of what they decided."""

from __future__ import annotations

from typing import ClassVar, cast

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from api import responses
from api.authentication import TenantRequest
from api.filters import StrictFilterSet
from api.idempotency import idempotent
from api.pagination import paginate
from api.schema import PAGE_PARAMETERS, envelope, page, refuses
from api.serializers import validated
from api.views import ApiViewSet
from common.clock import utc_now
from common.errors import NotFound
from funding import errors, selectors
from funding.api import auto_funding_presenter as presenter
from funding.api import auto_funding_serializers as bodies
from funding.services import auto_funding_config
from funding.services.auto_funding_config import Changes
from transfers.errors import AmountAboveLimit


class AutoFundingViewSet(ApiViewSet):
    scopes: ClassVar = {
        "retrieve": "autofunding:read",
        "configure": "autofunding:write",
        "decisions": "autofunding:read",
    }
    parameterized: ClassVar = frozenset({"decisions"})

    @extend_schema(responses=envelope(bodies.AutoFundingConfigOut))
    def retrieve(self, request: TenantRequest) -> HttpResponse:
        """The settings; disabled and empty where none were ever saved."""
        return _settings_of(request)

    @extend_schema(
        request=bodies.AutoFundingConfigIn,
        responses=envelope(bodies.AutoFundingConfigOut),
        extensions=refuses(
            NotFound,
            errors.IncompleteAutoFunding,
            errors.FundingSourceNotVerified,
            errors.FundingSourceUnusable,
            errors.FundingSourceNotAuthorized,
            errors.AuthorizationRequired,
            errors.FundingMethodNotSupported,
            errors.LooseningNotAllowed,
            errors.TooManySafeguardChanges,
            AmountAboveLimit,
        ),
    )
    @idempotent
    def configure(self, request: TenantRequest) -> HttpResponse:
        """Change the settings that are sent. `enabled: true` also ends a pause, but not after the
        bank said that debits are not authorized: that takes a person in the dashboard. A live key
        whose switch *may loosen auto-funding* is off changes nothing that would protect less."""
        changes = validated(bodies.AutoFundingConfigIn, request.data)
        auto_funding_config.configure(
            tenant_id=request.auth.tenant_id,
            changes=cast("Changes", changes),
            actor=request.auth.actor,
            now=utc_now(),
        )
        return _settings_of(request)

    @extend_schema(parameters=PAGE_PARAMETERS, responses=page(bodies.AutoFundingDecisionOut))
    def decisions(self, request: TenantRequest) -> HttpResponse:
        """Every firing, and every refusal for a new reason, newest first."""
        rows = selectors.decisions(tenant_id=request.auth.tenant_id)
        return paginate(request, StrictFilterSet.apply(request, rows), present=presenter.decision)


def _settings_of(request: TenantRequest) -> HttpResponse:
    now = utc_now()
    view = selectors.auto_funding(tenant_id=request.auth.tenant_id, now=now)
    return responses.data(presenter.auto_funding(view, now=now))
