"""Pieces that the pages of Django's admin share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, TypeVar
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.utils import label_for_field, unquote
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import QuerySet
from django.forms import Script
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.text import capfirst
from unfold.admin import ModelAdmin
from unfold.views import ChangeList

from common.admin_lists import EstimatedPaginator, FoundRows
from common.database import undisclosed
from common.errors import DomainError
from common.money import format_cents

# Below the columns of a row that staff work on: the notes on it, and who has it (decision 0210).
WORK_PANEL = "admin/work.html"
# Two pages of a list. Actions refuse more rows.
CHOSEN_MAX = 200
_TOO_MANY = (
    f"Nothing was done: more than {CHOSEN_MAX} rows are selected. Narrow the list with a search or"
    " a filter, or go through it page by page."
)

# Columns by which workers coordinate. A page shows them below everything, once they are opened.
_MACHINERY = frozenset(
    {
        "attempts",
        "event_sequence",
        "history_length",
        "lease_version",
        "leased_until",
        "next_attempt_at",
        "parked_for",
    }
)

# Columns of a hold: a page shows them first while a row is held, and hides them otherwise.
_HOLD = frozenset({"held_at", "hold_reason"})

# Wide integers that are no cents.
_NOT_MONEY = frozenset({"entry_hash", "sequence", "size"})

Column = TypeVar("Column", bound=Callable[..., Any])

_EMPTY: tuple[object, ...] = (None, "", [], {})

# On a phone, a list hides the lines that have this class (static/css/operator.css).
_NONE = '<span class="desk-none">–</span>'


def address_of(row: models.Model) -> str:
    """The address of a row's page: the desk's own, or that of the admin."""
    own: Any = admin.site._registry.get(type(row))
    if getattr(own, "desk_page", ""):
        return reverse(own.desk_page, args=[getattr(row, own.desk_key)])
    options = row._meta
    return reverse(f"admin:{options.app_label}_{options.model_name}_change", args=[row.pk])


def dollars(column: str) -> Callable[[Any], str | None]:
    """A column of cents for `list_display`, shown in dollars."""

    @admin.display(description=column.replace("_", " "))
    def shown(row: Any) -> str | None:
        cents = getattr(row, column)
        return None if cents is None else format_cents(cents)

    return amount(shown)


def amount(column: Column) -> Column:
    """A method for `list_display` that tells an amount: it stands on the right."""
    column.is_amount = True  # type: ignore[attr-defined]  # read by desk.templatetags.desk_lists
    return column


def badge(tone: Callable[[Any], str]) -> Callable[[Column], Column]:
    """A method for `list_display` that is shown as a badge in the tone of the row."""

    def marked(column: Column) -> Column:
        column.tone = tone  # type: ignore[attr-defined]  # read by desk.templatetags.desk_lists
        return column

    return marked


def _names_of(columns: Sequence[str]) -> Callable[[Any], str]:
    """One line that names each of `columns` that is empty in the row."""

    @admin.display(description="empty")
    def shown(row: Any) -> str:
        return capfirst(", ".join(str(label_for_field(name, type(row))) for name in columns))

    return shown


class _Whether(admin.EmptyFieldListFilter):
    """Filter: whether a column is filled in, worded as people would ask."""

    question: ClassVar[str]
    horizontal = True  # unfold puts the answers side by side

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = self.question

    def choices(self, changelist: Any) -> Iterator[Any]:
        """The choices of the filter. `0` asks for rows in which the column is not empty."""
        for value, answer in ((None, "All"), ("0", "Yes"), ("1", "No")):
            yield {
                "selected": self.lookup_val == value,
                "query_string": changelist.get_query_string({self.lookup_kwarg: value}),
                "display": answer,
            }


def whether(column: str, question: str) -> tuple[str, type[admin.FieldListFilter]]:
    """For `list_filter`: `whether("held_at", "on hold")`."""
    return column, type("Whether", (_Whether,), {"question": question})


class FastAdmin(ModelAdmin):
    """Lists that stay fast at millions of rows.

    They are sorted newest first by id, whose index serves every page. Search takes whole ids in
    indexed columns. Filters have choices that are known beforehand, and nothing counts all rows.
    """

    ordering: ClassVar[Any] = ("-id",)
    sortable_by: ClassVar[Any] = ()
    empty_value_display: Any = _NONE
    paginator: Any = EstimatedPaginator
    show_full_result_count = False
    list_per_page = 50
    change_form_template: Any = "admin/row.html"
    add_form_template: Any = "admin/change_form.html"
    # The address's name of the desk's own page of a row, to which its page in the admin leads, and
    # the field of the row that this address holds.
    desk_page: ClassVar[str] = ""
    desk_key: ClassVar[str] = "pk"

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return FoundRows

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The rows, without what opens an account or a line."""
        rows = undisclosed.of(super().get_queryset(request))
        related = self.list_select_related
        # Django looks at it no more once something else is selected along.
        return rows.select_related(*related) if isinstance(related, tuple) and related else rows

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        """Pass the id as it is, because the buttons of a page need it. Lists quote the
        `_` of ids."""
        return super().changeform_view(request, object_id and unquote(object_id), *args, **kwargs)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """Lead to the desk's own page, which asks for itself who may open it. Where there is none,
        the page is called by the name of its kind, not “View …”, and what can be done to the row
        stands below its title, which unfold's buttons beside it would cover. Lists quote the `_` of
        ids."""
        if key := self._desk_key_of(request, unquote(object_id)):
            return HttpResponseRedirect(reverse(self.desk_page, args=[key]))
        title = {"title": capfirst(str(self.opts.verbose_name))}
        answer = super().change_view(request, object_id, form_url, title | (extra_context or {}))
        if isinstance(answer, TemplateResponse) and answer.context_data is not None:
            answer.context_data["row_actions"] = answer.context_data.pop("actions_detail", [])
        return answer

    def _desk_key_of(self, request: HttpRequest, pk: str) -> str:
        """What the desk's own page of the row is found by; empty without such a page. Where that
        is not the row's id, who may not see the row gets the answer of its page in the admin."""
        if not self.desk_page or self.desk_key == "pk":
            return pk if self.desk_page else ""
        row = self.get_object(request, pk) if self.has_view_permission(request) else None
        return str(getattr(row, self.desk_key)) if row else ""

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Lead to the audit log, which has what services did. Django's own history does not know of
        it."""
        query = urlencode({"q": unquote(object_id)})
        return HttpResponseRedirect(f"{reverse('admin:tenants_auditevent_changelist')}?{query}")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> Any:
        """Give the list the title that the menu has for it."""
        title = {"title": capfirst(str(self.opts.verbose_name_plural))}
        return super().changelist_view(request, title | (extra_context or {}))

    def response_action(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        """Refuse an action on more rows than a person looks through, or a request has time for."""
        chosen = len(request.POST.getlist(ACTION_CHECKBOX_NAME))
        if request.POST.get("select_across") == "1":
            chosen = queryset.order_by()[: CHOSEN_MAX + 1].count()
        if chosen <= CHOSEN_MAX:
            return super().response_action(request, queryset)
        messages.error(request, _TOO_MANY)
        return HttpResponseRedirect(request.get_full_path())


class ReadOnlyAdmin(FastAdmin):
    """An admin page that changes nothing. Changes go through services, which check, audit and
    notify."""

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """The fields in the order in which people ask for them: amounts in dollars, and the empty
        ones in one line. Every wide integer of a row but `_NOT_MONEY` is in cents."""
        cents = {
            field.name
            for field in self.opts.get_fields()
            if isinstance(field, models.BigIntegerField) and field.name not in _NOT_MONEY
        }
        later = frozenset[str]() if getattr(obj, "held_at", None) else _HOLD
        names = sorted(super().get_fields(request, obj), key=later.__contains__)
        empty = [name for name in names if getattr(obj, name, obj) in _EMPTY] if obj else []
        shown = [dollars(name) if name in cents else name for name in names if name not in empty]
        told = [name for name in empty if name not in _MACHINERY]
        return [*shown, _names_of(told)] if told else shown

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """What people ask for, and what only workers need behind a line that opens it."""
        if self.fieldsets:
            return super().get_fieldsets(request, obj)
        names = self.get_fields(request, obj)
        internals = [name for name in names if name in _MACHINERY]
        shown = [(None, {"fields": [name for name in names if name not in _MACHINERY]})]
        opened = ("Internals", {"fields": internals, "classes": ["collapse"]})
        return [*shown, opened] if internals else shown

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class AccountNumberAdmin(ReadOnlyAdmin):
    """A stored bank account. Its page links to the page that shows the number, for those who may
    see it."""

    exclude: Any = ("account_number_token", "fingerprint")
    readonly_fields: Any = ("account_number",)
    reveal_permission: str

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = super().get_fields(request, obj)
        may_reveal = request.user.has_perm(self.reveal_permission)
        return [name for name in fields if may_reveal or name != "account_number"]

    @admin.display(description="account number")
    def account_number(self, row: Any) -> str:
        address = reverse("desk:account_number", args=[row.pk])
        link = '··{} <a class="text-primary-600 dark:text-primary-500" href="{}">Show in full</a>'
        return format_html(link, row.last4, address)


_REFUSAL = "ballast.refusal"  # why a service refused what this request sent, for its form


def _refused(form: type[forms.ModelForm[Any]], why: str) -> type[forms.ModelForm[Any]]:
    """The form, which shows what was sent and why it was refused."""

    def clean(_form: object) -> None:
        raise ValidationError(why)

    return type(form.__name__, (form,), {"clean": clean})


class ServiceAdmin(FastAdmin):
    """Staff change rows through a service. If the service refuses, nothing is saved: its reason
    stands above the form, which keeps what was typed."""

    class Media:
        js = (Script("js/select2-names.js", type="module"),)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            answer: HttpResponse = super().changeform_view(request, *args, **kwargs)
        except DomainError as refusal:
            if request.method != "POST":
                raise
            request.META[_REFUSAL] = f"{refusal.title}. {refusal.detail}"
            answer = super().changeform_view(request, *args, **kwargs)
        return answer

    def get_form(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, **kwargs)
        refusal = request.META.get(_REFUSAL, "")
        return _refused(form, refusal) if refusal else form

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False
