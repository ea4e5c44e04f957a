"""The desk's menu: by what staff come to do, not by app. Whatever is not placed comes last.

What there is to show is the same for as long as a process runs: it is made once, as HTML. A request
chooses what the person may open.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import AnonymousUser
from django.db.models.options import Options
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst

from dashboard.shell import brand_files
from tenants.models import User

_HOME = "admin:index"
_ICON = '<i aria-hidden="true">{}</i>'
_LINE = '<li><a href="{}"{}>{}{}</a></li>'

# (title, icon, name of the address, permission). Those of lists follow from the model.
_PAGES = (
    ("Home", "home", _HOME, "tenants.view_tenant"),
    ("Tenants", "apartment", "admin:tenants_tenant_changelist", "tenants.view_tenant"),
    ("Ledger", "account_balance", "desk:ledger", "balance.view_ledgercheck"),
    ("Files", "upload_file", "desk:files", "ach.view_outfile"),
    ("Instant payments", "bolt", "desk:instant", "instant.view_conversation"),
    ("Exceptions", "rule", "desk:exceptions", "ach.view_inrecord"),
    ("Reconciliation", "balance", "desk:reconciliation", "reconciliation.view_closedday"),
    ("Statements", "receipt_long", "desk:statements", "reconciliation.view_bankstatement"),
    ("Proofs of funds", "verified", "desk:proofs", "solvency.view_proofreport"),
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
    ("Instant rails", ("instant.conversation", "instant.message", "instant.returnask",
                       "instant.instantevent", "instant.instantrail", "instant.instantversion",
                       "instant.instantkey", "instant.instantline", "instant.position",
                       "instant.positionmove", "instant.participantlist",
                       "instant.participant")),
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


@dataclass(frozen=True)
class Link:
    """One page of the desk, for who holds the permission."""

    title: str
    icon: str
    address: str
    permission: str
    is_home: bool = False

    def is_at(self, path: str) -> bool:
        """Whether `path` is this page or one below it. Every page is below the home."""
        return path == self.address if self.is_home else self.address in path

    @cached_property
    def line(self) -> SafeString:
        """The line of the sidebar."""
        return self._line("")

    @cached_property
    def current_line(self) -> SafeString:
        """The line of the sidebar on the page itself."""
        return self._line(mark_safe(' aria-current="page"'))

    def _line(self, mark: str) -> SafeString:
        icon = format_html(_ICON, self.icon) if self.icon else ""
        return format_html(_LINE, self.address, mark, icon, self.title)


@dataclass(frozen=True)
class Group:
    """Links that belong together; the first group has no title."""

    title: str
    links: tuple[Link, ...]


@dataclass(frozen=True)
class Section:
    """A group in the sidebar: its lines, and whether the page that is shown is one of them."""

    title: str
    lines: SafeString
    is_current: bool


def stylesheet(_request: HttpRequest) -> str:
    """The address of the desk's own rules, behind unfold's."""
    return static("css/operator.css")


def search_stylesheet(_request: HttpRequest) -> str:
    """The address of the search's rules, which tenants' pages have as well."""
    return static("css/find.css")


def logo(_request: HttpRequest) -> str:
    """The address of the deployment's logo, where it has one."""
    return brand_files.logo_address()


def groups(user: User | AnonymousUser) -> list[Group]:
    """Every group, with the links to what this person may open."""
    held = user.get_all_permissions()
    return [Group(group.title, _open_to(held, group)) for group in _menu()]


def sections(request: HttpRequest) -> list[Section]:
    """The sidebar of who asks."""
    return [_section(group, request.path) for group in groups(request.user)]


def _section(group: Group, path: str) -> Section:
    current = {link for link in group.links if link.is_at(path)}
    lines = [link.current_line if link in current else link.line for link in group.links]
    return Section(group.title, mark_safe("".join(lines)), bool(current))  # noqa: S308  # of safe lines


def _open_to(held: Set[str], group: Group) -> tuple[Link, ...]:
    return tuple(link for link in group.links if link.permission in held)


@cache
def _menu() -> tuple[Group, ...]:
    """What somebody sees who may open everything."""
    models = {model._meta.label_lower: model._meta for model in admin.site._registry}
    titled = [*_LISTS, ("More", tuple(sorted(models.keys() - _PLACED)))]
    lists = [
        Group(title, tuple(_list_of(models[name]) for name in names if name in models))
        for title, names in titled
        if names
    ]
    return Group("", tuple(_link(*page) for page in _PAGES)), *lists


def _list_of(options: Options[Any]) -> Link:
    app, model = options.app_label, options.model_name
    title = capfirst(str(options.verbose_name_plural))
    return _link(title, "", f"admin:{app}_{model}_changelist", f"{app}.view_{model}")


def _link(title: str, icon: str, name: str, permission: str) -> Link:
    return Link(title, icon, reverse(name), permission, is_home=name == _HOME)
