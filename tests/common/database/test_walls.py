"""Row level security: what the API's role sees, table by table, and what it cannot do about it."""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.db import DatabaseError, ProgrammingError, connection, transaction

from balance import services as ledger
from common.database import doors, grants, rights, roles, walls
from funding.models import (
    Confirmation,
    ConfirmationLink,
    FundingEvent,
    FundingSource,
    FundingTransaction,
)
from networks.base import EventKind, NetworkEvent
from payments.models import (
    Payment,
    PaymentConfirmation,
    PaymentConfirmationLink,
    PaymentEvent,
    Recipient,
)
from tenants.models import AuditEvent, Tenant, User
from tests.builders import NOW, ApiClient, make_key, make_member
from tests.database import owner
from tests.funding.builders import top_up
from tests.payments.builders import fund, pay
from transfers.inbox.arrivals import stored
from transfers.inbox.models import InboundEvent

pytestmark = pytest.mark.django_db

# Tables whose rows are of no tenant. Whoever makes a table without one says so here.
OF_NO_TENANT = {
    "account_emailaddress",
    "account_emailconfirmation",
    "ach_achkey",
    "ach_achrail",
    "ach_achreply",
    "ach_infile",
    "ach_infilechunk",
    "ach_inrecord",
    "ach_outfile",
    "ach_outfilechunk",
    "ach_railline",
    "ach_railswitch",
    "ach_railversion",
    "ach_spokenanswer",
    "ach_tracecounter",
    "auth_group",
    "auth_group_permissions",
    "auth_permission",
    "desk_assignment",
    "desk_itemnote",
    "balance_operator_day",
    "django_admin_log",
    "django_content_type",
    "django_migrations",
    "django_session",
    "instant_instantkey",
    "instant_instantline",
    "instant_instantrail",
    "instant_instantversion",
    "instant_participant",
    "instant_participantlist",
    "instant_position",
    "instant_positionmove",
    "rails_rail",
    "rails_route",
    "reconciliation_bankstatement",
    "reconciliation_bookedline",
    "reconciliation_clearing",
    "reconciliation_closedday",
    "reconciliation_expectedline",
    "reconciliation_intransit",
    "reconciliation_match",
    "reconciliation_matchedline",
    "reconciliation_settlementaccount",
    "reconciliation_statementline",
    "reconciliation_transitnote",
    "solvency_proofreport",
    "solvency_prooftree",
    "seals_seal",
    "seals_sealpublication",
    "seals_auditstream",
    "tenants_staffpower",
    "seals_sealround",
    "tenants_user_groups",
    "tenants_user_user_permissions",
    "socialaccount_socialaccount",
    "socialaccount_socialapp",
    "socialaccount_socialtoken",
    "usersessions_usersession",
    "webhooks_dispatcherheartbeat",
}
# Partitions are reached through their table alone: nobody has a right on them.
TABLES = """
SELECT relname, relrowsecurity AND relforcerowsecurity FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
"""
# Every table of tenants beside its column, and the role's own count of the others' rows.
COLUMNS = """
SELECT table_name FROM information_schema.columns
WHERE table_schema = 'public' AND column_name = 'tenant_id'
"""
NOT_OURS = "SELECT count(*) FROM {} WHERE tenant_id <> %s"


def rows(statement, *values):
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []


LINK = {"approver_email": "ada@acme.example", "created_at": NOW}
# Each kind of link, its approval, and what the approval is about.
LINKS: list[tuple[Any, Any, tuple[str, ...]]] = [
    (ConfirmationLink, Confirmation, ("funding", "source")),
    (PaymentConfirmationLink, PaymentConfirmation, ("payment",)),
]


def make_approval(tenant, _model, parent, names):
    subject = (FundingTransaction if "funding" in names else Payment).objects.get(tenant=tenant)
    about = dict(zip(names, (subject, getattr(subject, "source", None)), strict=False))
    parent.objects.create(
        tenant=tenant, amount=100, reason="x", expires_at=NOW, created_at=NOW, **about
    )


def seen_by(tenant):
    return _Seen(tenant)


class _Seen:
    """A block under the API's role that sees `tenant`, or none."""

    def __init__(self, tenant):
        self._open, self._tenant = doors.of_api(only_reads=False), tenant

    def __enter__(self):
        self._open.__enter__()
        if self._tenant is not None:
            doors.see(self._tenant.pk)

    def __exit__(self, *error):
        self._open.__exit__(*error)


@pytest.fixture
def both(acme, rival):
    """Rows of each of two tenants in many tables."""
    for tenant in (acme, rival):
        make_key(tenant)
        make_member(tenant, email=f"{tenant.pk}@example.com")
        fund(tenant, 1_000)
        top_up(tenant)
        pay(tenant, 100)
        ledger.set_notify_below(tenant_id=tenant.pk, amount=5)
    return acme, rival


class TestTables:
    def test_each_has_a_wall_or_no_tenant(self):
        """A new table with a tenant gets its wall from `manage.py database_roles`; one that names
        no tenant is to be looked at, and listed above."""
        found = dict(rows(TABLES))

        assert {name for name, is_forced in found.items() if not is_forced} == OF_NO_TENANT
        assert found.keys() - OF_NO_TENANT == walls.of_tables().keys()

    def test_with_a_column_of_that_name_are_all_among_them(self):
        named = {name for (name,) in rows(COLUMNS) if not name.startswith("balance_transaction_")}

        assert named <= walls.of_tables().keys() | walls.views()

    def test_are_as_they_should_be(self):
        assert roles.wall_problems() == []

    def test_that_lost_something_are_named(self):
        with owner.as_owner():
            rows("ALTER TABLE payments_payment NO FORCE ROW LEVEL SECURITY")
            rows("ALTER VIEW balance_journal RESET (security_invoker)")
            ((policy,), *_) = rows(
                "SELECT policyname FROM pg_policies WHERE tablename = 'funding_fundingevent'"
            )
            rows(f"DROP POLICY {policy} ON funding_fundingevent")
            rows(f"GRANT SELECT ON django_session TO {settings.DATABASE_API['USER']}")
            rows(f"REVOKE INSERT ON payments_payment FROM {settings.DATABASE_API['USER']}")

        api = settings.DATABASE_API["USER"]
        assert {(problem.words, problem.is_harmless) for problem in roles.wall_problems()} == {
            (f"{api}: missing: the view balance_journal shows every tenant", False),
            (f"{api}: missing: the policies of funding_fundingevent", False),
            (f"{api}: missing: the policies of payments_payment", False),
            (f"{api}: missing: INSERT on payments_payment", False),
            (f"{api}: too much: SELECT on django_session", True),
        }

    def test_without_a_wall_are_said_to_have_none(self, settings):
        settings.DATABASE_API = {}

        (problem,) = roles.wall_problems()

        assert problem.is_harmless
        assert "DATABASE_API_URL is not set" in problem.words

    def test_are_mended_by_the_command(self):
        with owner.as_owner():
            rows("ALTER TABLE payments_payment NO FORCE ROW LEVEL SECURITY")

            granted, changed = grants.build_walls(
                settings.DATABASE_APPLICATION_ROLE, settings.DATABASE_API["USER"]
            )

        assert (granted.functions, changed) == (8, 1)
        assert roles.wall_problems() == []


class TestWithoutATenant:
    @pytest.mark.parametrize(
        "table",
        sorted((walls.of_tables().keys() | walls.views()) - rights.HIDDEN_FROM_TENANTS),
    )
    def test_nothing_is_seen(self, both, table):
        with seen_by(None):
            assert rows(f"SELECT count(*) FROM {table}") == [(0,)]

    def test_nothing_is_written(self, acme):
        refused = pytest.raises(ProgrammingError, match="row-level")
        with seen_by(None), refused, transaction.atomic():
            AuditEvent.objects.create(tenant=acme, actor_type="system", action="x", created_at=NOW)


class TestOneTenant:
    @pytest.mark.parametrize(
        "table",
        sorted(walls.of_tables().keys() - {"tenants_tenant"} - rights.HIDDEN_FROM_TENANTS),
    )
    def test_sees_no_row_of_another(self, both, table):
        acme, _ = both
        everything = rows(f"SELECT count(*) FROM {table}")
        counts = []
        for tenant in both:
            with seen_by(tenant):
                counts += rows(f"SELECT count(*) FROM {table}")

        ((total,),), ours, theirs = everything, counts[0][0], counts[1][0]
        assert ours + theirs <= total
        assert ours == theirs  # both have the same, and as much as there is
        with seen_by(acme):
            if (table,) in rows(COLUMNS):
                assert rows(NOT_OURS.format(table), acme.pk) == [(0,)]

    @pytest.mark.parametrize(
        "model", [FundingTransaction, FundingEvent, FundingSource, Payment, PaymentEvent, Recipient]
    )
    def test_sees_its_own_without_any_filter(self, both, model):
        total = model.objects.count()
        with seen_by(both[0]):
            mine = set(model.objects.values_list("pk", flat=True))
        with seen_by(both[1]):
            others = set(model.objects.values_list("pk", flat=True))

        assert mine
        assert others
        assert not mine & others
        assert len(mine | others) == total

    def test_is_the_only_tenant_and_sees_its_own_people(self, both):
        acme, rival = both
        stranger = make_member(rival, email="stranger@example.com")

        with seen_by(acme):
            assert list(Tenant.objects.all()) == [acme]
            people = set(User.objects.values_list("pk", flat=True))

        assert people
        assert stranger.pk not in people
        assert people == set(acme.memberships.values_list("user_id", flat=True))

    def test_sees_the_messages_of_networks_about_its_own(self, both):
        for row in FundingTransaction.objects.all():
            said = NetworkEvent(
                id=f"evt_{row.pk}",
                network="sandbox",
                instruction_id=row.pk,
                kind=EventKind.SETTLED,
                amount=row.amount,
                currency=row.currency,
                occurred_at=NOW,
            )
            stored(said, NOW).save()
        ours = FundingTransaction.objects.get(tenant=both[0])

        with seen_by(both[0]):
            assert InboundEvent.objects.get().instruction_id == ours.pk

    def test_sees_its_journal_alone_through_the_view(self, both):
        with seen_by(both[0]):
            assert rows("SELECT DISTINCT tenant_id FROM balance_journal") == [(both[0].pk,)]

    def test_changes_and_deletes_no_row_of_another(self, both):
        acme, rival = both
        with seen_by(acme), connection.cursor() as cursor:
            cursor.execute("UPDATE funding_fundingsource SET last_return_code = 'x'")
            changed = cursor.rowcount
            cursor.execute("UPDATE tenants_tenant SET name = 'x'")
            assert cursor.rowcount == 1

        assert changed == FundingSource.objects.filter(tenant=acme).count()
        assert not FundingSource.objects.filter(tenant=rival, last_return_code="x").exists()
        assert Tenant.objects.get(pk=rival.pk).name == "Rival"

    def test_writes_no_row_for_another(self, both):
        refused = pytest.raises(ProgrammingError, match="row-level security")
        with seen_by(both[0]), refused, transaction.atomic():
            AuditEvent.objects.create(
                tenant=both[1], actor_type="system", action="x", created_at=NOW
            )

    def test_writes_no_link_for_an_approval_of_another(self, both):
        """Whoever has a link approves: it is made for an approval that the tenant sees."""
        for tenant in both:
            for kind in LINKS:
                make_approval(tenant, *kind)
        refused = pytest.raises(ProgrammingError, match="row-level security")
        for model, parent, _ in LINKS:
            ours, theirs = (parent.objects.get(tenant=tenant).pk for tenant in both)
            with seen_by(both[0]):
                model.objects.create(**LINK, confirmation_id=ours, digest=f"ours {ours}")
                with refused, transaction.atomic():
                    model.objects.create(**LINK, confirmation_id=theirs, digest="theirs")

    def test_gives_no_row_of_its_own_to_another(self, both):
        refused = pytest.raises(ProgrammingError, match="row-level security")
        with seen_by(both[0]), refused, transaction.atomic():
            rows("UPDATE tenants_membership SET tenant_id = %s", both[1].pk)


FORBIDDEN = [
    "TRUNCATE balance_transaction",
    "TRUNCATE funding_fundingtransaction CASCADE",
    "ALTER TABLE balance_transaction DISABLE TRIGGER ALL",
    "ALTER TABLE balance_transaction DISABLE ROW LEVEL SECURITY",
    "ALTER TABLE balance_transaction NO FORCE ROW LEVEL SECURITY",
    "DROP TABLE balance_transaction",
    "UPDATE balance_transaction SET amount = 1",
    "DELETE FROM balance_transaction",
    "UPDATE balance SET available = 1",
    "INSERT INTO balance_transaction SELECT * FROM balance_transaction",
    "CREATE POLICY mine ON balance_transaction USING (true)",
    "SELECT * FROM balance_transaction_00",
    "CREATE TABLE mine ()",
    "SET session_replication_role = replica",
]


class TestWhatNoRoleOfTheProductMay:
    @pytest.mark.parametrize("statement", FORBIDDEN)
    def test_not_even_the_application(self, both, statement):
        with pytest.raises(DatabaseError), transaction.atomic():
            rows(statement)

    @pytest.mark.parametrize("statement", FORBIDDEN)
    def test_nor_the_api(self, both, statement):
        with seen_by(both[0]), pytest.raises(DatabaseError), transaction.atomic():
            rows(statement)

    @pytest.mark.parametrize(
        "table", ["django_session", "mfa_authenticator", "account_emailaddress", "seals_seal"]
    )
    def test_the_api_reads_nothing_of_pages_and_seals(self, acme, table):
        denied = pytest.raises(ProgrammingError, match="permission denied")
        with seen_by(acme), denied, transaction.atomic():
            rows(f"SELECT * FROM {table}")

    @pytest.mark.parametrize(
        "table",
        [model._meta.db_table for model in apps.get_app_config("reconciliation").get_models()],
    )
    def test_the_api_reads_nothing_of_banks(self, acme, table):
        denied = pytest.raises(ProgrammingError, match="permission denied")
        with seen_by(acme), denied, transaction.atomic():
            rows(f"SELECT * FROM {table}")

    def test_the_api_reads_no_password_of_its_own_people(self, both):
        denied = pytest.raises(ProgrammingError, match="permission denied")
        with seen_by(both[0]), denied, transaction.atomic():
            rows("SELECT password FROM tenants_user")


class TestRequests:
    def test_of_a_key_work_as_the_apis_role(self, acme, machinery):
        found = ApiClient(make_key(acme)).get("/api/v1/test/everything").json()["data"]

        assert found["role"] == settings.DATABASE_API["USER"]
        assert found["tenants"] == [acme.pk]

    def test_without_a_filter_answer_no_row_of_another(self, both, machinery):
        acme, _ = both

        found = ApiClient(make_key(acme)).get("/api/v1/test/everything").json()["data"]

        ours = set(FundingTransaction.objects.filter(tenant=acme).values_list("pk", flat=True))
        assert found["fundings"]
        assert set(found["fundings"]) == ours

    def test_leave_the_application_as_it_was(self, acme):
        ApiClient(make_key(acme)).get("/api/v1/balance/summary")

        assert rows("SELECT current_user, current_setting('ballast.tenant', true)") == [
            (settings.DATABASE_APPLICATION_ROLE, "")
        ]
