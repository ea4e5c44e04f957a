"""What the application's role may do, table by table, and what stands before the owner as well.

What happens where it may do less or more: `test_role_problems`.
"""

from __future__ import annotations

import psycopg
import pytest
from django.apps import apps
from django.db import DatabaseError, ProgrammingError, connection, transaction

from balance import services as ledger
from balance.models import BalanceTransaction
from common.database import grants, roles
from tests.balance.builders import balance_of, fund, statement_of
from tests.builders import NOW
from tests.database import owner
from tests.settings import DATABASE_APPLICATION_ROLE

pytestmark = pytest.mark.django_db

# Each table, and what the role may do with it beside reading: (I)nsert, (U)pdate, (D)elete; update
# of some columns, or of all but some, only. Where it does not (R)ead all columns, which ones.
# Whoever makes a table says here what it is for.
TABLES = {
    "ach_achbatch": "IU(code id settlement_date status)",
    "ach_achentry": (
        "IU(accepted_at account_token batch_id code effective_date ended_at final_due_at"
        " frozen_at id missed promised_on same_day sent_at settlement_date status trace_number"
        " waits_for)"
    ),
    "ach_achevent": "IU(acknowledged id voided_at)",
    "ach_achkey": "IU(id private_key_token retired_at retired_by used_since)",
    "ach_achrail": "I",
    "ach_achreply": "IU(bank_code batch_id ended_at id status trace_number)",
    "ach_achreversal": "IU(decided_at decided_by effective_at id refusal status)",
    "ach_correction": "IU(but code created_at due_on entry_id record_id)",
    "ach_infile": (
        "IU(but by_command chunk_count folder name rail_id received_at sha256 size uploaded_by)"
    ),
    "ach_infilechunk": "IU(content_token id)",
    "ach_inrecord": (
        "IU(answers_id decided_at decided_by decided_why due_on entry_id id may_dishonor"
        " note raw_token status)"
    ),
    "ach_originator": "IU(but created_at rail_id tenant_id)",
    "ach_outfile": (
        "IU(but created_at cutoff_at file_date file_time immediate_origin kind modifier"
        " rail_id version_id)"
    ),
    "ach_outfilechunk": "IU(content_token id)",
    "ach_achproposal": "IU(decided_at decided_by id status)",
    "ach_railline": "IU",
    "ach_railswitch": "IU(id release_reason released_at released_by)",
    "ach_railversion": ("IU(decided_at decided_by id offset_account_token status superseded_at)"),
    "ach_spokenanswer": "IU(decided_at decided_by id status)",
    "ach_tracecounter": "IU",
    "account_emailaddress": "IUD",
    "account_emailconfirmation": "IUD",
    "api_apirequest": "IUD",
    "api_idempotencyrecord": "IUD",
    "auth_group": "IUD",
    "auth_group_permissions": "IUD",
    "auth_permission": "",
    "balance": "U(is_low low_noted_until notify_below notify_rise)",
    "balance_adjustment": "I",
    "balance_adjustment_proposal": (
        "IU(adjustment_id decided_at decided_by_id decision decision_note id)"
    ),
    "balance_checkpoint": "IU",
    "balance_closed_month_total": "I",
    "balance_full_proof": "IU",
    "balance_journal": "",
    "balance_ledger_check": "IUD",
    "balance_operator_day": "I",
    "balance_operator_line": "",
    "balance_transaction": "",
    **{f"balance_transaction_{part:02}": "not even read" for part in range(16)},
    "desk_assignment": "I",
    "desk_itemnote": "I",
    "django_admin_log": "I",
    "django_content_type": "",
    "django_migrations": "",
    "django_session": "R(expire_date session_key)IUD",
    "funding_accountbackoff": "IUD",
    "funding_authorizeddebit": "IU(id in_force_at)",
    "funding_autofundingconfig": "IU",
    "funding_autofundingdecision": "I",
    "funding_confirmation": "IU",
    "funding_confirmationlink": "IU",
    "funding_debitauthorization": "IU(ended_at ended_because ended_by_id ended_by_type id)",
    "funding_depositentry": (
        "IU(but amount currency method network part source_id tenant_id verification_id)"
    ),
    "funding_fundingevent": "I",
    "funding_fundinglimit": "IU",
    "funding_fundingsource": "IU(but tenant_id type)",
    "funding_fundingsourceversion": "IU(account_number_token id)",
    "funding_fundingtransaction": (
        "IU(but amount currency method retry_of_id source_id speed tenant_id trigger)"
    ),
    "funding_linkconsent": "IU",
    "funding_retryrule": "IU",
    "funding_sourceverification": "IU",
    "instant_conversation": (
        "IU(but account_fingerprint account_last4 amount created_at description end_to_end_id"
        " expires_at instruction_id kind mismatch name original_id rail_id reference"
        " routing_number tenant_id terms_digest)"
    ),
    "instant_instantevent": "IU(acknowledged id voided_at)",
    "instant_instantkey": "IU(id private_key_token retired_at retired_by used_since)",
    "instant_instantline": "IU",
    "instant_instantrail": "I",
    "instant_instantversion": "IU(account_token decided_at decided_by id status superseded_at)",
    "instant_message": ("IU(but created_at direction message_id name rail_id sha256 size)"),
    "instant_participant": "ID",
    "instant_participantlist": "IU(replaced_at)",
    "instant_position": "IU",
    "instant_positionmove": "IU(decided_at decided_by refusal status)",
    "instant_returnask": (
        "IU(but amount case_id code conversation_id created_at information message_id rail_id)"
    ),
    "mfa_authenticator": "IUD",
    "network_inbox_handsettlement": (
        "IU(decided_at decided_by_id decision decision_note event_id id)"
    ),
    "network_inbox_returndishonor": (
        "IU(changed_at contested_id counted_at dishonored_id due_at id)"
    ),
    "network_inbox_inboundevent": (
        "IU(answer_due_at attempts decided_at id next_attempt_at note outcome refused_in"
        " resolution resolved_at resolved_by)"
    ),
    "payments_payment": (
        "IU(but amount counted_for currency is_automatic recipient_id requires_confirmation"
        " speed tenant_id)"
    ),
    "payments_paymentattempt": "I",
    "payments_paymentconfirmation": "IU",
    "payments_paymentconfirmationlink": "IU",
    "payments_paymentevent": "I",
    "payments_paymentsettings": "IU",
    "payments_paymenttotal": "IU",
    "payments_recipient": (
        "IU(but account_holder_name account_holder_type created_at is_saved tenant_id)"
    ),
    "payments_recipientversion": "IU(account_number_token id)",
    "rails_rail": "I",
    "rails_route": "IU(but method mode)",
    "sandbox_bank_sandboxevent": "IUD",
    "sandbox_bank_sandboxinstruction": "IU",
    "reconciliation_bankstatement": "I",
    "reconciliation_bookedline": "I",
    "reconciliation_clearing": "IU(decided_at decided_by id refusal status)",
    "reconciliation_closedday": "I",
    "reconciliation_expectedline": "IU(line match_id)",
    "reconciliation_intransit": "I",
    "reconciliation_match": "IU(id voided_at voided_by voided_why)",
    "reconciliation_matchedline": "IU(line_id match_id)",
    "reconciliation_settlementaccount": "IU(decided_at decided_by id number_token status)",
    "reconciliation_statementline": "IU(id said_token)",
    "reconciliation_transitnote": "I",
    "solvency_proofleaf": "I",
    "solvency_proofreport": "I",
    "solvency_prooftree": "IU(report_id secret_token)",
    "seals_auditstream": "IU",
    "seals_seal": "I",
    "seals_sealpublication": "ID",
    "seals_sealround": "I",
    "tenants_apikey": "IU(but created_at digest prefix tenant_id)",
    "tenants_auditevent": "I",
    "tenants_invitation": "R(but digest)IU",
    "tenants_membership": "IUD",
    "tenants_outgoingemail": "IU",
    "socialaccount_socialaccount": "IUD",
    "socialaccount_socialapp": "not even read",
    "socialaccount_socialtoken": "D",
    "tenants_accessproposal": "IU(decided_at decided_by_id decision decision_note id)",
    "tenants_staffpower": "IU(ended_at id)",
    "tenants_switch": "IU(id release_reason released_at released_by_id)",
    "tenants_tenant": "IU(id name requires_second_factor status)",
    "tenants_user": "IU",
    "tenants_user_groups": "IUD",
    "tenants_user_user_permissions": "IUD",
    "usersessions_usersession": "IUD",
    "webhooks_dispatcherheartbeat": "IUD",
    "webhooks_webhookattempt": "ID",
    "webhooks_webhookdelivery": "IUD",
    "webhooks_webhookendpoint": "IU",
    "webhooks_webhookevent": "IU(id)D",
}
FUNCTIONS = [
    "balance_book",
    "balance_change_pending",
    "balance_open",
    "balance_post",
    "balance_post_many",
    "funding_find_link",
    "payments_find_link",
    "tenants_find_invitation",
    "tenants_find_key",
    "tenants_find_person",
    "tenants_find_session",
    "tenants_has_password",
    "tenants_link_state_of_mail",
    "tenants_link_states",
    "tenants_name_people",
]
# Both ways to post, with a tenant, a kind and cents.
POSTING_FUNCTIONS = [
    "SELECT balance_post('btx_x', %s, %s, %s, 0, 'adjustment', 'adj_x', 'x', now())",
    "SELECT balance_post_many(ARRAY['btx_x'], ARRAY[%s], ARRAY[%s], ARRAY[%s], ARRAY[0],"
    " ARRAY['adjustment'], ARRAY['adj_x'], ARRAY['x'], now())",
]
NEVER_TRUNCATED = [
    "ach_achbatch",
    "ach_achentry",
    "ach_achevent",
    "ach_achkey",
    "ach_achrail",
    "ach_achreply",
    "ach_achreversal",
    "ach_correction",
    "ach_infile",
    "ach_infilechunk",
    "ach_inrecord",
    "ach_originator",
    "ach_outfile",
    "ach_outfilechunk",
    "ach_achproposal",
    "ach_railline",
    "ach_railswitch",
    "ach_railversion",
    "ach_spokenanswer",
    "ach_tracecounter",
    "balance",
    "balance_adjustment",
    "balance_adjustment_proposal",
    "balance_checkpoint",
    "balance_operator_day",
    "balance_operator_line",
    "balance_transaction",
    "balance_transaction_00",
    "balance_transaction_15",
    "desk_assignment",
    "desk_itemnote",
    "funding_authorizeddebit",
    "funding_autofundingdecision",
    "funding_debitauthorization",
    "funding_depositentry",
    "funding_fundingevent",
    "funding_fundingsource",
    "funding_fundingsourceversion",
    "funding_fundingtransaction",
    "instant_conversation",
    "instant_instantevent",
    "instant_instantkey",
    "instant_instantline",
    "instant_instantrail",
    "instant_instantversion",
    "instant_message",
    "instant_participantlist",
    "instant_positionmove",
    "instant_returnask",
    "network_inbox_handsettlement",
    "network_inbox_inboundevent",
    "payments_payment",
    "payments_paymentattempt",
    "payments_paymentevent",
    "payments_recipient",
    "payments_recipientversion",
    "rails_rail",
    "rails_route",
    "seals_seal",
    "seals_sealround",
    "tenants_apikey",
    "tenants_auditevent",
    "tenants_switch",
    "webhooks_webhookattempt",
    "webhooks_webhookevent",
]


def rows(statement, *values):
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def actual():
    """As PostgreSQL says it, spelled as in TABLES."""
    return {name: spelled(name, *given) for name, *given in rows(roles._ACTUAL)}


def spelled(name, select, insert, delete, destroy, update_all, columns, read):
    if not select and not read:
        assert not any((insert, delete, destroy, columns))
        return "not even read"
    reading = "" if select else f"R({some(name, read)})"
    update = "U" if update_all else columns and f"U({some(name, columns)})"
    return reading + "I" * insert + (update or "") + "D" * delete + "!" * destroy


def some(name, columns):
    with owner.as_owner(), connection.cursor() as cursor:
        every = {
            column.name for column in connection.introspection.get_table_description(cursor, name)
        }
    others = every - set(columns)
    if len(columns) <= len(others) or len(columns) < 5:
        return " ".join(sorted(columns))
    return f"but {' '.join(sorted(others))}"


def refused(statement):
    """PostgreSQL's words to the role we are connected as."""
    with pytest.raises(ProgrammingError) as refusal, transaction.atomic():
        rows(f"WITH done AS ({statement} RETURNING 1) SELECT * FROM done")
    return str(refusal.value).splitlines()[0]


class TestGrants:
    def test_are_exactly_these(self):
        assert actual() == TABLES

    def test_tests_work_as_the_applications_role(self):
        assert rows("SELECT current_user") == [(DATABASE_APPLICATION_ROLE,)]

    def test_let_it_run_these_functions_and_nobody_else(self):
        found = rows(
            "SELECT proname::text, has_function_privilege(oid, 'EXECUTE'),"
            " EXISTS (SELECT FROM aclexplode(proacl) WHERE grantee = 0)"
            " FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef ORDER BY 1"
        )

        assert found == [(name, True, False) for name in FUNCTIONS]

    def test_functions_with_the_owners_rights_look_names_up_where_only_it_writes(self):
        found = rows(
            "SELECT DISTINCT proconfig FROM pg_proc"
            " WHERE pronamespace = 'public'::regnamespace AND prosecdef"
        )

        assert found == [(["search_path=pg_catalog, public, pg_temp"],)]
        assert rows("SELECT has_schema_privilege('public', 'CREATE')") == [(False,)]

    def test_can_be_made_again(self):
        with owner.as_owner():
            grants.grant(DATABASE_APPLICATION_ROLE)

        assert actual() == TABLES
        assert roles.differences() == []


class TestMoney:
    """By the role that web and workers connect as."""

    def test_moves_through_the_function(self, acme):
        fund(acme, 100)

        assert statement_of(acme) == [(1, "credit", 100, 100, 0)]

    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE balance SET available = 1000000",
            "UPDATE balance SET pending = 1000000",
            "UPDATE balance SET locked = 0",
            "UPDATE balance SET sequence = 0, posted_at = now()",
            "INSERT INTO balance (id, tenant_id, currency, available, pending, locked, sequence)"
            " SELECT 'bal_1', id, 'USD', 1000000, 0, 0, 0 FROM tenants_tenant",
            "DELETE FROM balance",
            "INSERT INTO balance_transaction SELECT * FROM balance_transaction",
            "INSERT INTO balance_transaction_00 DEFAULT VALUES",
            "UPDATE balance_transaction SET amount = 1",
            "DELETE FROM balance_transaction",
            "UPDATE balance_adjustment SET amount = 1",
            "DELETE FROM balance_adjustment",
            "DELETE FROM balance_checkpoint",
        ],
    )
    def test_moves_in_no_other_way(self, acme, statement):
        fund(acme, 100)

        assert refused(statement).startswith("permission denied for table balance")
        assert balance_of(acme) == (100, 0, 0)
        assert BalanceTransaction.objects.count() == 1

    def test_settings_of_a_balance_stay_open(self, acme):
        ledger.set_notify_below(tenant_id=acme.pk, amount=5)
        ledger.set_notify_rise(tenant_id=acme.pk, wanted=True)
        ledger.note_low(tenant_id=acme.pk, until=NOW)

        assert balance_of(acme) == (0, 0, 0)

    @pytest.mark.parametrize("function", POSTING_FUNCTIONS)
    @pytest.mark.parametrize("kind", ["gift", ""])
    def test_the_function_takes_no_other_kind(self, acme, kind, function):
        fund(acme, 100)

        with (
            pytest.raises(DatabaseError, match="balance_transaction_is_sound"),
            transaction.atomic(),
        ):
            rows(function, acme.pk, kind, 5)
        assert balance_of(acme) == (100, 0, 0)

    @pytest.mark.parametrize("function", POSTING_FUNCTIONS)
    @pytest.mark.parametrize("kind", ["credit", "debit", "lock", "unlock", "settlement"])
    @pytest.mark.parametrize("cents", [0, -5])
    def test_the_function_takes_no_amount_below_one(self, acme, kind, cents, function):
        fund(acme, 100)
        ledger.lock(
            tenant_id=acme.pk,
            amount=50,
            source_type="payment",
            source_id="pay_1",
            description="x",
            now=NOW,
        )

        with (
            pytest.raises(DatabaseError, match="balance_transaction_is_sound"),
            transaction.atomic(),
        ):
            rows(function, acme.pk, kind, cents)
        assert balance_of(acme) == (50, 0, 50)

    @pytest.mark.parametrize(
        "wrong",
        [
            "ARRAY['btx_x'], ARRAY[%(tenant)s], ARRAY['credit'], ARRAY[5, 6], ARRAY[0, 0]",
            "ARRAY['btx_x', 'btx_y'], ARRAY[%(tenant)s, %(tenant)s], ARRAY['credit'],"
            " ARRAY[5, 6], ARRAY[0, 0]",
            "ARRAY['btx_x', 'btx_y'], ARRAY[%(tenant)s, %(tenant)s], ARRAY['credit', 'credit'],"
            " ARRAY[5], ARRAY[0, 0]",
            "ARRAY['btx_x', 'btx_y'], ARRAY[%(tenant)s, %(tenant)s], ARRAY['credit', NULL],"
            " ARRAY[5, 6], ARRAY[0, 0]",
        ],
    )
    def test_the_function_of_sets_posts_no_half_of_an_entry(self, acme, wrong):
        fund(acme, 100)

        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                f"SELECT balance_post_many({wrong}, ARRAY['adjustment', 'adjustment'],"
                " ARRAY['adj_x', 'adj_y'], ARRAY['x', 'y'], now())",
                {"tenant": acme.pk},
            )

        assert balance_of(acme) == (100, 0, 0)
        assert len(statement_of(acme)) == 1


class TestTruncate:
    @pytest.mark.parametrize("table", NEVER_TRUNCATED)
    def test_is_refused_to_the_owner(self, table):
        refused = pytest.raises(DatabaseError, match="Cannot truncate")
        with owner.as_owner(), refused, transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"TRUNCATE {table} CASCADE")

    def test_is_refused_on_the_way_to_another_table(self):
        refused = pytest.raises(DatabaseError, match="Cannot truncate")
        with owner.as_owner(), refused, transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("TRUNCATE tenants_tenant CASCADE")

    def test_is_refused_wherever_rows_are_never_rewritten(self):
        """Every table that a trigger protects whole, and every partition."""
        guarded = {
            name
            for (name,) in rows(
                "SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname LIKE %s",
                "%never_truncated%",
            )
        }
        frozen = {
            model._meta.db_table
            for model in apps.get_models()
            for trigger in getattr(model._meta, "triggers", ())
            if trigger.name in {"append_only", "frozen"}
        }

        assert frozen <= guarded
        assert {name for name in TABLES if name.startswith("balance_transaction")} <= guarded


@pytest.mark.django_db(transaction=True)
class TestSettingsOfTheRole:
    """A role may say what its own next sessions start with."""

    @pytest.fixture
    def path(self):
        """Names are looked up elsewhere, by what the role has set for this database."""
        quote = connection.ops.quote_name
        name = quote(connection.settings_dict["NAME"])
        where = f"{quote(DATABASE_APPLICATION_ROLE)} IN DATABASE {name}"
        with owner.as_superuser(), connection.cursor() as cursor:
            cursor.execute(f"ALTER ROLE {where} SET search_path = elsewhere")
        yield
        with owner.as_superuser(), connection.cursor() as cursor:
            cursor.execute(f"ALTER ROLE {where} RESET search_path")

    @pytest.mark.usefixtures("path")
    def test_does_not_say_where_our_names_are_looked_up(self):
        options = connection.settings_dict["OPTIONS"]["options"].partition(" -c role=")[0]
        with psycopg.connect(owner.address()) as bare:
            assert bare.execute("SHOW search_path").fetchone() == ("elsewhere",)

        with psycopg.connect(owner.address(), options=options) as ours:
            assert ours.execute("SHOW search_path").fetchone() == ("public,pg_temp",)

    @pytest.mark.usefixtures("path")
    def test_is_named(self):
        words = "too much: 'search_path=elsewhere' for each session"
        assert roles.Problem(words, is_harmless=True) in roles.differences()
