"""What staff may do, as groups of permissions: one table, made by `manage.py staff_roles`.

A person may have several roles. Who works for us, and in which of them, two administrators say, or
a command (decision 0168).
"""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib.auth.models import Group, Permission
from django.db import transaction
from django.db.models import Q

_APPS = (
    "ach",
    "api",
    "balance",
    "desk",
    "funding",
    "instant",
    "network_inbox",
    "payments",
    "reconciliation",
    "sandbox_bank",
    "solvency",
    "tenants",
    "webhooks",
)

# Beyond what `Viewer` may see. Names are `app.codename`.
ROLES: Mapping[str, tuple[str, ...]] = {
    "Viewer": (),
    "Operator": (
        "ach.add_railswitch",
        "ach.add_railversion",
        "ach.change_inrecord",
        "ach.change_originator",
        "ach.change_railswitch",
        "ach.hold_outfile",
        "ach.propose_achreversal",
        "balance.propose_adjustment",
        "balance.run_check",
        "desk.add_assignment",
        "desk.add_itemnote",
        "funding.change_fundinglimit",
        "funding.change_fundingtransaction",
        "instant.add_instantversion",
        "instant.change_conversation",
        "instant.change_message",
        "instant.propose_positionmove",
        "instant.propose_returnask",
        "network_inbox.change_inboundevent",
        "network_inbox.propose_settlement",
        "payments.add_paymentsettings",
        "payments.change_payment",
        "payments.change_paymentsettings",
        "tenants.add_switch",
        "tenants.add_tenant",
        "tenants.change_apikey",
        "tenants.change_switch",
        "tenants.change_tenant",
        "tenants.view_as_tenant",
        "webhooks.change_webhookdelivery",
        "webhooks.change_webhookendpoint",
    ),
    "Releaser": (
        "ach.add_railswitch",
        "ach.approve_achreversal",
        "ach.change_railversion",
        "ach.release_outfile",
        "desk.add_assignment",
        "desk.add_itemnote",
        "instant.approve_returnask",
        "instant.change_instantversion",
    ),
    "Investigator": (
        "desk.add_itemnote",
        "funding.reveal_source_number",
        "payments.reveal_recipient_number",
        "reconciliation.reveal_statementline",
        "tenants.view_as_tenant",
    ),
    "Accountant": (
        "balance.approve_adjustment",
        "balance.export_journal",
        "balance.propose_adjustment",
        "balance.run_check",
        "desk.add_assignment",
        "desk.add_itemnote",
        "instant.approve_positionmove",
        "instant.propose_positionmove",
        "network_inbox.approve_settlement",
        "network_inbox.propose_settlement",
        "reconciliation.approve_clearing",
        "reconciliation.approve_settlementaccount",
        "reconciliation.close_day",
        "reconciliation.explain_intransit",
        "reconciliation.match_statementline",
        "reconciliation.propose_clearing",
        "reconciliation.propose_settlementaccount",
        "reconciliation.reveal_statementline",
        "reconciliation.upload_bankstatement",
    ),
    "Administrator": (
        "tenants.add_tenant",
        "tenants.approve_access",
        "tenants.change_apikey",
        "tenants.change_user",
        "tenants.propose_access",
    ),
}


@transaction.atomic
def ensure() -> dict[str, int]:
    """Make the groups say what the table says; returns how many permissions each has."""
    return {role: _ensure(role, names) for role, names in ROLES.items()}


def _ensure(role: str, names: tuple[str, ...]) -> int:
    group, _is_new = Group.objects.get_or_create(name=role)
    wanted = Permission.objects.filter(_viewing())
    for name in names:
        app, _, code = name.partition(".")
        wanted = wanted | Permission.objects.filter(content_type__app_label=app, codename=code)
    group.permissions.set(wanted)
    return wanted.count()


def _viewing() -> Q:
    return Q(content_type__app_label__in=_APPS, codename__startswith="view_") & ~Q(
        codename="view_as_tenant"
    )
