"""`/balance/funding-sources`: the bank accounts a tenant may draw from."""

from __future__ import annotations

from typing import ClassVar, TypeAlias

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from api import problems, responses
from api.authentication import TenantRequest
from api.filters import RemovableFilter
from api.idempotency import idempotent
from api.pagination import paginate
from api.schema import REMOVABLE_LIST_PARAMETERS, envelope, page, refuses
from api.serializers import validated
from api.views import ApiViewSet
from common.clock import utc_now
from funding import errors, selectors
from funding.agreements import Agreement
from funding.api import source_presenter as presenter
from funding.api import source_serializers as bodies
from funding.models import FundingSource
from funding.services import drafts, linking, sources, verifications
from funding.services.drafts import Draft
from networks.errors import InvalidBankDetails

_Prepared: TypeAlias = tuple[Draft, Agreement | None]


class FundingSourceViewSet(ApiViewSet):
    scopes: ClassVar = {
        "list": "sources:read",
        "retrieve": "sources:read",
        "link": "sources:write",
        "enter": "sources:write",
        "remove": "sources:write",
        "make_default": "sources:write",
        "verify": "sources:write",
    }

    @extend_schema(parameters=REMOVABLE_LIST_PARAMETERS, responses=page(bodies.FundingSourceOut))
    def list(self, request: TenantRequest) -> HttpResponse:
        """Bank accounts, newest first; removed ones only on request."""
        rows = selectors.sources(tenant_id=request.auth.tenant_id)
        return paginate(
            request, RemovableFilter.apply(request, rows), present=presenter.funding_source
        )

    @extend_schema(responses=envelope(bodies.FundingSourceOut))
    def retrieve(self, request: TenantRequest, source_id: str) -> HttpResponse:
        """One bank account, removed or not."""
        source = sources.find(tenant_id=request.auth.tenant_id, source_id=source_id)
        return responses.data(presenter.funding_source(source))

    def prepare_link(self, request: TenantRequest) -> _Prepared:
        values = validated(bodies.LinkedSourceIn, request.data)
        agreement = values.pop("agreement", None)
        return drafts.exchange(mode=request.auth.mode, **values), agreement

    @extend_schema(
        request=bodies.LinkedSourceIn,
        responses={201: envelope(bodies.FundingSourceOut)},
        extensions=refuses(
            InvalidBankDetails,
            errors.InvalidAuthorization,
            errors.DuplicateFundingSource,
            errors.InvalidLinkToken,
            errors.LinkAccountMismatch,
            errors.LinkNeedsRepair,
            errors.TooManyFundingSources,
            errors.LinkProviderUnavailable,
        ),
    )
    @idempotent
    def link(self, request: TenantRequest, prepared: _Prepared) -> HttpResponse:
        """Add a bank account with a token of the bank-linking provider; usable at once."""
        return self._add(request, *prepared)

    def prepare_enter(self, request: TenantRequest) -> _Prepared:
        values = validated(bodies.ManualSourceIn, request.data)
        agreement = values.pop("agreement", None)
        return drafts.enter(mode=request.auth.mode, **values), agreement

    @extend_schema(
        request=bodies.ManualSourceIn,
        responses={201: envelope(bodies.FundingSourceOut)},
        extensions=refuses(
            InvalidBankDetails,
            errors.InvalidAuthorization,
            errors.DuplicateFundingSource,
            errors.NetworkNotConnected,
            errors.TooManyFundingSources,
            errors.TooManyVerifications,
        ),
    )
    @idempotent
    def enter(self, request: TenantRequest, prepared: _Prepared) -> HttpResponse:
        """Add a bank account by its numbers; live ones are verified by two small deposits."""
        return self._add(request, *prepared)

    @extend_schema(
        request=None,
        responses={200: envelope(bodies.RemovedSourceOut)},
        extensions=refuses(errors.FundingSourceInUse),
    )
    @idempotent
    def remove(self, request: TenantRequest, source_id: str) -> HttpResponse:
        """Never draw from this account again; pauses auto-funding that used it."""
        source = sources.remove(
            tenant_id=request.auth.tenant_id,
            source_id=source_id,
            actor=request.auth.actor,
            now=utc_now(),
        )
        return responses.data(presenter.removal(source))

    @extend_schema(
        request=None,
        responses=envelope(bodies.FundingSourceOut),
        extensions=refuses(errors.FundingSourceNotVerified, errors.FundingSourceUnusable),
    )
    @idempotent
    def make_default(self, request: TenantRequest, source_id: str) -> HttpResponse:
        """Make this the account that auto-funding uses unless told otherwise."""
        source = sources.make_default(
            tenant_id=request.auth.tenant_id,
            source_id=source_id,
            actor=request.auth.actor,
            now=utc_now(),
        )
        return responses.data(presenter.funding_source(source))

    @extend_schema(
        request=bodies.VerificationIn,
        responses=envelope(bodies.FundingSourceOut),
        extensions=refuses(
            errors.VerificationNotPending,
            errors.VerificationAmountsWrong,
            errors.VerificationExpired,
        ),
    )
    @idempotent
    def verify(self, request: TenantRequest, source_id: str) -> HttpResponse:
        """Prove the account with the amounts of its two deposits: three tries, ten days."""
        verdict = verifications.verify(
            tenant_id=request.auth.tenant_id,
            source_id=source_id,
            **validated(bodies.VerificationIn, request.data),
            actor=request.auth.actor,
            now=utc_now(),
        )
        if verdict.refusal is not None:
            return problems.response(verdict.refusal)
        return responses.data(presenter.funding_source(verdict.source))

    def _add(
        self, request: TenantRequest, draft: Draft, agreement: Agreement | None
    ) -> HttpResponse:
        source: FundingSource = linking.add(
            tenant_id=request.auth.tenant_id,
            draft=draft,
            agreement=agreement,
            actor=request.auth.actor,
            now=utc_now(),
        )
        return responses.data(
            presenter.funding_source(source),
            status=201,
            location=f"/api/v1/balance/funding-sources/{source.pk}",
        )
