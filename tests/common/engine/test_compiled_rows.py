"""Querysets that are compiled once find what the querysets find."""

from __future__ import annotations

import threading

import pytest
from django.db import DataError, connection, transaction
from django.db.models import CharField, Exists, OuterRef

from common.engine.compiled_rows import Rows
from tenants.models import Membership, Role, Tenant
from tests.builders import make_member, make_tenant


def members(tenant_id, role):
    owners = Membership.objects.filter(tenant_id=OuterRef("tenant_id"), role=Role.OWNER)
    rows = Membership.objects.filter(tenant_id=tenant_id, role=role).select_related("user")
    return rows.annotate(has_owner=Exists(owners)).order_by("user__email")


MEMBERS = Rows(members, tenant_id=CharField(), role=CharField())


@pytest.fixture
def acme(db):
    return make_tenant(name="Acme")


def test_makes_the_objects_with_related_ones_and_annotations(acme, django_assert_num_queries):
    make_member(acme, email="olga@acme.example", role=Role.OWNER)
    viewer = make_member(acme, email="vera@acme.example", role=Role.VIEWER)

    with django_assert_num_queries(1):
        (found,) = MEMBERS.read(tenant_id=acme.pk, role=Role.VIEWER)
        assert (found.user, found.has_owner) == (viewer, True)


def test_asks_with_the_values_of_each_call(acme):
    bolt = make_tenant(name="Bolt")
    ours = make_member(acme, email="vera@acme.example", role=Role.VIEWER)
    theirs = make_member(bolt, email="vito@bolt.example", role=Role.VIEWER)

    assert [row.user for row in MEMBERS.read(tenant_id=acme.pk, role=Role.VIEWER)] == [ours]
    assert [row.user for row in MEMBERS.read(tenant_id=bolt.pk, role=Role.VIEWER)] == [theirs]
    assert MEMBERS.read(tenant_id=bolt.pk, role=Role.OWNER) == []


def test_reads_values_and_slices(acme):
    make_tenant(name="Bolt")
    rows = Rows(lambda: Tenant.objects.order_by("-name").values_list("name", "mode")[:1])

    assert rows.read() == [("Bolt", "sandbox")]


def test_refuses_to_run_without_a_value(acme):
    with pytest.raises(KeyError, match="role"):
        MEMBERS.read(tenant_id=acme.pk)


def test_raises_what_the_queryset_raises(db):
    rows = Rows(
        lambda tenant_id: Tenant.objects.extra(where=["1 / 0 > 1"]).filter(pk=tenant_id),
        tenant_id=CharField(),
    )

    with pytest.raises(DataError):
        rows.read(tenant_id="ten_1")


@pytest.mark.django_db(transaction=True)
def test_each_thread_reads_by_its_own_connection():
    names = Rows(lambda: Tenant.objects.values_list("name", flat=True))
    seen_elsewhere = []

    def look():
        seen_elsewhere.extend(names.read())
        connection.close()

    with transaction.atomic():
        make_tenant(name="Acme")
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        assert names.read() == ["Acme"]

    assert seen_elsewhere == []
