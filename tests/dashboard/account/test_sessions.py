"""How long sessions last, what they prove, and what of them is stored."""

from __future__ import annotations

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import connection
from django.test import Client

from tenants.models import User
from tenants.session_store import SessionStore
from tests.builders import NOW, browser_of, enter_as, make_staff, session_of
from tests.dashboard.account.test_second_factor import SECRET, code_of, confirm
from tests.dashboard.account.test_second_factor import enter as enter_as_lee
from tests.dashboard.account.test_second_factor import lee as lee
from tests.database import owner

MINUTE = 60


def rewind(client, *, used=0.0, began=0.0):
    """Let the session of this browser look older, by minutes."""
    session = session_of(client)
    session["used_at"] -= used * MINUTE
    session["began_at"] -= began * MINUTE
    session.save()


def put(*, copied, into):
    """Write what one session holds into the row of another one."""
    with owner.as_owner(), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE django_session SET session_data = other.session_data"
            " FROM django_session AS other"
            " WHERE django_session.session_key = %s AND other.session_key = %s",
            [into.session_key, copied.session_key],
        )


class TestIdleSessions:
    def test_of_members_end_after_half_an_hour(self, dana_browser):
        rewind(dana_browser, used=29)
        assert dana_browser.get("/dashboard/").status_code == 200
        rewind(dana_browser, used=30)

        response = dana_browser.get("/dashboard/")

        assert response["Location"] == "/accounts/login/?next=/dashboard/"
        assert not Session.objects.exists()

    def test_of_staff_end_after_a_quarter_of_an_hour(self, db):
        browser = browser_of(User.objects.create_superuser(email="sam@ballast.example"))
        rewind(browser, used=14)
        assert browser.get("/admin/").status_code == 200
        rewind(browser, used=15)

        assert browser.get("/admin/").status_code == 302

    def test_end_when_the_deployment_says_so(self, dana_browser, settings):
        settings.IDLE_MINUTES = 5
        rewind(dana_browser, used=5)

        assert dana_browser.get("/dashboard/").status_code == 302

    def test_are_not_kept_alive_by_a_page_that_asks_by_itself(self, acme, dana_browser):
        rewind(dana_browser, used=20)
        asking = {"HX-Request": "true", "X-Tenant": acme.pk}
        assert dana_browser.get("/dashboard/", headers=asking).status_code == 200
        rewind(dana_browser, used=10)

        response = dana_browser.get("/dashboard/", headers=asking)

        assert response["HX-Refresh"] == "true"

    def test_are_written_once_a_minute(self, dana_browser):
        before = session_of(dana_browser)["used_at"]

        dana_browser.get("/dashboard/")
        assert session_of(dana_browser)["used_at"] == before
        rewind(dana_browser, used=2)
        dana_browser.get("/dashboard/")

        assert session_of(dana_browser)["used_at"] > before

    def test_that_are_used_end_after_a_day(self, dana_browser):
        rewind(dana_browser, began=24 * 60)

        assert dana_browser.get("/dashboard/").status_code == 302

    def test_of_staff_that_are_used_end_after_eight_hours(self, db):
        browser = browser_of(User.objects.create_superuser(email="sam@ballast.example"))
        rewind(browser, began=8 * 60 - 1)
        assert browser.get("/admin/").status_code == 200
        rewind(browser, began=1)

        assert browser.get("/admin/")["Location"] == "/admin/login/?next=/admin/"
        assert not Session.objects.exists()

    def test_of_staff_last_as_long_as_the_deployment_says(self, db, settings):
        settings.STAFF_SESSION_HOURS = 1
        browser = browser_of(User.objects.create_superuser(email="sam@ballast.example"))
        rewind(browser, began=60)

        assert browser.get("/admin/").status_code == 302

    def test_say_on_their_page_when_they_end(self, db, dana_browser):
        page = "/accounts/sessions/"
        members = dana_browser.get(page).content.decode()
        staff = browser_of(make_staff("sam@ballast.example")).get(page).content.decode()

        assert "after 30 minutes without use, and 24 hours after signing in" in members
        assert "after 15 minutes without use, and 8 hours after signing in" in staff

    def test_change_nothing_with_their_last_form(self, dana, dana_browser):
        rewind(dana_browser, used=30)

        dana_browser.post("/accounts/profile/", {"name": "Somebody Else"})

        dana.refresh_from_db()
        assert dana.name == ""


class TestWhatIsStored:
    def test_is_removed_by_a_command_when_nobody_came_back(self, dana, dana_browser):
        browser_of(dana)
        Session.objects.filter(pk=session_of(dana_browser).session_key).update(expire_date=NOW)

        call_command("clearsessions")

        assert Session.objects.count() == 1
        assert dana_browser.get("/dashboard/").status_code == 302

    def test_opens_nothing(self, client, lee):
        enter_as_lee(client)
        (stored,) = Session.objects.values_list("session_key", flat=True)
        (listed,) = UserSession.objects.values_list("session_key", flat=True)
        cookie = client.cookies["sessionid"].value
        thief = Client()
        thief.cookies["sessionid"] = stored

        assert stored == listed != cookie
        assert thief.get("/dashboard/").status_code == 302
        assert client.get("/dashboard/").status_code == 200

    def test_opens_nothing_in_the_row_of_another_session(self, client, lee, log):
        """For whoever may write rows, and whose cookie opens one: what is signed is not its key."""
        enter_as_lee(client)
        own = SessionStore()
        own.create()
        thief = Client()
        thief.cookies["sessionid"] = str(own.secret)

        put(copied=session_of(client), into=own)

        assert thief.get("/dashboard/").status_code == 302
        assert client.get("/dashboard/").status_code == 200
        assert "Session data corrupted" in log.text

    def test_opens_nothing_once_it_is_over_although_it_is_there(self, client, lee):
        enter_as_lee(client)
        Session.objects.update(expire_date=NOW)

        assert client.get("/dashboard/").status_code == 302
        assert Session.objects.exists()

    def test_is_read_by_one_statement(self, client, lee, django_assert_num_queries):
        enter_as_lee(client)

        with django_assert_num_queries(1):
            assert session_of(client)["used_at"]

    def test_is_another_one_after_signing_in(self, client, lee):
        """Whoever put a cookie into somebody's browser beforehand has nothing by it."""
        lee.set_password("correct horse battery")
        lee.save(update_fields=["password"])
        before = SessionStore()
        before["note"] = "of somebody who is not signed in"
        before.create()
        client.cookies["sessionid"] = str(before.secret)

        client.post(
            "/accounts/login/",
            {"login": "lee@acme.example", "password": "correct horse battery"},
        )
        given = client.cookies["sessionid"].value
        client.cookies["sessionid"] = str(before.secret)

        assert given != before.secret
        assert client.get("/dashboard/").status_code == 302
        assert not Session.objects.filter(pk=before.session_key).exists()

    def test_is_removed_when_the_person_signs_out(self, client, lee):
        enter_as_lee(client)

        client.post("/accounts/logout/")

        assert not Session.objects.exists()


class TestAnOlderSession:
    @pytest.fixture
    def older(self, lee):
        """Signed in with the password alone, before there was anything else."""
        browser = Client()
        enter_as_lee(browser)
        return browser

    def test_ends_when_the_person_sets_up_an_app(self, client, lee, older):
        enter_as_lee(client)
        page = confirm(client, "/accounts/2fa/totp/activate/")

        client.post("/accounts/2fa/totp/activate/", {"code": code_of(page.context["form"].secret)})

        assert older.get("/dashboard/").status_code == 302
        assert client.get("/dashboard/").status_code == 200

    def test_ends_when_the_person_removes_it(self, client, lee):
        TOTP.activate(lee, SECRET)
        older = Client()
        enter_as_lee(older)
        older.post("/accounts/2fa/authenticate/", {"code": code_of(steps=-1)})
        enter_as_lee(client)
        client.post("/accounts/2fa/authenticate/", {"code": code_of()})
        assert older.get("/dashboard/").status_code == 200
        confirm(client, "/accounts/2fa/totp/deactivate/")

        client.post("/accounts/2fa/totp/deactivate/")

        assert older.get("/dashboard/").status_code == 302
        assert client.get("/dashboard/").status_code == 200

    def test_does_not_get_in_where_a_factor_is_required(self, acme, lee, older):
        acme.requires_second_factor = True
        acme.save(update_fields=["requires_second_factor"])
        assert older.get("/dashboard/").status_code == 403

        TOTP.activate(lee, SECRET)  # without the signal that ends the older session

        assert older.get("/dashboard/").status_code == 403


class TestTheSessionThatSetsUpAFactor:
    @pytest.fixture
    def enrolled(self, acme, client, lee):
        acme.requires_second_factor = True
        acme.save(update_fields=["requires_second_factor"])
        enter_as_lee(client)
        page = confirm(client, "/accounts/2fa/totp/activate/")
        client.post("/accounts/2fa/totp/activate/", {"code": code_of(page.context["form"].secret)})
        return client

    def test_has_proven_it(self, enrolled):
        assert enrolled.get("/dashboard/").status_code == 200

    def test_has_not_once_it_is_removed(self, enrolled):
        enrolled.post("/accounts/2fa/totp/deactivate/")

        assert enrolled.get("/dashboard/").status_code == 403


def test_a_recovery_code_is_a_second_factor(acme, client, lee):
    acme.requires_second_factor = True
    acme.save(update_fields=["requires_second_factor"])

    enter_as(client, lee, factor="recovery_codes")

    assert client.get("/dashboard/").status_code == 200
