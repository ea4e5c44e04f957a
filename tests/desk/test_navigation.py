from __future__ import annotations

import re

from django.contrib import admin
from django.test import RequestFactory
from django.utils.text import capfirst

from desk import navigation

EVERY = sorted(admin.site._registry, key=lambda model: model._meta.label_lower)
HEADING = re.compile(r"<h1\b[^>]*>(.*?)</h1>", re.DOTALL)


def titles_for(user):
    request = RequestFactory().get("/admin/")
    request.user = user
    return {
        item["title"]
        for group in navigation.groups(request)
        for item in group["items"]
        if item["permission"](request)
    }


class TestMenu:
    def test_leads_to_every_list(self, sam):
        request = RequestFactory().get("/admin/")
        links = {item["link"] for group in navigation.groups(request) for item in group["items"]}

        for model in admin.site._registry:
            assert f"/admin/{model._meta.label_lower.replace('.', '/')}/" in links

    def test_shows_to_each_what_they_may_open(self, staff_with, django_user_model):
        staff_with("tenants.view_tenant")
        lee = django_user_model.objects.get(email="lee@ballast.example")

        assert titles_for(lee) == {"Home", "Tenants", "Queues"}

    def test_calls_each_list_what_its_own_page_calls_it(self, desk, sam):
        request = RequestFactory().get("/admin/")
        items = [item for group in navigation.groups(request) for item in group["items"]]

        for model in EVERY:
            path = f"/admin/{model._meta.label_lower.replace('.', '/')}/"
            (title,) = [item["title"] for item in items if item["link"] == path]
            assert title == capfirst(str(model._meta.verbose_name_plural))
            assert title in "".join(HEADING.findall(desk.get(path).content.decode()))

    def test_names_nothing_that_does_not_exist(self):
        known = {model._meta.label_lower for model in admin.site._registry}

        assert {name for _title, names in navigation._LISTS for name in names} <= known
