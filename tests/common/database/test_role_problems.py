"""A role that is not as it should be: who says so, and where."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from common.database import checks, grants, roles
from common.engine.postgresql.wrapper import Wrapper
from tests.builders import ApiClient
from tests.database import owner
from tests.settings import DATABASE_APPLICATION_ROLE, TEST_OWNER_ROLE, TEST_SUPERUSER

pytestmark = pytest.mark.django_db


def differences():
    return [problem.words for problem in roles.differences()]


def login(role):
    """A connection whose very login is `role`."""
    other = owner.another_connection()
    other.settings_dict["USER"] = role
    return other


@pytest.fixture
def production(settings, monkeypatch):
    settings.DATABASE_ROLE_MUST_BE_BOUND = True
    settings.ALLOW_DATABASE_OWNER = False
    monkeypatch.setattr(Wrapper, "_is_role_known", False)


@pytest.mark.usefixtures("production")
class TestProduction:
    @pytest.mark.parametrize(
        ("role", "words"),
        [
            (TEST_SUPERUSER, f"{TEST_SUPERUSER} is a superuser"),
            (TEST_OWNER_ROLE, f"{TEST_OWNER_ROLE} owns tables, or may become their owner"),
        ],
    )
    def test_refuses_to_work_as_a_role_that_no_grant_binds(self, role, words):
        other = login(role)

        with pytest.raises(ImproperlyConfigured, match=f"DATABASE_URL: {words}"):
            other.ensure_connection()

        assert other.connection is None

    def test_works_as_the_applications_role(self):
        other = login(DATABASE_APPLICATION_ROLE)
        try:
            other.ensure_connection()
        finally:
            other.close()

    def test_is_not_ready_as_such_a_role(self):
        response = ApiClient().get("/readyz")

        assert response.status_code == 503
        assert "is a superuser" in response.json()["role"]


class TestReady:
    def test_names_what_is_missing(self):
        with owner.as_owner(), connection.cursor() as cursor:
            role = connection.ops.quote_name(DATABASE_APPLICATION_ROLE)
            cursor.execute(f"REVOKE INSERT ON tenants_auditevent FROM {role}")
            cursor.execute(f"REVOKE EXECUTE ON FUNCTION balance_open FROM {role}")

        found = differences()

        assert found == [
            "missing: EXECUTE on balance_open(text,text)",
            "missing: INSERT on tenants_auditevent",
        ]

    def test_names_what_is_too_much(self):
        with owner.as_owner(), connection.cursor() as cursor:
            role = connection.ops.quote_name(DATABASE_APPLICATION_ROLE)
            cursor.execute(f"GRANT INSERT, TRUNCATE ON balance_transaction TO {role}")
            cursor.execute(f"GRANT UPDATE (available) ON balance TO {role}")

        assert differences() == [
            "too much: UPDATE (available) on balance",
            "too much: INSERT on balance_transaction",
            "too much: TRUNCATE or TRIGGER on balance_transaction",
        ]

    def test_names_what_is_missing_before_any_number_of_others(self):
        with owner.as_owner(), connection.cursor() as cursor:
            role = connection.ops.quote_name(DATABASE_APPLICATION_ROLE)
            cursor.execute(f"GRANT TRUNCATE ON balance_transaction TO {role}")
            cursor.execute(f"REVOKE INSERT ON tenants_auditevent FROM {role}")

        assert differences() == [
            "missing: INSERT on tenants_auditevent",
            "too much: TRUNCATE or TRIGGER on balance_transaction",
        ]

    def test_says_when_the_posting_function_is_gone(self):
        with owner.as_owner(), connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION balance_post")

        assert differences() == ["missing: function balance_post"]

    def test_keeps_what_the_last_release_needs_when_asked(self):
        with owner.as_owner(), connection.cursor() as cursor:
            role = connection.ops.quote_name(DATABASE_APPLICATION_ROLE)
            cursor.execute(f"GRANT INSERT ON balance_transaction TO {role}")
            grants.grant(DATABASE_APPLICATION_ROLE, revoke=False)

        assert differences() == ["too much: INSERT on balance_transaction"]

    def test_of_a_table_misses_no_column_while_the_last_release_reads_all_of_it(self):
        with owner.as_owner(), connection.cursor() as cursor:
            role = connection.ops.quote_name(DATABASE_APPLICATION_ROLE)
            cursor.execute(f"GRANT SELECT ON django_session TO {role}")

        assert differences() == ["too much: SELECT on django_session"]

    def test_an_unknown_role_is_refused(self):
        with owner.as_owner(), pytest.raises(grants.UnknownRole):
            grants.grant("nobody_knows")


class TestOneAddress:
    def test_is_a_sentence_in_development(self, settings):
        settings.DEBUG, settings.DATABASE_OWNER_URL = True, ""
        settings.ALLOW_DATABASE_OWNER = False

        (said,) = checks.one_address()

        assert said.id == "ballast.W001"
        assert "DATABASE_URL is the only address" in said.msg

    def test_is_none_with_both(self, settings):
        settings.DEBUG, settings.DATABASE_OWNER_URL = True, "postgresql://owner@/ballast"

        assert checks.one_address() == []


def test_the_deployment_check_names_each_problem(settings):
    with owner.as_owner(), connection.cursor() as cursor:
        role = connection.ops.quote_name(DATABASE_APPLICATION_ROLE)
        cursor.execute(f"REVOKE SELECT ON tenants_tenant FROM {role}")

    settings.ALLOW_DATABASE_OWNER = False
    with owner.as_owner():
        (unbound,) = checks.role_is_bound(databases=["default"])

    assert "is a superuser" in unbound.msg
    assert checks.role_is_bound(databases=None) == []
