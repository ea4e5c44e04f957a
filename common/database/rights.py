"""The application role's rights on each table, derived from the models.

The triggers of a model say what nobody may do with its rows, so the role does not get that right. A
model declares other rights itself: `app_rights: ClassVar = Rights(delete=True)` where rows are
deleted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pgtrigger
from django.apps import apps
from django.db import models

from common.database import walls


class Rights(NamedTuple):
    """What the role may do. It may read, unless told otherwise.

    `read` and `update` mean all columns, or the named ones. One column of `update` is enough to
    lock rows, even if a trigger refuses each change.
    """

    insert: bool = True
    update: bool | tuple[str, ...] = True
    delete: bool = False
    read: bool | tuple[str, ...] = True


class Needs(NamedTuple):
    """What a role works with: rights on tables, by their names, and functions that run with the
    owner's rights. It has none on whatever is not named.

    `inserts` and `updates`: what a new row of a table, and one that was changed, must satisfy
    besides, in SQL.
    `is_told_of_transactions`: it is a member of PostgreSQL's `pg_read_all_stats`, to see when
    transactions of other roles began.
    """

    tables: Mapping[str, Rights]
    functions: frozenset[str] = frozenset()
    inserts: Mapping[str, str] = MappingProxyType({})
    updates: Mapping[str, str] = MappingProxyType({})
    is_told_of_transactions: bool = False


# Functions that run with the owner's rights, because the role has none: migrations of the ledger
# make them.
FUNCTIONS = frozenset(
    {
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
    }
)
# What a person signs in with is no tenant's matter, and links are found before one is known.
NEVER_OF_API = frozenset(
    {
        "funding_find_link",
        "payments_find_link",
        "tenants_find_invitation",
        "tenants_find_session",
        "tenants_has_password",
        "tenants_link_state_of_mail",
        "tenants_link_states",
    }
)
# Columns that say who somebody is, or open something.
SECRETS: Mapping[str, frozenset[str]] = {
    "ach_achkey": frozenset({"private_key_token"}),
    "instant_instantkey": frozenset({"private_key_token"}),
    "funding_confirmationlink": frozenset({"digest"}),
    "payments_paymentconfirmationlink": frozenset({"digest"}),
    "solvency_prooftree": frozenset({"secret_token"}),
    "tenants_apikey": frozenset({"digest"}),
    "tenants_invitation": frozenset({"digest"}),
    "tenants_user": frozenset({"password"}),
    "webhooks_webhookendpoint": frozenset({"previous_secret_token", "secret_token"}),
}
# What names a tenant for staff, and is none of the tenant's business.
HIDDEN_FROM_TENANTS = frozenset({"balance_operator_line"})
# Of the secrets, what a function finds a row by, so that nobody reads it (decision 0197).
_READ_BY_NOBODY = ("tenants_invitation",)
NONE = Rights(insert=False, update=False, read=False)
READ_ONLY = Rights(insert=False, update=False)
# Tables of packages, whose models cannot declare rights, and tables without a model.
_ELSEWHERE: Mapping[str, Rights] = {
    "django_migrations": READ_ONLY,
    "django_content_type": READ_ONLY,
    "auth_permission": READ_ONLY,
    "django_admin_log": Rights(update=False),
    "auth_group": Rights(delete=True),
    "auth_group_permissions": Rights(delete=True),
    "tenants_user_groups": Rights(delete=True),
    "tenants_user_user_permissions": Rights(delete=True),
    # What a session holds, `tenants_find_session` tells (decision 0197).
    "django_session": Rights(delete=True, read=("expire_date", "session_key")),
    "account_emailaddress": Rights(delete=True),
    "account_emailconfirmation": Rights(delete=True),
    "mfa_authenticator": Rights(delete=True),
    "socialaccount_socialaccount": Rights(delete=True),
    # Connections of single sign-on are settings, and no token is kept (decision 0203): Django looks
    # for tokens of an identity that it deletes.
    "socialaccount_socialapp": NONE,
    "socialaccount_socialtoken": Rights(insert=False, update=False, delete=True),
    "usersessions_usersession": Rights(delete=True),
}


_PASSWORD = SECRETS["tenants_user"]
# What requests of the API and of tenants' pages use besides the tables of tenants, or otherwise.
# Of the people they know, all but the password's hash.
_OF_API: Mapping[str, Rights] = {
    # A step of the sandbox asks every network what it has to say, and a bank's first looks how far
    # its files were read.
    "ach_infile": READ_ONLY,
    "ach_railline": READ_ONLY,
    "ach_railversion": READ_ONLY,
    "instant_instantrail": READ_ONLY,
    "instant_instantversion": READ_ONLY,
    # The team's page says who has a second factor, and nothing of it.
    "mfa_authenticator": READ_ONLY._replace(read=("id", "user_id", "type")),
    "rails_rail": READ_ONLY,
    "rails_route": READ_ONLY,
    # Its own leaf, the report, and the way between them.
    "solvency_proofleaf": READ_ONLY,
    "solvency_proofreport": READ_ONLY,
    "solvency_prooftree": READ_ONLY,
}


def of_tables() -> dict[str, Rights]:
    """The rights on the tables of the installed apps, by their names in the database, without the
    tables on which nobody has any."""
    known = apps.get_models(include_auto_created=True)
    found = {model._meta.db_table: of_model(model) for model in known}
    for name in _READ_BY_NOBODY:
        found[name] = found[name]._replace(read=columns_but(name, SECRETS[name]))
    every = {**found, **_ELSEWHERE}
    return {name: rights for name, rights in every.items() if rights != NONE}


def of_application() -> Needs:
    """What the product does in any of its processes."""
    return Needs(of_tables(), FUNCTIONS)


def of_api() -> dict[str, Rights]:
    """The role of requests: the application's on what has a tenant, and few others."""
    every = of_tables()
    shared = {name: rights for name, rights in _OF_API.items() if name in every}
    shared["tenants_user"] = READ_ONLY._replace(read=columns_but("tenants_user", _PASSWORD))
    seen = (walls.of_tables().keys() | walls.views()) - HIDDEN_FROM_TENANTS
    return {name: every[name] for name in seen} | shared


def of_model(model: type[models.Model]) -> Rights:
    """The rights that the model declares, or those that its triggers leave."""
    if "app_rights" in vars(model):
        said: Rights = model.app_rights  # type: ignore[attr-defined]  # just looked for
        return said
    if not model._meta.managed:
        return READ_ONLY
    triggers: Iterable[pgtrigger.Trigger] = getattr(model._meta, "triggers", ())
    if any(_refuses(trigger, pgtrigger.Update) for trigger in triggers):
        return Rights(update=False)
    return Rights(update=_changing_columns(model, triggers))


def columns_but(table: str, hidden: frozenset[str]) -> tuple[str, ...]:
    """The table's columns without the hidden ones."""
    (model,) = (model for model in apps.get_models() if model._meta.db_table == table)
    columns = (str(field.column) for field in model._meta.concrete_fields)
    return tuple(column for column in columns if column not in hidden)


def _refuses(trigger: pgtrigger.Trigger, operation: Any) -> bool:
    """Whether the trigger refuses every statement of this kind, whatever the row holds."""
    return (
        type(trigger) is pgtrigger.Protect
        and trigger.condition is None
        and trigger.level == pgtrigger.Row
        and operation in list(trigger.operation)
    )


def _changing_columns(
    model: type[models.Model], triggers: Iterable[pgtrigger.Trigger]
) -> bool | tuple[str, ...]:
    """All columns but those that a trigger freezes. The key is included, so that rows can be
    locked."""
    columns = {field.name: str(field.column) for field in model._meta.concrete_fields}
    frozen: set[str] = set()
    for trigger in triggers:
        if isinstance(trigger, pgtrigger.ReadOnly):
            frozen |= {column for name, column in columns.items() if _freezes(trigger, name)}
    if not frozen:
        return True
    key = str(model._meta.pk.column)
    return tuple(column for column in columns.values() if column == key or column not in frozen)


def _freezes(trigger: pgtrigger.ReadOnly, name: str) -> bool:
    if trigger.exclude:
        return name not in trigger.exclude
    return not trigger.fields or name in trigger.fields
