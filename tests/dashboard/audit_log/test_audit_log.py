"""The audit log: plain words, filters, pages, CSV, and nobody else's rows."""

from __future__ import annotations

import csv
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection

from common.clock import utc_now
from dashboard.audit_log.sentences import sentence
from funding.states import FundingStatus
from funding.transfer import FUNDING
from tenants import actors
from tenants.models import AuditEvent, Role
from tenants.services import audit, keys
from tests.builders import NOW, make_funding, make_member, make_source
from tests.database import owner
from transfers import holds

PATH = "/dashboard/audit-log"

CHASE = {"bankName": "Chase", "last4": "6789"}


def record(tenant, action="member.removed", *, actor=actors.SYSTEM, at=NOW, **details):
    return audit.record(
        tenant_id=tenant.pk,
        actor=actor,
        action=action,
        subject_id="mem_1",
        details={"email": "x@acme.example", "role": "viewer", **details},
        now=at,
    )


class TestWords:
    @pytest.mark.parametrize(
        ("action", "details", "said"),
        [
            ("member.added", {"email": "a@b.example", "role": "owner"},
             "Added a@b.example as owner"),
            ("sign_in.succeeded", {"how": "password + totp"},
             "Signed in with password and authenticator app"),
            ("sign_in.failed", {"how": "password"},
             "Somebody tried to sign in as it: wrong password"),
            ("proof.failed", {"how": "password"},
             "Somebody signed in as it typed a wrong password when proving who they are"),
            ("proof.failed", {"how": "totp"}, "Somebody signed in as it typed a wrong code of the"
             " authenticator app when proving who they are"),
            ("second_factor.added", {"kind": "webauthn"}, "Added passkey to sign in"),
            ("balance.debit", {"amount": 5_000, "reason": "Fee"}, "Debited $50.00: Fee"),
            ("funding_source.added", {"bankName": "Chase", "last4": "6789"}, "Added Chase ··6789"),
            ("funding_source.added", {"bankName": "", "last4": "6789"}, "Added ··6789"),
            ("funding_source.added", {}, "Added –"),
            ("sign_in.succeeded", {"how": ""}, "Signed in"),
            ("sign_in.succeeded", {}, "Signed in"),
            ("confirmation.approved", {"amount": 50_000, "direction": "in", **CHASE},
             "Approved $500.00 from Chase ··6789"),
            ("confirmation.asked", {"amount": 2_000_000, "direction": "out", **CHASE},
             "Asked the approvers of $20,000.00 to Chase ··6789"),
            ("confirmation.declined", {"amount": 1, "direction": "out", "reason": "No", **CHASE},
             "Declined $0.01 to Chase ··6789: No"),
            ("confirmation.declined", {"reason": "No"}, "Declined it: No"),
            ("payment.held", {"amount": 50_000, "direction": "out", **CHASE},
             "Held $500.00 to Chase ··6789 for review"),
            ("payment.held", {}, "Held a payment for review"),
            ("webhook.disabled", {"url": "https://a.example/"}, "Switched https://a.example/ off"),
            ("webhook.disabled", {}, "Switched a webhook endpoint off"),
            ("webhook.resent", {"event": "payment.completed", "url": "https://a.example/"},
             "Sent payment.completed to https://a.example/ again"),
            ("auto_funding.configured",
             {"enabled": [False, True], "funding_amount": [None, 50_000], "funding_method":
              ["", "ach_debit"], "confirmation_emails": [["a@b.example"], []],
              "source_id": [None, "fs_1"], "monthly_limit": [500, None]},
             "Changed auto-funding: approvers a@b.example → owners and approvers, "
             "switched on, amount $500.00, method ACH debit, a month $5.00 → none, "
             "another bank account"),
            ("journal.exported", {"since": "2026-11-01T04:00:00Z", "until": "2026-11-21T05:00:00Z"},
             "Exported the journal from 2026-11-01 up to 2026-11-21"),
            ("auto_funding.configured", {}, "Changed auto-funding"),
            ("tenant.limits_changed",
             {"from": {"daily_max": None, "monthly_max": 5}, "to": {"daily_max": 100,
              "monthly_max": 5}},
             "Changed the limits of this organization: a day $1.00"),
            ("payments.approval_threshold_changed", {"from": None, "to": 0},
             "Changed the approval limit of payments from none to $0.00"),
            ("user.changed", {"email": "a@b.example"}, "Changed a@b.example"),
            ("file.downloaded", {"file": "payments.csv", "since": "2026-11-01", "until":
              "2026-11-20", "narrowedBy": ["status"]},
             "Downloaded payments.csv, from 2026-11-01 up to 2026-11-20, narrowed by status"),
            ("file.downloaded", {"file": "payments.csv", "since": "", "until": "", "narrowedBy":
              []},
             "Downloaded payments.csv"),
            ("member.notices_chosen", {"on": ["low_balance"], "off": ["returns", "webhooks"]},
             "Changed which e-mails they get: Low balance on, Failures and returns off, "
             "Webhook endpoints off"),
            ("thing.that_is_new", {}, "Thing that is new"),
            ("odd", {}, "Odd"),
        ],
    )  # fmt: skip
    def test_say_what_happened(self, action, details, said):
        assert sentence(action, details, "it") == said


class TestPage:
    def test_names_the_amount_and_the_account_and_links_to_the_money(self, acme, dana_browser):
        funding = make_funding(acme, make_source(acme), status=FundingStatus.RESERVED)
        staff = actors.staff(make_member(acme, email="sue@ballast.example").pk)
        holds.hold(FUNDING, funding.pk, reason="Odd", actor=staff, now=NOW)

        content = dana_browser.get(PATH).content.decode()

        assert "Held $250.00 from JPMorgan Chase ··6789 for review" in content
        assert f'href="/dashboard/funding/{funding.pk}"' in content
        assert "Odd" not in content

    def test_says_who_what_and_from_where(self, acme, dana, dana_browser):
        dana_browser.post("/dashboard/settings", {"acting_for": acme.pk, "name": "Acme & Sons"})

        content = dana_browser.get(PATH).content.decode()

        assert "Renamed the organization from Acme to Acme &amp; Sons" in content
        assert "dana@acme.example" in content
        assert "127.0.0.1" in content

    def test_calls_our_staff_by_what_they_are(self, acme, dana_browser, db):
        person = make_member(acme, email="sue@ballast.example", role=Role.VIEWER)
        record(acme, actor=actors.staff(person.pk))

        content = dana_browser.get(PATH).content.decode()

        assert "Ballast support" in content

    def test_shows_nothing_of_others(self, acme, rival, dana_browser):
        record(rival, email="secret@rival.example")

        assert b"secret@rival.example" not in dana_browser.get(PATH).content

    @pytest.mark.parametrize("role", [Role.MEMBER, Role.APPROVER, Role.VIEWER])
    @pytest.mark.parametrize("path", [PATH, f"{PATH}.csv"])
    def test_is_for_owners(self, acme, sign_in, role, path):
        member = make_member(acme, email="lee@acme.example", role=role)

        assert sign_in(member).get(path).status_code == 403

    def test_pages_by_key(self, acme, dana_browser):
        start = utc_now()  # after what was recorded of the team itself
        for number in range(60):
            at = start + timedelta(seconds=number)
            record(acme, email=f"n{number}@acme.example", at=at)

        first = dana_browser.get(PATH)
        older = first.context["page"].older
        second = dana_browser.get(PATH, {"before": older}).content.decode()

        assert "n59@" in first.content.decode()
        assert "n34@" in second
        assert "n35@" not in second


class TestFilters:
    def test_by_area(self, acme, dana_browser):
        record(acme, "api_key.revoked")
        record(acme, "member.removed")

        content = dana_browser.get(PATH, {"area": "keys"}).content.decode()

        assert "Revoked the API key" in content
        assert "Removed x@acme.example" not in content

    def test_by_person_and_by_key(self, acme, dana, dana_browser):
        key = keys.issue(tenant=acme, name="Server", actor=actors.SYSTEM, now=NOW).key
        record(acme, "webhook.removed", actor=actors.user(dana.pk))
        record(acme, "recipient.removed", actor=actors.api_key(key.pk), last4="6789")

        by_person = dana_browser.get(PATH, {"who": "Dana@acme.example"}).content.decode()
        by_key = dana_browser.get(PATH, {"who": "server"}).content.decode()

        assert "Removed a webhook endpoint" in by_person
        assert "Removed the recipient" not in by_person
        assert "Removed the recipient ··6789" in by_key
        assert "Removed a webhook endpoint" not in by_key

    def test_by_eastern_day(self, acme, dana_browser):
        # Midnight of the 21st in New York is 05:00 UTC.
        record(acme, email="before@acme.example", at=NOW.replace(day=21, hour=4, minute=59))
        record(acme, email="after@acme.example", at=NOW.replace(day=21, hour=5, minute=0))

        content = dana_browser.get(
            PATH, {"since": "2026-11-21", "until": "2026-11-21"}
        ).content.decode()

        assert "after@" in content
        assert "before@" not in content

    def test_by_the_id_of_what_it_is_about(self, acme, rival, dana_browser):
        source = make_source(acme)
        mine = make_funding(acme, source, status=FundingStatus.RESERVED)
        other = make_funding(acme, source, status=FundingStatus.RESERVED)
        foreign = make_funding(rival, make_source(rival), status=FundingStatus.RESERVED)
        staff = actors.staff(make_member(acme, email="sue@ballast.example").pk)
        for funding in (mine, other, foreign):
            holds.hold(FUNDING, funding.pk, reason="Odd", actor=staff, now=NOW)

        found = dana_browser.get(PATH, {"subject": f" {mine.pk} "})
        hidden = dana_browser.get(PATH, {"subject": foreign.pk}).content.decode()

        assert [line.subject.id for line in found.context["lines"]] == [mine.pk]
        assert "Nothing matches" in hidden

    def test_that_make_no_sense_find_nothing_and_say_so(self, acme, dana_browser):
        response = dana_browser.get(PATH, {"since": "soon", "area": "x"})

        assert response.status_code == 422
        assert b"Enter a date such as 2026-11-20." in response.content

    def test_do_not_unmask_staff(self, acme, dana_browser, rival):
        person = make_member(rival, email="sue@ballast.example", role=Role.VIEWER)
        record(acme, actor=actors.staff(person.pk))

        assert b"Nothing matches" in dana_browser.get(PATH, {"who": person.email}).content

    def test_stay_while_paging(self, acme, dana_browser):
        for number in range(30):
            record(acme, at=NOW + timedelta(seconds=number))

        assert b"?area=team&amp;before=" in dana_browser.get(PATH, {"area": "team"}).content


class TestDownload:
    def test_holds_the_filtered_rows_newest_first(self, acme, rival, dana_browser):
        record(rival)
        old = record(acme)
        new = record(acme, email="=cmd()", at=NOW + timedelta(days=1))

        response = dana_browser.get(f"{PATH}.csv", {"area": "team", "until": "2026-11-21"})

        text = b"".join(response.streaming_content).decode()
        rows = list(csv.DictReader(text.splitlines()))
        removed = [row for row in rows if row["action"] == "member.removed"]
        assert [row["id"] for row in removed] == [new.pk, old.pk]
        assert removed[0]["details"] == '{"email": "=cmd()", "role": "viewer"}'
        assert response["Content-Disposition"] == 'attachment; filename="audit-log.csv"'

    def test_is_a_line_itself_that_says_who_and_which_days_and_nothing_of_what_was_in_it(
        self, acme, dana, dana_browser
    ):
        record(acme)

        read_whole(
            dana_browser.get(
                f"{PATH}.csv",
                {"area": "team", "who": "x@acme.example", "since": "2026-11-01", "forged": "odd"},
            )
        )

        (line,) = AuditEvent.objects.filter(action="file.downloaded")
        assert (line.tenant_id, line.actor_type, line.actor_id) == (acme.pk, "user", dana.pk)
        assert line.details == {
            "file": "audit-log.csv",
            "since": "2026-11-01",
            "until": "",
            "narrowedBy": ["area", "who"],
        }
        page = dana_browser.get(PATH, {"area": "files"}).content.decode()
        assert "Downloaded audit-log.csv, from 2026-11-01, narrowed by area and who" in page


def read_whole(response):
    """As a browser does: what is not read keeps a cursor open in the database."""
    assert b"".join(response) is not None
    return response


class TestEveryDownload:
    """Each page that is a file, whoever takes it."""

    @pytest.mark.parametrize(
        "file",
        [
            "transactions.csv:balance-transactions.csv",
            "payments.csv:payments.csv",
            "bank-accounts/authorizations.csv:authorizations.csv",
            "audit-log.csv:audit-log.csv",
        ],
    )
    def test_is_written_down_once(self, acme, dana_browser, file):
        path, _, name = file.partition(":")

        head = read_whole(dana_browser.head(f"/dashboard/{path}"))
        assert not AuditEvent.objects.filter(action="file.downloaded").exists()
        got = read_whole(dana_browser.get(f"/dashboard/{path}"))

        assert (head.status_code, got.status_code) == (200, 200)
        assert name in got["Content-Disposition"]
        (line,) = AuditEvent.objects.filter(action="file.downloaded")
        assert line.details == {"file": name, "since": "", "until": "", "narrowedBy": []}

    def test_is_not_one_that_was_refused(self, acme, sign_in):
        viewer = make_member(acme, email="lee@acme.example", role=Role.VIEWER)

        assert sign_in(viewer).get(f"{PATH}.csv").status_code == 403

        assert not AuditEvent.objects.filter(action="file.downloaded").exists()

    def test_leaves_nothing_if_the_line_cannot_be_written(self, acme, dana_browser):
        """A trigger stands for whatever keeps the database from taking the line."""
        with owner.as_owner(), connection.cursor() as cursor:
            cursor.execute(
                "CREATE FUNCTION no_more() RETURNS trigger LANGUAGE plpgsql AS"
                " $$ BEGIN RAISE 'no more lines'; END $$;"
                "CREATE TRIGGER no_more BEFORE INSERT ON tenants_auditevent"
                " FOR EACH ROW EXECUTE FUNCTION no_more()"
            )

        with pytest.raises(DatabaseError, match="no more lines"):
            dana_browser.get(f"{PATH}.csv")
