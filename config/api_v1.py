"""The whole public interface on one page, in the order of the reference."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from funding.api.sources import FundingSourceViewSet

urlpatterns: list[URLPattern | URLResolver] = [
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
]
