"""Every address we serve."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from api.views import unknown_path
from config import health

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("", include("django_prometheus.urls")),
    path("api/v1/", include("config.api_v1")),
    path("api/schema", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="api-docs"),
    re_path(r"^api/", unknown_path),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
]
