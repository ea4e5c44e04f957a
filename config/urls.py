"""Every address that we serve."""

from __future__ import annotations

from allauth.account.views import password_reset_from_key
from django.contrib import admin
from django.urls import include, path, re_path
from django.views.generic import RedirectView

from api.views import schema, unknown_path
from config import health
from config.metrics import metrics
from dashboard.account import views as account
from dashboard.shell import site
from tenants.account_transactions import account_pages, in_one_transaction

handler500 = "dashboard.shell.broken.server_error"

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("metrics", metrics),
    path("api/v1/", include("config.api_v1")),
    path("api/schema", schema, name="schema"),
    path("api/docs", RedirectView.as_view(pattern_name="docs:reference", permanent=True)),
    re_path(r"^api(?:/|$)", unknown_path),
    # allauth's own pattern does not allow the underscore of our user ids.
    re_path(
        r"^accounts/password/reset/key/(?P<uidb36>usr_[0-9a-z]+)-(?P<key>.+)/$",
        in_one_transaction(password_reset_from_key),
        name="account_reset_password_from_key",
    ),
    # People are invited and known by their address; only staff change it.
    path("accounts/email/", site.not_offered),
    path("accounts/password/set/", account.first_password, name="account_set_password"),
    path("accounts/sso/", include("dashboard.account.sso_urls")),
    path("accounts/", include(account_pages())),
    path("admin/desk/", include("desk.urls")),
    path("admin/", admin.site.urls),
    path("brand/", include("dashboard.shell.brand_files")),
    path("", include("dashboard.urls")),
    re_path(r"", site.unknown_page),
]
