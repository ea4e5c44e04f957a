"""The desk's menu: by what staff come to do, not by app. Whatever is not placed comes last."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse
from django.utils.text import capfirst

from dashboard.shell import brand_files

Item = dict[str, Any]

# (title, icon, address, permission); addresses and permissions of lists follow from the model.
_PAGES = (
    ("Home", "home", "admin:index", "tenants.view_tenant"),
    ("Tenants", "apartment", "admin:tenants_tenant_changelist", "tenants.view_tenant"),
    ("Ledger", "account_balance", "desk:ledger", "balance.view_ledgercheck"),
    ("Files", "upload_file", "desk:files", "ach.view_outfile"),
    ("Exceptions", "rule", "desk:exceptions", "ach.view_inrecord"),
    ("Statements", "receipt_long", "desk:statements", "reconciliation.view_bankstatement"),
    ("Rails", "conversion_path", "desk:rails", "ach.view_achrail"),
    ("Queues", "schedule", "desk:queues", "tenants.view_tenant"),
    ("Switches", "toggle_on", "admin:tenants_switch_changelist", "tenants.view_switch"),
)
_LISTS = (
    ("Money in", ("funding.fundingtransaction", "funding.fundingsource", "funding.confirmation",
                  "funding.autofundingconfig", "funding.autofundingdecision",
                  "funding.debitauthorization", "funding.authorizeddebit",
                  "funding.sourceverification", "funding.depositentry", "funding.linkconsent",
                  "funding.confirmationlink", "funding.fundingsourceversion")),
    ("Money out", ("payments.payment", "payments.recipient", "payments.paymentconfirmation",
                   "payments.paymentsettings", "payments.paymentconfirmationlink",
                   "payments.recipientversion")),
    ("Books", ("balance.adjustmentproposal", "balance.adjustment",
               "balance.balancetransaction", "balance.balance",
               "balance.ledgercheck", "balance.ledgercheckpoint",
               "seals.sealround", "seals.seal")),
    ("ACH", ("ach.outfile", "ach.achentry", "ach.achbatch", "ach.infile", "ach.inrecord",
             "ach.correction", "ach.achreply", "ach.achreversal", "ach.spokenanswer",
             "ach.achproposal",
             "ach.achevent", "ach.originator", "ach.achrail",
             "ach.railversion", "ach.achkey", "ach.railswitch", "ach.railline")),
    ("Networks", ("network_inbox.inboundevent", "network_inbox.handsettlement",
                  "sandbox_bank.sandboxinstruction",
                  "sandbox_bank.sandboxevent")),
    ("Webhooks", ("webhooks.webhookendpoint", "webhooks.webhookdelivery",
                  "webhooks.webhookattempt", "webhooks.webhookevent",
                  "webhooks.dispatcherheartbeat")),
    ("Access", ("tenants.user", "tenants.membership", "tenants.apikey", "auth.group",
                "tenants.accessproposal", "tenants.staffpower")),
    ("Records", ("tenants.auditevent", "tenants.outgoingemail", "api.idempotencyrecord")),
)  # fmt: skip
_PLACED = {name for _title, names in _LISTS for name in names} | {
    "tenants.tenant",
    "tenants.switch",
}


def stylesheet(_request: HttpRequest) -> str:
    """The address of the desk's own rules, behind unfold's."""
    return static("css/operator.css")


def search_stylesheet(_request: HttpRequest) -> str:
    """The address of the search's rules, which tenants' pages have as well."""
    return static("css/find.css")


def logo(_request: HttpRequest) -> str:
    """The address of the deployment's logo, where it has one."""
    return brand_files.logo_address()


def groups(_request: HttpRequest) -> list[Item]:
    """What unfold shows in the sidebar; it leaves out what the person may not see."""
    known = {model._meta.label_lower for model in admin.site._registry}
    lists = [(title, [name for name in names if name in known]) for title, names in _LISTS]
    return [
        {"items": [_item(*page) for page in _PAGES]},
        *(_group(title, names) for title, names in lists),
        *([_group("More", sorted(known - _PLACED))] if known - _PLACED else []),
    ]


def _group(title: str, names: Iterable[str]) -> Item:
    return {
        "title": title,
        "collapsible": True,
        "separator": True,
        "items": [_list_of(name) for name in names],
    }


def _list_of(name: str) -> Item:
    app, model = name.split(".")
    options = next(m._meta for m in admin.site._registry if m._meta.label_lower == name)
    title = capfirst(str(options.verbose_name_plural))
    return _item(title, "", f"admin:{app}_{model}_changelist", f"{app}.view_{model}")


def _item(title: str, icon: str, address: str, permission: str) -> Item:
    may_see = partial(_may_see, permission)
    return {"title": title, "icon": icon, "link": reverse(address), "permission": may_see}


def _may_see(permission: str, request: HttpRequest) -> bool:
    return bool(request.user.has_perm(permission))
