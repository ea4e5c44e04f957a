"""The desk's own addresses, below `/admin/desk/`."""

from __future__ import annotations

from django.urls import path

from desk.account_numbers import views as account_numbers
from desk.ledger import views as ledger
from desk.queues import views as queues
from desk.tenants import viewing
from desk.tenants import views as tenants

app_name = "desk"

urlpatterns = [
    path("ledger/", ledger.ledger, name="ledger"),
    path("ledger/check/", ledger.check, name="check"),
    path("ledger/export/", ledger.export, name="export"),
    path("queues/", queues.queues, name="queues"),
    path("tenants/<str:tenant_id>/", tenants.tenant, name="tenant"),
    path("tenants/<str:tenant_id>/suspend/", tenants.suspend, name="suspend"),
    path("tenants/<str:tenant_id>/release/", tenants.release, name="release"),
    path("tenants/<str:tenant_id>/limits/", tenants.limits, name="limits"),
    path("tenants/<str:tenant_id>/view-as/", viewing.view_as, name="view_as"),
    path("stop-viewing/", viewing.stop, name="stop_viewing"),
    path("account-numbers/<str:account_id>/", account_numbers.reveal, name="account_number"),
]
