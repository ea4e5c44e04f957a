"""Puts the desk in the place of Django's admin."""

from __future__ import annotations

from django.contrib.admin.apps import AdminConfig


class DeskSiteConfig(AdminConfig):
    default_site = "desk.site.DeskSite"
