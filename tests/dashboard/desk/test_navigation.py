from __future__ import annotations

from django.contrib import admin
from django.test import RequestFactory

from dashboard.desk import navigation


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

    def test_names_nothing_that_does_not_exist(self):
        known = {model._meta.label_lower for model in admin.site._registry}

        assert {name for _title, names in navigation._LISTS for name in names} <= known
