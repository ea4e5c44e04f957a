"""People and what they may do in which tenant."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, ClassVar

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group
from django.db import transaction
from django.http import HttpRequest
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from common.admin import FastAdmin, ReadOnlyAdmin, ServiceAdmin, whether
from common.clock import utc_now
from common.forms import TextField
from tenants import actors
from tenants.models import Membership, Role, StaffPower, User
from tenants.services import accounts, audit

if TYPE_CHECKING:
    AccountAdmin = DjangoUserAdmin[User]
else:
    AccountAdmin = DjangoUserAdmin

admin.site.unregister(Group)
# People sign in with the address of their user; allauth's own list only mirrors it.
admin.site.unregister(EmailAddress)
# Secrets and sessions of people are not shown, and nobody edits them.
admin.site.unregister(Authenticator)
admin.site.unregister(UserSession)


_POWER = ("is_staff", "is_superuser", "groups")


class NewUserForm(UserCreationForm):
    class Meta:
        model = User
        fields = ("email",)

    def clean_email(self) -> str:
        """Addresses are kept in lower case."""
        email: str = self.cleaned_data["email"]
        return email.lower()


class EditUserForm(UserChangeForm):
    class Meta:
        model = User
        fields = "__all__"
        field_classes: ClassVar = {"name": TextField}

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"]
        return email.lower()


@admin.register(User)
class UserAdmin(AccountAdmin, FastAdmin):
    """Changes are audited. What a person may do in a tenant is a membership; who works for us, in
    which role, says `manage.py staff_member` (decision 0168)."""

    form = EditUserForm
    add_form = NewUserForm
    change_password_form = AdminPasswordChangeForm
    list_display = ("email", "name", "is_active", "is_staff", "last_login", "created_at")
    list_filter = ("is_active", "is_staff", "is_superuser")
    search_fields = ("id__exact", "email__startswith")
    search_help_text = "The id of the person, or how the address begins"
    ordering = ("email",)
    readonly_fields = ("last_login", "created_at", *_POWER)
    fieldsets = (
        (None, {"fields": ("email", "name", "password", "is_active")}),
        ("Staff", {"fields": _POWER}),
        ("Dates", {"fields": ("last_login", "created_at")}),
    )
    add_fieldsets = (
        (
            None,
            {
                "classes": ("wide",),
                "fields": ("email", "usable_password", "password1", "password2"),
            },
        ),
    )

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Staff who may change people may not change a colleague who may do more than they."""
        may_change = super().has_change_permission(request, obj)
        is_colleague = obj is not None and obj.is_staff
        return bool(may_change and (request.user.is_superuser or not is_colleague))

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    @transaction.atomic
    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:
        """Record that staff changed somebody's password, and tell the person."""
        answer = super().user_change_password(request, id, form_url)
        if request.method == "POST" and answer.status_code == HTTPStatus.FOUND:
            accounts.note_password_set(
                user_id=id, actor=actors.staff(str(request.user.pk)), now=utc_now()
            )
        return answer

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        actor, now, before = (
            actors.staff(str(request.user.pk)),
            utc_now(),
            form.initial.get("email"),
        )
        audit.record(
            tenant_id=None,
            actor=actor,
            action="user.changed" if change else "user.created",
            subject_id=obj.pk,
            details={"email": obj.email, "changed": form.changed_data},
            now=now,
        )
        if change and before != obj.email:
            accounts.note_address_set(user_id=obj.pk, before=before, actor=actor, now=now)


@admin.register(Group)
class GroupAdmin(ReadOnlyAdmin):
    """What each role of staff may do: `manage.py staff_roles` makes them."""

    search_fields = ("name",)
    search_help_text = "Name"
    ordering = ("name",)


@admin.register(StaffPower)
class StaffPowerAdmin(ReadOnlyAdmin):
    """Who works for us in which role, since when, by whose word."""

    list_display = ("user", "group", "asked_by", "granted_by", "granted_at", "ended_at")
    list_filter = (whether("ended_at", "ended"),)
    list_select_related = ("user", "group", "asked_by", "granted_by")
    search_fields = ("id__exact", "user__id__exact")
    search_help_text = "The id of the row or of the person"


@admin.register(Membership)
class MembershipAdmin(ServiceAdmin):
    list_display = ("user", "tenant", "role", "created_at")
    list_filter = ("role", "tenant__mode")
    list_select_related = ("user", "tenant")
    search_fields = ("id__exact", "tenant__id__exact", "user__id__exact")
    search_help_text = "The id of the membership, its tenant or its person"
    autocomplete_fields = ("tenant", "user")
    fields = ("tenant", "user", "role")

    def get_readonly_fields(self, request: HttpRequest, obj: object = None) -> Any:
        return ("tenant", "user") if obj else ()

    def save_model(self, request: HttpRequest, obj: Membership, form: Any, change: bool) -> None:
        saved = accounts.create_member(
            tenant_id=obj.tenant_id,
            email=obj.user.email,
            role=Role(obj.role),
            password=None,
            actor=actors.staff(str(request.user.pk)),
            now=utc_now(),
        )
        obj.pk = saved.pk
