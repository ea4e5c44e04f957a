"""The roles of jobs: what each may do, table by table, and what it is refused (decision 0180)."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.db import ProgrammingError, connection, transaction

from common.clock import utc_now
from common.database import grants, job_doors, jobs, roles
from common.database.job_rights import needs_of
from seals import windows
from tests.builders import make_endpoint, publish
from tests.common.database.test_roles import TABLES as OF_APPLICATION
from tests.common.database.test_roles import some
from tests.database import owner
from tests.settings import DATABASE_APPLICATION_ROLE
from tests.webhooks.claiming import OK, claim, record
from webhooks.models import WebhookDelivery

pytestmark = pytest.mark.django_db

NEVER_AUDITED = {
    "account_emailaddress",
    "account_emailconfirmation",
    "auth_group_permissions",
    "auth_permission",
    "django_admin_log",
    "django_content_type",
    "django_migrations",
    "django_session",
    "mfa_authenticator",
    "socialaccount_socialaccount",
    "socialaccount_socialtoken",
    "tenants_invitation",
    "tenants_user_user_permissions",
    "usersessions_usersession",
}
NEVER_OF_WORKERS = {
    "account_emailaddress",
    "account_emailconfirmation",
    "balance_checkpoint",
    "balance_closed_month_total",
    "balance_full_proof",
    "balance_ledger_check",
    "desk_assignment",
    "desk_itemnote",
    "django_admin_log",
    "django_migrations",
    "django_session",
    "mfa_authenticator",
    "seals_auditstream",
    "seals_seal",
    "seals_sealpublication",
    "seals_sealround",
    "socialaccount_socialaccount",
    "socialaccount_socialtoken",
    "tenants_user_user_permissions",
    "usersessions_usersession",
}
ONLY_READ_BY_WORKERS = [
    "ach_achkey",
    "ach_achproposal",
    "ach_achrail",
    "ach_railswitch",
    "ach_railversion",
    "auth_group",
    "auth_group_permissions",
    "auth_permission",
    "balance_adjustment",
    "balance_adjustment_proposal",
    "balance_operator_day",
    "django_content_type",
    "funding_fundinglimit",
    "funding_retryrule",
    "instant_instantkey",
    "instant_instantrail",
    "instant_instantversion",
    "instant_participant",
    "instant_participantlist",
    "instant_positionmove",
    "network_inbox_handsettlement",
    "payments_paymentsettings",
    "rails_rail",
    "rails_route",
    "reconciliation_clearing",
    "reconciliation_transitnote",
    "tenants_membership",
    "tenants_staffpower",
    "tenants_switch",
    "tenants_user_groups",
]
NEVER_OF_THE_DESK = {
    "account_emailconfirmation",
    "django_migrations",
    "socialaccount_socialaccount",
    "socialaccount_socialtoken",
}
ONLY_READ_BY_THE_DESK = [
    "api_apirequest",
    "api_idempotencyrecord",
    "balance_checkpoint",
    "balance_closed_month_total",
    "balance_full_proof",
    "balance_operator_day",
    "funding_authorizeddebit",
    "funding_autofundingconfig",
    "funding_autofundingdecision",
    "seals_auditstream",
    "seals_seal",
    "seals_sealpublication",
    "seals_sealround",
    "webhooks_dispatcherheartbeat",
    "webhooks_webhookattempt",
]
NEVER_INSERTED_BY_THE_DESK = [
    "funding_confirmation",
    "funding_debitauthorization",
    "funding_fundingsource",
    "funding_fundingtransaction",
    "payments_payment",
    "payments_paymentattempt",
    "payments_recipient",
    "tenants_membership",
    "reconciliation_bankstatement",
    "reconciliation_statementline",
    "solvency_proofleaf",
    "solvency_proofreport",
]
OF_APPROVALS = "RIU(approvers decided_at decided_by decision decline_reason reminded_at)"
# Each table that the job has a right on: (R)ead, (I)nsert, (U)pdate, (D)elete, with the columns
# where it is not all of them. It has none on any other.
TABLES = {
    jobs.DISPATCHER: {
        "tenants_auditevent": "I",
        "tenants_membership": "R",
        "tenants_outgoingemail": "I",
        "tenants_switch": "R(kind released_at tenant_id)",
        "tenants_tenant": "R",
        "tenants_user": "R(email id is_active)",
        "webhooks_dispatcherheartbeat": "RIUD",
        "webhooks_webhookattempt": "R(delivery_id number)I",
        "webhooks_webhookdelivery": (
            "RU(but created_at endpoint_id event_id id is_manual payment_id queued_at sequence"
            " tenant_id)"
        ),
        "webhooks_webhookendpoint": (
            "RU(consecutive_failures disabled_reason first_failure_at last_success_at"
            " paused_until status updated_at warnings_sent)"
        ),
        "webhooks_webhookevent": "R(body id)",
    },
    jobs.AUDIT: {
        **{
            name: "R"
            for name, application in OF_APPLICATION.items()
            if application != "not even read" and name not in NEVER_AUDITED
        },
        "ach_achkey": "R(but private_key_token)",
        "instant_instantkey": "R(but private_key_token)",
        "tenants_user": "R(but password)",
        "webhooks_webhookendpoint": "R(but previous_secret_token secret_token)",
        "balance_checkpoint": "RIU",
        "balance_closed_month_total": "RI",
        "balance_full_proof": "RIU",
        "balance_ledger_check": "RIUD",
        "balance_operator_day": "RI",
        "seals_auditstream": "RIU",
        "seals_seal": "RI",
        "seals_sealpublication": "RID",
        "seals_sealround": "RI",
    },
    jobs.WORKER: {
        **{
            name: f"R{application}"
            for name, application in OF_APPLICATION.items()
            if application != "not even read" and name not in NEVER_OF_WORKERS
        },
        **dict.fromkeys(ONLY_READ_BY_WORKERS, "R"),
        "ach_achreversal": "RIU(effective_at id refusal status)",
        "ach_originator": "RIU(but created_at daily_credit_max rail_id tenant_id)",
        "ach_outfile": (
            "RIU(but created_at cutoff_at file_date file_time first_released_at first_released_by"
            " immediate_origin kind modifier rail_id released_by version_id)"
        ),
        "ach_spokenanswer": "RIU(decided_at id status)",
        "instant_conversation": (
            "RIU(accepted_at account_token advised_at attempts code ended_at final_due_at id"
            " reason review_code review_since sent_at settled_at settlement_date status waits_for)"
        ),
        "instant_message": (
            "RIU(but created_at direction message_id name rail_id resolution resolved_at"
            " resolved_by sha256 size)"
        ),
        "instant_returnask": "RIU(id)",
        "funding_fundingtransaction": (
            "RIU(but amount created_by_id created_by_type currency method requires_confirmation"
            " retry_of_id source_id speed tenant_id trigger)"
        ),
        "payments_payment": (
            "RIU(but amount counted_for created_by_id created_by_type currency is_automatic"
            " recipient_id requires_confirmation speed tenant_id)"
        ),
        "funding_autofundingconfig": (
            "RU(failures_in_a_row last_decline_reason last_triggered_at low_since paused_reason"
            " paused_until)"
        ),
        "funding_confirmation": OF_APPROVALS,
        "funding_confirmationlink": "R(approver_email confirmation_id created_at id)I",
        "payments_paymentconfirmation": OF_APPROVALS,
        "payments_paymentconfirmationlink": "R(approver_email confirmation_id created_at id)I",
        "reconciliation_match": "RIU(id)",
        "reconciliation_settlementaccount": "RU(id)",
        "solvency_prooftree": "R(nodes report_id)IU(report_id secret_token)",
        "tenants_accessproposal": "RU(decided_at decided_by_id decision decision_note)",
        "tenants_apikey": "R(but digest)",
        "tenants_invitation": "R(but digest)U(digest)",
        "tenants_outgoingemail": "RIU(but context created_at id template tenant_id to)",
        "tenants_tenant": "RU(id)",
        "tenants_user": "R(but password)",
        "webhooks_webhookendpoint": "R(but previous_secret_token secret_token)",
    },
    jobs.DESK: {
        **{
            name: f"R{application}"
            for name, application in OF_APPLICATION.items()
            if application != "not even read" and name not in NEVER_OF_THE_DESK
        },
        **dict.fromkeys(ONLY_READ_BY_THE_DESK, "R"),
        **{
            name: f"R{OF_APPLICATION[name].removeprefix('I')}"
            for name in NEVER_INSERTED_BY_THE_DESK
        },
        "django_session": "R(session_key)D",
        "funding_confirmationlink": "R(approver_email confirmation_id created_at id)",
        "instant_instantevent": "RI",
        "instant_instantline": "RU(attempts next_attempt_at)",
        "payments_paymentconfirmationlink": "R(approver_email confirmation_id created_at id)",
        "mfa_authenticator": "R(id type user_id)D",
        "solvency_prooftree": "R(nodes report_id)U(report_id secret_token)",
        "tenants_apikey": "R(but digest)U(but created_at digest prefix tenant_id)",
        "tenants_invitation": "R(but digest)IU",
        "tenants_outgoingemail": "RI",
        "tenants_user": "R(but password)IU(but password)",
        "webhooks_webhookendpoint": (
            "R(but previous_secret_token secret_token)U(but previous_secret_token secret_token)"
        ),
    },
}
FUNCTIONS: dict[str, list[str]] = {
    jobs.DISPATCHER: [],
    jobs.AUDIT: ["tenants_name_people"],
    jobs.WORKER: [
        "balance_book",
        "balance_change_pending",
        "balance_open",
        "balance_post",
        "balance_post_many",
        "tenants_link_state_of_mail",
        "tenants_name_people",
    ],
    jobs.DESK: [
        "balance_book",
        "balance_change_pending",
        "balance_open",
        "balance_post",
        "balance_post_many",
        "tenants_find_person",
        "tenants_has_password",
        "tenants_name_people",
    ],
}
EXECUTABLE = """
SELECT proname::text FROM pg_proc
WHERE pronamespace = 'public'::regnamespace AND prosecdef
    AND has_function_privilege(%(role)s, oid, 'EXECUTE')
ORDER BY 1
"""
MEMBERSHIPS = """
SELECT member.rolname, taken.rolname FROM pg_roles AS member CROSS JOIN pg_roles AS taken
WHERE member.rolname = ANY (%(roles)s) AND taken.oid <> member.oid
    AND pg_has_role(member.oid, taken.oid, 'MEMBER') AND taken.rolname <> 'pg_read_all_stats'
"""
REFUSED = {
    jobs.DISPATCHER: [
        "SELECT digest FROM tenants_apikey",
        "SELECT password FROM tenants_user",
        "SELECT * FROM django_session",
        "SELECT * FROM mfa_authenticator",
        "SELECT account_number_token FROM funding_fundingsourceversion",
        "SELECT account_number_token FROM payments_recipientversion",
        "SELECT * FROM balance_transaction",
        "SELECT * FROM tenants_auditevent",
        "SELECT * FROM tenants_outgoingemail",
        "UPDATE balance SET available = 1",
        "UPDATE tenants_membership SET role = 'owner'",
        "UPDATE webhooks_webhookendpoint SET url = 'https://example.com'",
        "UPDATE webhooks_webhookendpoint SET secret_token = ''",
        "DELETE FROM webhooks_webhookdelivery",
        "SELECT balance_post('btx_x', 'x', 'credit', 5, 0, 'adjustment', 'adj_x', 'x', now())",
        "SELECT * FROM tenants_find_key('x')",
        "SELECT * FROM tenants_find_session('x')",
        "SELECT tenants_find_invitation('x')",
    ],
    jobs.AUDIT: [
        "SELECT password FROM tenants_user",
        "SELECT * FROM django_session",
        "SELECT * FROM mfa_authenticator",
        "SELECT secret_token FROM webhooks_webhookendpoint",
        "SELECT private_key_token FROM ach_achkey",
        "UPDATE balance SET available = 1",
        "UPDATE balance SET notify_below = 1",
        "INSERT INTO balance_transaction SELECT * FROM balance_transaction",
        "UPDATE balance_transaction SET amount = 1",
        "INSERT INTO balance_adjustment SELECT * FROM balance_adjustment",
        "UPDATE funding_fundingtransaction SET status = 'completed'",
        "UPDATE payments_payment SET status = 'completed'",
        "UPDATE tenants_membership SET role = 'owner'",
        "UPDATE tenants_user SET is_staff = true",
        "INSERT INTO tenants_auditevent SELECT * FROM tenants_auditevent",
        "INSERT INTO tenants_staffpower SELECT * FROM tenants_staffpower",
        "UPDATE seals_seal SET mac = ''",
        "DELETE FROM seals_seal",
        "DELETE FROM balance_checkpoint",
        "SELECT balance_post('btx_x', 'x', 'credit', 5, 0, 'adjustment', 'adj_x', 'x', now())",
        "SELECT balance_open('bal_x', 'x')",
        "SELECT * FROM tenants_find_key('x')",
        "SELECT * FROM tenants_find_session('x')",
        "SELECT tenants_find_invitation('x')",
    ],
    jobs.WORKER: [
        "SELECT password FROM tenants_user",
        "UPDATE tenants_user SET password = 'x'",
        "UPDATE tenants_user SET is_staff = true, is_superuser = true",
        "UPDATE tenants_user SET email = 'thief@evil.example'",
        "INSERT INTO tenants_user SELECT * FROM tenants_user",
        "INSERT INTO tenants_membership SELECT * FROM tenants_membership",
        "UPDATE tenants_membership SET role = 'owner'",
        "DELETE FROM tenants_membership",
        "INSERT INTO tenants_invitation SELECT * FROM tenants_invitation",
        "INSERT INTO tenants_user_groups SELECT * FROM tenants_user_groups",
        "INSERT INTO auth_group_permissions SELECT * FROM auth_group_permissions",
        "INSERT INTO tenants_staffpower SELECT * FROM tenants_staffpower",
        "INSERT INTO tenants_accessproposal SELECT * FROM tenants_accessproposal",
        "SELECT digest FROM tenants_apikey",
        "INSERT INTO tenants_apikey SELECT * FROM tenants_apikey",
        "UPDATE tenants_apikey SET revoked_at = NULL, expires_at = NULL",
        "SELECT * FROM mfa_authenticator",
        "DELETE FROM mfa_authenticator",
        "SELECT * FROM django_session",
        "INSERT INTO django_session SELECT * FROM django_session",
        "SELECT digest FROM funding_confirmationlink",
        "UPDATE funding_confirmationlink SET approver_email = 'thief@evil.example'",
        "SELECT secret_token FROM webhooks_webhookendpoint",
        "UPDATE webhooks_webhookendpoint SET url = 'https://evil.example'",
        "UPDATE funding_autofundingconfig SET funding_amount = 1, enabled = true",
        "UPDATE payments_paymentsettings SET approval_threshold = 1",
        "UPDATE funding_fundinglimit SET daily_max = 1",
        "SELECT text FROM desk_itemnote",
        "INSERT INTO desk_assignment SELECT * FROM desk_assignment",
        "UPDATE tenants_tenant SET status = 'active'",
        "UPDATE tenants_switch SET released_at = now()",
        "UPDATE balance SET available = 1",
        "INSERT INTO balance_transaction SELECT * FROM balance_transaction",
        "UPDATE balance_transaction SET amount = 1",
        "INSERT INTO balance_adjustment SELECT * FROM balance_adjustment",
        "UPDATE balance_adjustment_proposal SET decision = 'approved'",
        "INSERT INTO network_inbox_handsettlement SELECT * FROM network_inbox_handsettlement",
        "UPDATE ach_achproposal SET status = 'approved'",
        "UPDATE ach_railversion SET status = 'approved'",
        "INSERT INTO seals_seal SELECT * FROM seals_seal",
        "INSERT INTO balance_checkpoint SELECT * FROM balance_checkpoint",
        "DELETE FROM tenants_auditevent",
        "SELECT * FROM tenants_find_key('x')",
        "SELECT * FROM tenants_find_session('x')",
        "SELECT tenants_find_invitation('x')",
        "SELECT * FROM tenants_find_person('x', 'x')",
    ],
    jobs.DESK: [
        "SELECT password FROM tenants_user",
        "UPDATE tenants_user SET password = 'x'",
        "SELECT session_data FROM django_session",
        "INSERT INTO django_session SELECT * FROM django_session",
        "UPDATE django_session SET session_data = 'x'",
        "SELECT data FROM mfa_authenticator",
        "INSERT INTO mfa_authenticator (user_id, type, data) VALUES (1, 'totp', '{}')",
        "SELECT digest FROM tenants_apikey",
        "INSERT INTO tenants_apikey SELECT * FROM tenants_apikey",
        "UPDATE tenants_apikey SET digest = 'x'",
        "SELECT digest FROM tenants_invitation",
        "INSERT INTO tenants_membership SELECT * FROM tenants_membership",
        "SELECT digest FROM payments_paymentconfirmationlink",
        "INSERT INTO funding_confirmationlink SELECT * FROM funding_confirmationlink",
        "SELECT secret_token FROM webhooks_webhookendpoint",
        "UPDATE webhooks_webhookendpoint SET secret_token = 'x'",
        "INSERT INTO payments_payment SELECT * FROM payments_payment",
        "INSERT INTO funding_fundingtransaction SELECT * FROM funding_fundingtransaction",
        "UPDATE funding_autofundingconfig SET enabled = true",
        "UPDATE tenants_outgoingemail SET \"to\" = 'thief@evil.example'",
        "UPDATE balance SET available = 1",
        "UPDATE instant_instantevent SET acknowledged = true",
        "UPDATE instant_instantline SET heard_until = now()",
        "INSERT INTO balance_transaction SELECT * FROM balance_transaction",
        "UPDATE balance_transaction SET amount = 1",
        "UPDATE desk_itemnote SET text = 'x'",
        "DELETE FROM desk_itemnote",
        "UPDATE desk_assignment SET assignee_id = NULL",
        "DELETE FROM desk_assignment",
        "INSERT INTO seals_seal SELECT * FROM seals_seal",
        "INSERT INTO balance_checkpoint SELECT * FROM balance_checkpoint",
        "DELETE FROM tenants_auditevent",
        "SELECT * FROM tenants_find_key('x')",
        "SELECT * FROM tenants_find_session('x')",
        "SELECT tenants_find_invitation('x')",
        "SELECT * FROM tenants_link_states('x')",
        "SELECT * FROM funding_find_link('x')",
        "SELECT * FROM tenants_link_state_of_mail('x')",
    ],
}
# What no role of a job may, whatever it needs.
FORBIDDEN = [
    "TRUNCATE balance_transaction",
    "ALTER TABLE balance_transaction DISABLE TRIGGER ALL",
    "ALTER TABLE webhooks_webhookevent NO FORCE ROW LEVEL SECURITY",
    "CREATE TABLE mine ()",
    "CREATE POLICY mine ON balance_transaction USING (true)",
    "SET session_replication_role = replica",
]
EACH = pytest.mark.parametrize("job", jobs.ALL)


def rows(statement, **values):
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []


def role_of(job):
    return settings.DATABASE_JOBS[job]["USER"]


def actual(job):
    """As PostgreSQL says it, spelled as in TABLES."""
    found = {
        name: spelled(name, *given) for name, *given in rows(roles._ACTUAL_OF, role=role_of(job))
    }
    return {name: words for name, words in found.items() if words}


def spelled(name, select, insert, delete, destroy, update_all, columns, read):
    reading = "R" if select else read and f"R({some(name, read)})"
    update = "U" if update_all else columns and f"U({some(name, columns)})"
    return (reading or "") + "I" * insert + (update or "") + "D" * delete + "!" * destroy


def refused(job, statement):
    denied = pytest.raises(ProgrammingError, match=r"permission denied|must be owner")
    with job_doors.of(job), denied, transaction.atomic():
        rows(statement)


@EACH
class TestEach:
    def test_may_do_exactly_this(self, job):
        assert actual(job) == TABLES[job]
        assert [name for (name,) in rows(EXECUTABLE, role=role_of(job))] == FUNCTIONS[job]

    def test_works_under_its_role_and_leaves_the_usual_one_as_it_was(self, job):
        with job_doors.of(job):
            assert rows("SELECT current_user") == [(role_of(job),)]
        assert rows("SELECT current_user") == [(DATABASE_APPLICATION_ROLE,)]

    def test_may_not_change_the_schema_or_empty_tables(self, job):
        for statement in FORBIDDEN:
            refused(job, statement)

    def test_is_named_by_ready_where_it_may_do_less_or_more(self, job):
        (table, *_) = needs_of(job).tables
        with owner.as_owner():
            rows(f"REVOKE ALL ON {table} FROM {role_of(job)}")
            rows(f"GRANT INSERT ON mfa_authenticator TO {role_of(job)}")

        found = {(each.words, each.is_harmless) for each in roles.job_problems()}

        assert (f"{role_of(job)}: too much: INSERT on mfa_authenticator", True) in found
        assert any(words.startswith(f"{role_of(job)}: missing: ") for words, _ in found)

    def test_is_mended_by_the_grants(self, job):
        with owner.as_owner():
            rows(f"GRANT SELECT ON mfa_authenticator TO {role_of(job)}")
            rows(f"GRANT EXECUTE ON FUNCTION balance_open TO {role_of(job)}")
        assert roles.job_problems() != []

        with owner.as_owner():
            grants.grant(role_of(job), needs=needs_of(job))

        assert roles.job_problems() == []

    def test_without_a_login_is_a_sentence(self, job, settings):
        settings.DATABASE_JOBS = {}

        said = [each for each in roles.job_problems() if jobs.variable(job) in each.words]

        assert [each.is_harmless for each in said] == [True]
        with job_doors.of(job):
            assert rows("SELECT current_user") == [(DATABASE_APPLICATION_ROLE,)]

    def test_that_does_not_exist_is_named(self, job, settings):
        settings.DATABASE_JOBS = {job: {"USER": "nobody_knows", "PASSWORD": ""}}

        (said,) = (each for each in roles.job_problems() if "nobody_knows" in each.words)

        assert not said.is_harmless
        assert jobs.variable(job) in said.words


@pytest.mark.parametrize(
    ("job", "statement"), [(job, each) for job in REFUSED for each in REFUSED[job]]
)
def test_is_refused_what_the_job_does_not_need(job, statement):
    refused(job, statement)


MAIL = """
INSERT INTO tenants_outgoingemail
    (id, tenant_id, "to", template, context, created_at, next_attempt_at, attempts, last_error,
     lease_version)
SELECT 'eml_00000000000000000000000001', %(tenant)s, 'thief@evil.example', %(template)s, '{}',
    now(), now(), 0, '', 0
"""
LINE = """
INSERT INTO tenants_auditevent
    (id, tenant_id, actor_type, actor_id, action, subject_id, details, staff_note, request_id,
     created_at)
SELECT 'aud_00000000000000000000000001', %(tenant)s, %(actor)s, 'usr_1', %(action)s, 'key_1', '{}',
    '', '', now()
"""


class TestWhatADispatcherAdds:
    """A mail or a line of the audit log of another kind would open an account, or say that somebody
    is behind a key."""

    def add(self, statement, tenant, **values):
        with job_doors.of(jobs.DISPATCHER), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement, {"tenant": tenant.pk, **values})

    def test_are_mails_about_endpoints_and_no_others(self, acme):
        self.add(MAIL, acme, template="webhook_disabled")

        for template in ("password_reset", "staff_enrolment", "invitation", "confirmation_request"):
            with pytest.raises(ProgrammingError, match="row-level security"):
                self.add(MAIL, acme, template=template)

    def test_are_lines_about_endpoints_that_were_switched_off_and_no_others(self, acme):
        self.add(LINE, acme, actor="system", action="webhook.disabled")

        for actor, action in (("user", "webhook.disabled"), ("system", "api_key.taken_over")):
            with pytest.raises(ProgrammingError, match="row-level security"):
                self.add(LINE, acme, actor=actor, action=action)


def test_no_role_of_the_product_is_a_member_of_another():
    ours = [DATABASE_APPLICATION_ROLE, settings.DATABASE_API["USER"], *map(role_of, jobs.ALL)]

    assert rows(MEMBERSHIPS, roles=ours) == []


def test_an_audit_that_sees_no_transactions_of_others_is_named():
    role = role_of(jobs.AUDIT)
    with owner.as_superuser():
        rows(f"REVOKE pg_read_all_stats FROM {role}")

    (said,) = roles.job_problems()

    assert said == roles.Problem(f"{role}: is no member of pg_read_all_stats", is_harmless=True)


@pytest.mark.django_db(transaction=True)
class TestLogin:
    """As in production: a connection of its own, which no other role stands behind."""

    @pytest.fixture
    def door(self):
        owner.work_as_superuser()
        door = job_doors.Logins()
        yield door
        door.close()
        owner.work_as_application()

    @EACH
    def test_is_another_one_that_takes_no_other_role(self, door, job):
        with door.open(job):
            assert rows("SELECT session_user, current_user") == [(role_of(job),) * 2]
            for other in {DATABASE_APPLICATION_ROLE, *map(role_of, jobs.ALL)} - {role_of(job)}:
                with pytest.raises(ProgrammingError, match="permission denied to set role"):
                    rows(f"SET ROLE {other}")
            with pytest.raises(ProgrammingError, match="permission denied to set session"):
                rows(f"SET SESSION AUTHORIZATION {DATABASE_APPLICATION_ROLE}")

    @EACH
    def test_is_widened_by_no_setting(self, door, job):
        with door.open(job):
            rows("SELECT set_config('ballast.tenant', 'ten_x', false)")
            with pytest.raises(ProgrammingError, match="permission denied"):
                rows("SELECT password FROM tenants_user")
            rows("SET row_security = off")
            with pytest.raises(ProgrammingError, match="row-level security"):
                rows("SELECT id FROM tenants_user")

    @EACH
    def test_stays_where_a_transaction_is(self, door, job):
        with transaction.atomic():
            (before,) = rows("SELECT pg_backend_pid()")
            with door.open(job):
                assert rows("SELECT pg_backend_pid()") == [before]

    @EACH
    def test_is_left_for_what_is_no_work_of_the_job(self, door, job):
        (before,) = rows("SELECT pg_backend_pid()")
        with door.open(job):
            with door.outside():
                assert rows("SELECT pg_backend_pid()") == [before]
            assert rows("SELECT session_user") == [(role_of(job),)]
            with transaction.atomic(), door.outside():
                assert rows("SELECT session_user") == [(role_of(job),)]
        with door.outside():
            assert rows("SELECT pg_backend_pid()") == [before]

    def test_claims_and_records(self, door, acme):
        make_endpoint(acme)
        publish(acme)
        with door.open(jobs.DISPATCHER):
            assert len(record(claim(), OK)) == 1

        assert WebhookDelivery.objects.get().status == "delivered"

    def test_of_the_audit_knows_when_transactions_of_others_began(self, door):
        other = owner.another_connection()
        other.settings_dict["USER"] = DATABASE_APPLICATION_ROLE
        try:
            with other.cursor() as cursor:
                cursor.execute("BEGIN")
                cursor.execute("SELECT 1")
                with door.open(jobs.AUDIT), transaction.atomic():
                    assert windows.bound(utc_now()) is not None
        finally:
            other.close()
