"""Who uses Ballast: tenants, their people and API keys; and what everybody did."""

from __future__ import annotations

from typing import Any, ClassVar

import pgtrigger
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q

from common.database.append_only import APPEND_ONLY, NEVER_TRUNCATED
from common.database.rights import Rights
from common.fields import PrefixedIdField
from common.leases import Leased
from tenants.access import AccessProposal as AccessProposal  # models of this app, in modules
from tenants.permissions import Holder
from tenants.powers import StaffPower as StaffPower
from tenants.switches import Switch as Switch


class UserManager(BaseUserManager["User"]):
    def create_user(self, *, email: str, password: str | None = None, **fields: Any) -> User:
        user = self.model(email=self.normalize_email(email).lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def get_by_natural_key(self, username: str | None) -> User:
        """Find a user however the address is capitalized: it is stored in lower case."""
        return self.get(email=(username or "").lower())

    def create_superuser(self, *, email: str, password: str | None = None, **fields: Any) -> User:
        return self.create_user(
            email=email, password=password, is_staff=True, is_superuser=True, **fields
        )


class User(AbstractBaseUser, Holder):
    """A person. Signs in with an e-mail address and belongs to any number of tenants."""

    id = PrefixedIdField("usr")
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=120, blank=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField("works for us", default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    # Of people, the members of the tenant.
    wall: ClassVar = (
        "EXISTS (SELECT FROM tenants_membership AS member WHERE member.user_id = tenants_user.id)"
    )

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects: ClassVar[UserManager] = UserManager()

    class Meta:
        verbose_name = "person"
        verbose_name_plural = "people"
        indexes = (
            models.Index(
                fields=("last_login",), name="superuser_seen", condition=Q(is_superuser=True)
            ),
        )

    def __str__(self) -> str:
        return self.email

    def get_full_name(self) -> str:
        return self.name or self.email


class Mode(models.TextChoices):
    SANDBOX = "sandbox"
    LIVE = "live"


class TenantStatus(models.TextChoices):
    ACTIVE = "active"
    SUSPENDED = "suspended"


class Tenant(models.Model):
    """A customer organization: owns one balance, its funding sources, keys and webhooks."""

    id = PrefixedIdField("ten")
    name = models.CharField(max_length=120)
    mode = models.CharField(max_length=8, choices=Mode, default=Mode.SANDBOX)
    status = models.CharField(max_length=10, choices=TenantStatus, default=TenantStatus.ACTIVE)
    requires_second_factor = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        permissions = (("view_as_tenant", "Can look at the dashboard as a tenant sees it"),)
        constraints = (
            models.CheckConstraint(condition=Q(mode__in=Mode.values), name="tenant_mode_known"),
            models.CheckConstraint(
                condition=Q(status__in=TenantStatus.values), name="tenant_status_known"
            ),
        )
        indexes = (models.Index(fields=("created_at",), name="tenant_age"),)
        triggers = (
            # Sandbox and live money do not mix.
            pgtrigger.ReadOnly(
                name="tenant_mode_never_changes", fields=("id", "mode", "created_at")
            ),
        )

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    """What a member may do. Owners do everything, members move money, approvers approve, viewers
    only look."""

    OWNER = "owner"
    MEMBER = "member"
    APPROVER = "approver"
    VIEWER = "viewer"


class Membership(models.Model):
    id = PrefixedIdField("mem")
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(
        User, on_delete=models.PROTECT, related_name="memberships", db_index=False
    )
    role = models.CharField(max_length=8, choices=Role)
    # Which messages the person switched on or off; the others follow the role (tenants.notices).
    notices = models.JSONField(default=dict, db_default={}, blank=True)
    # Until then somebody who is new among those who approve cannot (tenants.new_approvers).
    approves_from = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    app_rights = Rights(delete=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("user", "tenant"), name="one_membership_per_tenant"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role_known"),
        )

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.tenant}"


class InvitationManager(models.Manager["Invitation"]):
    """Leaves out what a link is found by, which nobody reads (decision 0197)."""

    def get_queryset(self) -> models.QuerySet[Invitation]:
        return super().get_queryset().defer("digest")


class Invitation(models.Model):
    """An e-mail address is invited to join the tenant. Only the newest link's digest is stored."""

    id = PrefixedIdField("inv")
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="invitations")
    email = models.EmailField()
    role = models.CharField(max_length=8, choices=Role)
    invited_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True)
    digest = models.CharField(max_length=64, blank=True, editable=False)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[InvitationManager] = InvitationManager()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "email"),
                condition=Q(accepted_at=None, revoked_at=None),
                name="one_open_invitation_per_address",
            ),
            models.UniqueConstraint(
                fields=("digest",), condition=~Q(digest=""), name="invitation_digest_unique"
            ),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="invitation_role_known"),
            models.CheckConstraint(
                condition=Q(accepted_at=None) | Q(revoked_at=None), name="invitation_ends_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.email} as {self.role} of {self.tenant_id}"


class ApiKey(models.Model):
    """A key of the REST API. Only its digest is stored; `prefix` finds the row."""

    id = PrefixedIdField("key")
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="api_keys")
    name = models.CharField(max_length=120)
    prefix = models.CharField(max_length=24, unique=True, editable=False)
    digest = models.CharField(max_length=64, editable=False)
    scopes = ArrayField(models.CharField(max_length=32))
    allowed_networks = ArrayField(models.CharField(max_length=43), default=list, blank=True)
    reads_per_second = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)]
    )
    writes_per_second = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)]
    )
    # Whether a live key may let auto-funding protect less (decision 0072).
    may_loosen_auto_funding = models.BooleanField(default=True, db_default=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "API key"
        constraints = (
            models.CheckConstraint(
                condition=~Q(reads_per_second=0) & ~Q(writes_per_second=0),
                name="api_key_rate_not_zero",
            ),
        )
        indexes = (models.Index(fields=("created_at",), name="api_key_age"),)
        triggers = (
            # The columns that say whose key it is, and what it takes to use it.
            pgtrigger.ReadOnly(
                name="key_never_changes_hands",
                fields=("id", "tenant", "prefix", "digest", "created_at"),
            ),
            pgtrigger.Protect(name="key_never_deleted", operation=pgtrigger.Delete),
            NEVER_TRUNCATED,
        )

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class ActorType(models.TextChoices):
    USER = "user"
    API_KEY = "api_key", "API key"
    STAFF = "staff"
    APPROVER = "approver"
    NETWORK = "network"
    SYSTEM = "system"


@pgtrigger.register(APPEND_ONLY, NEVER_TRUNCATED)
class AuditEvent(models.Model):
    """Who did what, when. Append-only: a database trigger refuses changes."""

    id = PrefixedIdField("aud")
    tenant = models.ForeignKey(
        Tenant, on_delete=models.PROTECT, null=True, blank=True, db_index=False
    )
    actor_type = models.CharField(max_length=8, choices=ActorType)
    actor_id = models.CharField(max_length=254, blank=True)
    action = models.CharField(max_length=64)
    subject_id = models.CharField(max_length=64, blank=True)
    details = models.JSONField(default=dict)
    request_id = models.CharField(max_length=128, blank=True)
    address = models.CharField(max_length=45, blank=True, db_default="")
    staff_note = models.CharField(
        max_length=300, blank=True, db_default="", help_text="for staff: the tenant never sees it"
    )
    created_at = models.DateTimeField()

    class Meta:
        verbose_name = "audit event"
        verbose_name_plural = "audit log"
        indexes = (
            models.Index(fields=("tenant", "-created_at", "-id"), name="audit_by_tenant"),
            models.Index(fields=("subject_id", "-created_at"), name="audit_by_subject"),
        )

    def __str__(self) -> str:
        return self.action.replace("_", " ").replace(".", " ")


class OutgoingEmail(Leased):
    """An e-mail to send, written in the transaction that causes it and sent after commit."""

    id = PrefixedIdField("eml")
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, null=True, blank=True)
    to = models.EmailField()
    template = models.CharField(max_length=64)
    context = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)
    failed_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=200, blank=True)

    class Meta:
        verbose_name = "e-mail"
        indexes = (
            models.Index(
                fields=("next_attempt_at",),
                name="email_due",
                condition=Q(next_attempt_at__isnull=False),
            ),
        )
        # The link that an e-mail brings can be made while it waits, and not once more (0190).
        triggers = (
            pgtrigger.Protect(
                name="ended_email_stays",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__next_attempt_at__isnull=True),
            ),
        )

    def __str__(self) -> str:
        return f"{self.template.replace('_', ' ')} to {self.to}"
