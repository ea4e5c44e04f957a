"""People and what they may do in which tenant."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django import forms
from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from common import staff_actions
from common.admin import ReadOnlyAdmin, ServiceAdmin, whether
from common.clock import utc_now
from common.database import undisclosed
from common.forms import TextField
from tenants import actors, selectors
from tenants.actors import Actor
from tenants.models import Membership, StaffPower, User
from tenants.services import accounts, closing, enrolments, staff

admin.site.unregister(Group)
# People sign in with the address of their user; allauth's own list only mirrors it.
admin.site.unregister(EmailAddress)
# Secrets and sessions of people are not shown, and nobody edits them.
admin.site.unregister(Authenticator)
admin.site.unregister(UserSession)
# Connections of single sign-on are settings, and of a provider's words only who somebody is stays.
admin.site.unregister((SocialAccount, SocialApp, SocialToken))


if TYPE_CHECKING:
    PersonForm = forms.ModelForm[User]
else:
    PersonForm = forms.ModelForm


class NameForm(PersonForm):
    class Meta:
        model = User
        fields = ("name",)
        field_classes: ClassVar = {"name": TextField}


@admin.register(User)
class UserAdmin(ServiceAdmin):
    """Staff set a person's name, close the account and open it again. Its password and address are
    the person's own; who works for us is proposed (decision 0168)."""

    form = NameForm
    list_display = ("email", "name", "is_active", "is_staff", "last_login", "created_at")
    list_filter = ("is_active", "is_staff", "is_superuser")
    search_fields = ("id__exact", "email__startswith")
    search_help_text = "The id of the person, or how the address begins"
    ordering = ("email",)
    change_form_template = "admin/person.html"
    fields = ("email", "name", "account", "last_login", "created_at")
    readonly_fields = ("email", "account", "last_login", "created_at")
    actions_detail = ("send_reset_link", "send_enrolment_link", "close", "reopen", "end_powers")

    @admin.display(description="account")
    def account(self, person: User) -> str:
        everything = ", may do everything" if person.is_superuser else ""
        works = f"Works for us{everything}" if person.is_staff else "Does not work for us"
        return f"{'Open' if person.is_active else 'Closed'}. {works}."

    def get_actions_detail(self, request: HttpRequest, object_id: str) -> Any:
        """Offer only what changes something for this person."""
        person = self.get_object(request, object_id)
        if person is None:
            return []
        useless = {"reopen" if person.is_active else "close"}
        if not person.is_staff:
            useless.add("end_powers")
        offered = super().get_actions_detail(request, object_id)
        return [each for each in offered if each.action_name.split("_", 2)[2] not in useless]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """With what the person may do, and where they are signed in, as far as the reader may know.
        Four queries at most."""
        user_id, reader = unquote(object_id), request.user
        about = {
            "powers": _powers(user_id) if reader.has_perm("tenants.view_staffpower") else None,
            "memberships": (
                selectors.memberships(user_id=user_id)
                if reader.has_perm("tenants.view_membership")
                else None
            ),
            "sessions": (
                UserSession.objects.filter(user_id=user_id).order_by("-last_seen_at")
                if self.has_support_permission(request)
                else None
            ),
        }
        return super().change_view(request, object_id, form_url, about | (extra_context or {}))

    @staff_actions.own_page_action("Send link for second factor", permission="support")
    def send_enrolment_link(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return staff_actions.ask_about_one(
            self,
            request,
            get_object_or_404(User.objects.defer("password"), pk=object_id),
            staff_actions.StaffAction(
                title="Send the link to set up a second factor",
                consequences="Make sure who is asking. The link works for an hour, with the"
                " password, until a second factor is set up.",
                button="Send the link",
                done="gets the link by e-mail.",
                act=lambda user, reason: enrolments.send(
                    user=user,
                    reason=reason,
                    actor=_actor(request),
                    now=utc_now(),
                ),
            ),
        )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Nobody changes a colleague."""
        is_colleague = obj is not None and (obj.is_staff or obj.is_superuser)
        return super().has_change_permission(request, obj) and not is_colleague

    def has_support_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return request.user.has_perm("tenants.change_user")

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        accounts.rename_by_support(
            user_id=obj.pk, name=obj.name, actor=_actor(request), now=utc_now()
        )

    @staff_actions.own_page_action("Send a reset link", permission="support")
    def send_reset_link(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """To the person's own address. Nobody here sees it."""
        return _ask(
            self,
            request,
            object_id,
            title="Send a link to choose a password",
            consequences="It goes to the person's own address, works once and for ten minutes."
            " When it is late, its page sends the person another one.",
            button="Send the link",
            done="gets a link.",
            act=accounts.send_reset_link,
        )

    @staff_actions.own_page_action("Close the account", permission="support")
    def close(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return _ask(
            self,
            request,
            object_id,
            title="Close the account",
            consequences="The person is signed out and cannot sign in, at once. API keys that they"
            " made stop working, and invitations that they sent are revoked. The owners and the"
            " person get an e-mail.",
            button="Close the account",
            done="cannot sign in any more.",
            act=closing.close,
        )

    @staff_actions.own_page_action("Open the account again", permission="support")
    def reopen(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return _ask(
            self,
            request,
            object_id,
            title="Open the account again",
            consequences="The person can sign in again, and can approve payments after a day. The"
            " owners and the person get an e-mail.",
            button="Open the account",
            done="can sign in again.",
            act=closing.reopen,
        )

    @staff_actions.own_page_action("Works here no more", permission="support")
    def end_powers(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return _ask(
            self,
            request,
            object_id,
            title="End all roles of staff",
            consequences="The person is signed out and may do nothing here, at once. To give roles"
            " again takes two people and a day.",
            button="End all roles",
            done="works here no more.",
            act=staff.end,
        )


def _ask(
    admin_page: UserAdmin,
    request: HttpRequest,
    object_id: str,
    *,
    act: Callable[..., object],
    title: str,
    consequences: str,
    button: str,
    done: str,
) -> HttpResponse:
    """Ask for the reason of something that is done to one person."""
    step = staff_actions.StaffAction(
        title=title,
        consequences=consequences,
        button=button,
        done=done,
        act=lambda person, reason: act(
            user_id=person.pk, note=reason, actor=_actor(request), now=utc_now()
        ),
    )
    person = get_object_or_404(User.objects.defer("password"), pk=object_id)
    return staff_actions.ask_about_one(admin_page, request, person, step)


def _powers(user_id: str) -> QuerySet[StaffPower]:
    """The roles that the person has or had as staff, the latest first."""
    rows = undisclosed.of(StaffPower.objects.filter(user_id=user_id)).select_related("group")
    return rows.order_by("-granted_at", "pk")


def _actor(request: HttpRequest) -> Actor:
    return actors.staff(str(request.user.pk))


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
class MembershipAdmin(ReadOnlyAdmin):
    """Owners change their team. Where our support does, two people agree to it (decision 0168)."""

    list_display = ("tenant", "user", "role", "created_at")
    list_display_links = ("user",)
    list_filter = ("role", "tenant__mode")
    list_select_related = ("user", "tenant")
    search_fields = ("id__exact", "tenant__id__exact", "user__id__exact")
    search_help_text = "The id of the membership, its tenant or its person"
