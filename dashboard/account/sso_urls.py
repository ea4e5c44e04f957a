"""Addresses of single sign-on. A provider is told the callback's."""

from __future__ import annotations

from django.urls import path

from dashboard.account import sso_views

urlpatterns = [
    path("", sso_views.find, name="sso_find"),
    path("<slug:connection_id>/", sso_views.start, name="sso_start"),
    path("<slug:connection_id>/callback/", sso_views.callback, name="sso_callback"),
    path("<slug:connection_id>/saml/", sso_views.saml_answer, name="sso_saml_answer"),
]
