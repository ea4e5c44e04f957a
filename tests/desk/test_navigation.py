from __future__ import annotations

import re

from django.contrib import admin
from django.utils.text import capfirst

from desk import navigation

EVERY = sorted(admin.site._registry, key=lambda model: model._meta.label_lower)
HEADING = re.compile(r"<h1\b[^>]*>(.*?)</h1>", re.DOTALL)


def links_of(user):
    return [link for group in navigation.groups(user) for link in group.links]


class TestMenu:
    def test_leads_to_every_list(self, sam):
        links = {link.address for link in links_of(sam)}

        for model in admin.site._registry:
            assert f"/admin/{model._meta.label_lower.replace('.', '/')}/" in links

    def test_shows_to_each_what_they_may_open(self, staff_with, django_user_model):
        staff_with("tenants.view_tenant")
        lee = django_user_model.objects.get(email="lee@ballast.example")

        assert {link.title for link in links_of(lee)} == {"Home", "Tenants", "Queues"}

    def test_calls_each_list_what_its_own_page_calls_it(self, desk, sam):
        links = links_of(sam)

        for model in EVERY:
            path = f"/admin/{model._meta.label_lower.replace('.', '/')}/"
            (title,) = [link.title for link in links if link.address == path]
            assert title == capfirst(str(model._meta.verbose_name_plural))
            assert title in "".join(HEADING.findall(desk.get(path).content.decode()))

    def test_names_nothing_that_does_not_exist(self):
        known = {model._meta.label_lower for model in admin.site._registry}

        assert {name for _title, names in navigation._LISTS for name in names} <= known

    def test_marks_the_page_and_opens_its_group(self, desk):
        page = desk.get("/admin/payments/payment/").content.decode()

        assert page.count('aria-current="page">Payments<') == 1
        assert re.findall(r"<details open><summary>(.*?)</summary>", page) == ["Money out"]

    def test_marks_the_home_on_no_other_page(self, desk):
        marked = b'<a href="/admin/" aria-current="page">'

        assert marked in desk.get("/admin/").content
        assert marked not in desk.get("/admin/desk/queues/").content
