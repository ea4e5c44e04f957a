"""Every list of the desk: fast however long its table grows, and read-only where there is money."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib import admin
from django.contrib.admin.filters import AllValuesFieldListFilter, RelatedFieldListFilter
from django.db import connection
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext

from balance.models import BalanceTransaction
from common.admin_lists import EstimatedPaginator
from common.ids import new
from tenants import session_life
from tenants.models import AuditEvent
from tests.balance.builders import fund
from tests.builders import (
    NOW,
    make_auto_funding,
    make_endpoint,
    make_key,
    make_member,
    make_source,
)
from tests.database import owner
from tests.funding.builders import run_due as run_funding
from tests.funding.builders import top_up
from tests.payments.builders import pay
from tests.payments.builders import run_due as run_payments

EVERY = sorted(admin.site._registry, key=lambda model: model._meta.label_lower)
# One row per customer, colleague or outside bank of a test: scanning them takes no time.
SHORT = {
    "ach.achkey",
    "ach.achrail",
    "ach.originator",
    "ach.railline",
    "ach.railswitch",
    "ach.railversion",
    "auth.group",
    "balance.ledgercheckpoint",
    "instant.instantkey",
    "instant.instantline",
    "instant.instantrail",
    "instant.instantversion",
    "instant.participantlist",
    "instant.position",
    "instant.positionmove",
    "sandbox_bank.sandboxevent",
    "sandbox_bank.sandboxinstruction",
    "tenants.accessproposal",
    "tenants.staffpower",
    "tenants.switch",
    "tenants.tenant",
    "tenants.user",
    "webhooks.dispatcherheartbeat",
}
LONG = [model for model in EVERY if model._meta.label_lower not in SHORT]
# What staff write by hand, through services and permissions.
WRITTEN_BY_STAFF = {
    "tenants.accessproposal",
    "balance.adjustmentproposal",
    "network_inbox.handsettlement",
    "payments.paymentsettings",
    "tenants.apikey",
    "tenants.switch",
    "tenants.tenant",
    "tenants.user",
}

# What `live` makes no second row of: rows of real networks, of staff and operators, and of what
# went wrong.
UNTOUCHED = {
    "ach.achbatch",
    "ach.achentry",
    "ach.achevent",
    "ach.achkey",
    "ach.achproposal",
    "ach.achrail",
    "ach.achreply",
    "ach.achreversal",
    "ach.correction",
    "ach.infile",
    "ach.inrecord",
    "ach.originator",
    "ach.outfile",
    "ach.railline",
    "ach.railswitch",
    "ach.railversion",
    "ach.spokenanswer",
    "api.idempotencyrecord",
    "auth.group",
    "balance.adjustment",
    "balance.adjustmentproposal",
    "balance.ledgercheck",
    "balance.ledgercheckpoint",
    "funding.authorizeddebit",
    "funding.autofundingdecision",
    "funding.confirmation",
    "funding.confirmationlink",
    "funding.debitauthorization",
    "funding.depositentry",
    "funding.fundingsourceversion",
    "funding.linkconsent",
    "funding.sourceverification",
    "instant.conversation",
    "instant.instantevent",
    "instant.instantkey",
    "instant.instantline",
    "instant.instantrail",
    "instant.instantversion",
    "instant.message",
    "instant.participant",
    "instant.participantlist",
    "instant.position",
    "instant.positionmove",
    "instant.returnask",
    "network_inbox.handsettlement",
    "payments.paymentconfirmation",
    "payments.paymentconfirmationlink",
    "payments.paymentsettings",
    "payments.recipientversion",
    "seals.seal",
    "seals.sealround",
    "tenants.accessproposal",
    "tenants.outgoingemail",
    "tenants.staffpower",
    "tenants.switch",
    "tenants.tenant",
    "webhooks.dispatcherheartbeat",
    "webhooks.webhookattempt",
}


def live(tenant, email):
    """Money in and out, people, keys, webhooks: a row or more in most of the lists."""
    make_member(tenant, email=email)
    make_key(tenant)
    make_endpoint(tenant)
    source = make_source(tenant)
    make_auto_funding(tenant, enabled=False)
    top_up(tenant, source=source)
    fund(tenant, 50_000)
    pay(tenant, 10_000)
    run_funding()
    run_payments()


def label(model):
    return model._meta.label_lower


def list_of(model, sam, **query):
    request = RequestFactory().get("/", query)
    request.user = sam
    return admin.site._registry[model].get_changelist_instance(request)


def plan_of(rows, *, without):
    """How PostgreSQL would read `rows` if it had to avoid some ways."""
    with connection.cursor() as cursor:
        for way in without:
            cursor.execute(f"SET LOCAL enable_{way} = off")
        plan = rows.explain()
        for way in without:
            cursor.execute(f"SET LOCAL enable_{way} TO DEFAULT")
    return plan


class TestLongList:
    def test_is_read_along_an_index(self, sam):
        assert {label(model) for model in LONG if sorts(model, sam)} == set()

    def test_is_searched_along_indexes(self, sam):
        assert {label(model) for model in LONG if scans(model, sam)} == set()

    def test_has_no_filter_that_reads_the_table_for_its_choices(self, sam):
        reading = AllValuesFieldListFilter | RelatedFieldListFilter
        filters = {label(model): list_of(model, sam).filter_specs for model in LONG}

        assert {
            name for name, each in filters.items() if any(isinstance(f, reading) for f in each)
        } == set()

    def test_says_what_can_be_searched_for(self):
        desks = {label(model): admin.site._registry[model] for model in LONG}

        assert {
            n for n, d in desks.items() if bool(d.search_help_text) != bool(d.search_fields)
        } == set()

    def test_is_not_counted(self):
        desks = {label(model): admin.site._registry[model] for model in LONG}

        assert {name: desk.paginator for name, desk in desks.items()} == dict.fromkeys(
            desks, EstimatedPaginator
        )
        assert {name for name, desk in desks.items() if desk.show_full_result_count} == set()


def sorts(model, sam):
    """Whether the first page takes a sort; a merge of sorted partitions has a key, but sorts
    nothing."""
    rows = list_of(model, sam).queryset.select_related(None)[:100]
    return "Sort  (" in plan_of(rows, without=("seqscan", "sort", "incremental_sort"))


def scans(model, sam):
    """Whether a search reads the table. Of an empty table a whole index is as cheap as a look-up
    in it; a bitmap needs a look-up."""
    found = list_of(model, sam, q=new("ftx")).queryset.order_by().values("pk")
    plan = plan_of(found, without=("seqscan", "indexscan", "indexonlyscan"))
    return "Seq Scan" in plan or "Cond: " not in plan


class FivePaginator(EstimatedPaginator):
    """Counts five rows where the desk counts ten thousand."""

    counted_max = 5


def events(tenant, count):
    AuditEvent.objects.bulk_create(
        AuditEvent(tenant=tenant, actor_type="system", action="test", created_at=NOW)
        for _ in range(count)
    )


def analyze(table):
    with owner.as_owner(), connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {table}")


class TestEstimate:
    @pytest.fixture
    def _ten(self, acme):
        """Nine events beside the one of the tenant's creation."""
        events(acme, 9)
        analyze("tenants_auditevent")

    def test_of_a_short_list_is_exact(self, acme):
        assert FivePaginator(AuditEvent.objects.order_by("pk"), 2).count == 1

    @pytest.mark.usefixtures("_ten")
    def test_of_a_long_table_is_what_postgresql_thinks(self, acme):
        events(acme, 3)  # since it was analyzed

        assert FivePaginator(AuditEvent.objects.order_by("pk"), 2).count == 10

    @pytest.mark.usefixtures("_ten")
    def test_of_a_long_search_stops_counting(self):
        rows = AuditEvent.objects.filter(action="test").order_by("pk")

        assert FivePaginator(rows, 2).count == 5

    def test_of_partitions_adds_them_up(self, acme):
        for _ in range(6):
            fund(acme, 1_000)
        analyze("balance_transaction")
        fund(acme, 1_000)

        assert FivePaginator(BalanceTransaction.objects.order_by("pk"), 2).count == 6

    def test_counts_what_a_person_could_look_through(self, acme):
        events(acme, 1_199)

        pages = EstimatedPaginator(AuditEvent.objects.order_by("pk"), 1)

        assert (pages.count, pages.num_pages) == (1_200, 1_000)
        assert EstimatedPaginator.counted_max == 10_000


class TestWhatIsFound:
    PATH = "/admin/tenants/tenant/"

    @pytest.fixture
    def of(self, desk, acme, rival):
        """The page of a list without its line breaks."""
        return lambda query="": " ".join(desk.get(self.PATH + query).content.decode().split())

    def test_is_counted_beside_a_link_to_all(self, of):
        assert '1 result (<a href="?">Show all</a>)' in of("?q=Acme")

    def test_is_not_counted_where_all_is_shown(self, of):
        page = of()

        assert "Acme" in page
        assert "results (" not in page

    def test_says_once_that_nothing_matches(self, of):
        page = of("?q=Nobody")

        assert "Nothing matches" in page
        assert "results (" not in page
        assert page.count(">Show all</a>") == 1


class TestQueries:
    def test_are_the_same_for_twice_the_rows(self, desk, acme, rival, monkeypatch):
        """Every list that a tenant's life fills; which ones it leaves as they are, is named."""
        # Three statements, once a minute, of whichever list it meets: on a busy machine this test
        # takes longer than that.
        monkeypatch.setattr(session_life, "_NOTED_EVERY", timedelta(days=1))

        def read():
            found = {}
            for model in EVERY:
                app, name = label(model).split(".")
                with CaptureQueriesContext(connection) as captured:
                    assert desk.get(f"/admin/{app}/{name}/").status_code == 200
                found[label(model)] = len(captured)
            return found

        def rows():
            return {label(model): model._default_manager.count() for model in EVERY}

        live(acme, "dana@acme.example")
        desk.get("/admin/tenants/tenant/")  # what is asked once a process
        one, rows_of_one = read(), rows()
        live(rival, "ravi@rival.example")
        two, rows_of_two = read(), rows()

        grown = {name for name in one if 0 < rows_of_one[name] < rows_of_two[name]}
        assert {name: two[name] for name in grown} == {name: one[name] for name in grown}
        assert set(one) - grown == UNTOUCHED


@pytest.mark.parametrize("model", [m for m in EVERY if label(m) not in WRITTEN_BY_STAFF], ids=label)
class TestMoney:
    """Nobody writes these by hand, not even a superuser: services do."""

    def test_is_neither_added_changed_nor_deleted(self, desk, sam, model):
        app, name = label(model).split(".")
        request = RequestFactory().get("/")
        request.user = sam
        desk_of = admin.site._registry[model]

        assert not desk_of.has_add_permission(request)
        assert not desk_of.has_change_permission(request)
        assert not desk_of.has_delete_permission(request)
        assert "delete_selected" not in desk_of.get_actions(request)
        assert desk_of.list_editable == ()
        assert desk.get(f"/admin/{app}/{name}/add/").status_code == 403
        assert desk.post(f"/admin/{app}/{name}/add/", {}).status_code == 403

    def test_has_no_inline_that_writes(self, sam, model):
        request = RequestFactory().get("/")
        request.user = sam
        for inline in admin.site._registry[model].get_inline_instances(request):
            assert not inline.has_add_permission(request, None)
            assert not inline.has_change_permission(request)
            assert not inline.has_delete_permission(request)

    def test_shows_no_secret(self, sam, model):
        request = RequestFactory().get("/")
        request.user = sam
        shown = admin.site._registry[model].get_fields(request)

        secret = ("account_number_token", "amounts", "body_token", "secret_token")
        assert not set(shown) & set(secret)
