"""What people decided, the audit log, e-mails, idempotency keys and tenants."""

from __future__ import annotations

from tests.invariants.corruptions.damage import DAILY, REFUSED, SEAL, USUAL, Damage

PEOPLE = [
    Damage(
        "45 terms of an approved proposal",
        USUAL,
        "adjustment_proposal",
        "UPDATE balance_adjustment_proposal SET amount = amount + 1 WHERE id = '{adp}'",
    ),
    Damage(
        "45b decided by whoever proposed",
        REFUSED,
        "proposal_decided_by_another",
        "UPDATE balance_adjustment_proposal SET decided_by_id = proposed_by_id WHERE id = '{adp}'",
    ),
    Damage(
        "45c correction by staff whose proposal is gone",
        USUAL,
        "adjustment_proposal",
        "DELETE FROM balance_adjustment_proposal WHERE id = '{adp}'",
    ),
    Damage(
        "45d a correction's line in the audit log deleted",
        USUAL,
        "adjustment_unrecorded",
        "DELETE FROM tenants_auditevent WHERE subject_id = '{adj}'",
    ),
    Damage(
        "35 audit log edited",
        SEAL,
        "seal_rows",
        "UPDATE tenants_auditevent SET request_id = 'x' WHERE tenant_id = '{t}'",
    ),
    Damage(
        "35b a line of the audit log from the future",
        USUAL,
        "row_ahead",
        "INSERT INTO tenants_auditevent (id, tenant_id, actor_type, actor_id, action, subject_id,"
        " details, request_id, address, staff_note, created_at) SELECT 'aud_ahead', tenant_id,"
        " actor_type, actor_id, action, subject_id, details, request_id, address, staff_note,"
        " now() + interval '90 days' FROM tenants_auditevent WHERE tenant_id = '{t}' LIMIT 1",
    ),
    Damage(
        "46 e-mail never due",
        USUAL,
        "email_never_due",
        "UPDATE tenants_outgoingemail SET next_attempt_at = NULL"
        " WHERE id = (SELECT min(id) FROM tenants_outgoingemail)",
    ),
    Damage(
        "47 an idempotency key's answer",
        DAILY,
        "idempotency_unreadable",
        "UPDATE api_idempotencyrecord SET tenant_id = '{t2}' WHERE key = 'books'",
    ),
    Damage(
        "48 a tenant whose ledger stays",
        USUAL,
        "tenant_vanished",
        "DELETE FROM tenants_tenant WHERE id = '{t}'",
    ),
    Damage(
        "49 a message by hand that no two people decided",
        USUAL,
        "settlement_unrecorded",
        "UPDATE network_inbox_inboundevent SET by_hand = 'usr_eve' WHERE instruction_id = '{f1}'",
    ),
    Damage(
        "45e an approval of a correction that the second person never gave",
        USUAL,
        "adjustment_unwitnessed",
        "UPDATE tenants_auditevent SET actor_id = 'usr_eve' WHERE subject_id = '{adp}'"
        " AND action = 'adjustment.approved'",
    ),
    Damage(
        "48e an API key that nobody issued",
        USUAL,
        "api_key_unissued",
        "INSERT INTO tenants_apikey (id, tenant_id, name, prefix, digest, scopes, allowed_networks,"
        " created_at) SELECT 'key_forged', tenant_id, name, 'bk_forged', repeat('0', 64), scopes,"
        " '{{}}', now() FROM tenants_apikey WHERE tenant_id = '{t}' LIMIT 1",
    ),
    Damage(
        "48b an API key of another tenant",
        USUAL,
        "api_key_unissued",
        "UPDATE tenants_apikey SET tenant_id = '{t2}' WHERE tenant_id = '{t}'",
    ),
    Damage(
        "48c another text for an API key",
        SEAL,
        "seal_rows",
        "UPDATE tenants_apikey SET digest = repeat('0', 64) WHERE tenant_id = '{t}'",
    ),
    Damage(
        "48d a sandbox tenant that is called live",
        SEAL,
        "seal_rows",
        "UPDATE tenants_tenant SET mode = CASE mode WHEN 'live' THEN 'sandbox' ELSE 'live' END"
        " WHERE id = '{t}'",
    ),
    Damage(
        "50 a role of staff that was granted earlier",
        USUAL,
        "staff_power_unwitnessed",
        "UPDATE tenants_staffpower SET granted_at = granted_at - interval '9 days'"
        " WHERE id = '{pow}'",
    ),
    Damage(
        "50b a role of staff from other people",
        USUAL,
        "staff_power_unproposed",
        "UPDATE tenants_staffpower SET asked_by_id = 'usr_eve' WHERE id = '{pow}'",
    ),
    Damage(
        "50c a role of staff that a command line is said to have granted",
        USUAL,
        "staff_power_unwitnessed",
        "UPDATE tenants_staffpower SET asked_by_id = NULL, granted_by_id = NULL WHERE id = '{pow}'",
    ),
    Damage(
        "50d a role of staff that is said to have ended",
        USUAL,
        "staff_power_unwitnessed",
        "UPDATE tenants_staffpower SET ended_at = now() WHERE id = '{pow}'",
    ),
    Damage(
        "50e a role of staff that nobody granted",
        USUAL,
        "staff_power_unwitnessed",
        "INSERT INTO tenants_staffpower (id, user_id, group_id, granted_at) SELECT 'pow_forged',"
        " id, (SELECT id FROM auth_group WHERE name = 'Hired'), now() FROM tenants_user"
        " WHERE email = 'ann@ballast.example'",
    ),
    Damage(
        "50f a group of staff without a role",
        USUAL,
        "staff_group_ungranted",
        "INSERT INTO tenants_user_groups (user_id, group_id) SELECT id,"
        " (SELECT id FROM auth_group WHERE name = 'Hired') FROM tenants_user"
        " WHERE email = 'ann@ballast.example'",
    ),
    Damage(
        "51 access that somebody else decided on",
        USUAL,
        "access_unwitnessed",
        "UPDATE tenants_accessproposal SET decided_by_id = 'usr_eve' WHERE id = '{acp}'",
    ),
    Damage(
        "51b access that one's own proposal gave",
        REFUSED,
        "access_decided_by_another",
        "UPDATE tenants_accessproposal SET decided_by_id = proposed_by_id WHERE id = '{acp}'",
    ),
    Damage(
        "51c access that was proposed earlier",
        USUAL,
        "access_unwitnessed",
        "UPDATE tenants_accessproposal SET proposed_at = proposed_at - interval '9 days'"
        " WHERE id = '{acp}'",
    ),
    Damage(
        "51d another reason for access",
        SEAL,
        "seal_rows",
        "UPDATE tenants_accessproposal SET reason = 'x' WHERE id = '{acp}'",
    ),
    Damage(
        "51e another note of who approved access",
        SEAL,
        "seal_rows",
        "UPDATE tenants_accessproposal SET decision_note = 'x' WHERE id = '{acp}'",
    ),
]
