"""Row level security: what each role sees of the tables of tenants, derived from the models
(decision 0167).

A table with a tenant has a column `tenant_id`, or a reference to a row that has a tenant. The API's
role, which tenants' pages have as well, sees the rows of the tenant that its transaction is told,
and of none without one. A model whose rows without a tenant concern all of them says
`wall_is_shared: ClassVar = True`; one whose rows belong to several tenants names the visible ones
in SQL: `wall: ClassVar = "EXISTS (…)"`. One whose rows are never stored by the statement that
stores the row they refer to says `wall_follows_parent: ClassVar = True`: that row must be visible.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from django.apps import apps
from django.db import connection, models, transaction
from django.db.backends.utils import CursorWrapper

# The application's own setting of a transaction. An unknown or empty one is the id of nobody.
TENANT = "current_setting('ballast.tenant', true)"
_TENANTS = "tenants_tenant"
# What the functions read that find an API key's tenant, before there is one, and people who are no
# members.
_READ_BEFORE = frozenset({_TENANTS, "tenants_apikey", "tenants_switch", "tenants_user"})
# A column holds the id of whatever a network was told to do.
_INSTRUCTED = " OR ".join(
    f"EXISTS (SELECT FROM {table} AS instructed WHERE instructed.id = {{0}})"  # ours
    for table in (
        "funding_fundingtransaction",
        "payments_payment",
        "funding_depositentry",
        "funding_sourceverification",
    )
)
# Tables whose models cannot say who sees their rows: of packages, and of networks, which do not
# know transfers.
_ELSEWHERE: Mapping[str, str] = {
    "network_inbox_inboundevent": _INSTRUCTED.format("network_inbox_inboundevent.instruction_id"),
    "sandbox_bank_sandboxinstruction": _INSTRUCTED.format(
        "sandbox_bank_sandboxinstruction.external_id"
    ),
    "mfa_authenticator": (
        "EXISTS (SELECT FROM tenants_membership AS member"
        " WHERE member.user_id = mfa_authenticator.user_id)"
    ),
}
_PREFIX = "wall_"
_STATE = """
SELECT
    relname, relrowsecurity AND relforcerowsecurity,
    ARRAY(SELECT polname::text FROM pg_policy WHERE polrelid = pg_class.oid ORDER BY 1)
FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
"""
# A view would look with the eyes of its owner.
_OPEN_VIEWS = """
SELECT relname FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind = 'v'
    AND NOT coalesce('security_invoker=true' = ANY (reloptions), false)
ORDER BY 1
"""
_OWNERS = """
SELECT relname, pg_get_userbyid(relowner) FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
"""


class Rules(NamedTuple):
    """What a new row must satisfy, and one that was changed, in SQL."""

    new: str = "true"
    changed: str = "true"


class Who(NamedTuple):
    """The roles that a wall knows: the product's own, the API's, and those of jobs with the tables
    that each works with, of all tenants, and the rules of each table's rows."""

    application: str
    api: str
    jobs: Mapping[str, Mapping[str, Rules]]


class Seen(NamedTuple):
    """Which rows of a table the API's role sees, which it may change, and which it may insert."""

    visible: str
    changeable: str
    insertable: str


class State(NamedTuple):
    """A table as it is: whether its policies bind everybody, and their names."""

    is_forced: bool
    policies: tuple[str, ...]


def of_tables() -> dict[str, Seen]:
    """What the API's role sees of each table with a tenant, by the table's name."""
    known = apps.get_models(include_auto_created=True)
    found: dict[str, Seen] = {}
    for model in known:
        if model._meta.managed and (seen := _of_model(model)):
            found[model._meta.db_table] = seen
    return found


def views() -> frozenset[str]:
    """The views of tables with a tenant: whoever asks sees through them what it sees of those."""
    known = apps.get_models()
    return frozenset(
        model._meta.db_table
        for model in known
        if not model._meta.managed and _tenant_column(model) is not None
    )


def _of_model(model: type[models.Model]) -> Seen | None:
    if said := vars(model).get("wall") or _ELSEWHERE.get(model._meta.db_table):
        return Seen(said, said, said)
    column = _tenant_column(model)
    if column is not None:
        own = f"{_quoted(column)} = {TENANT}"
        shared = f"({_quoted(column)} IS NULL OR {own})"
        return Seen(shared if getattr(model, "wall_is_shared", False) else own, own, own)
    for field in model._meta.concrete_fields:
        if isinstance(field, models.ForeignKey) and not field.null and _has_tenant(field):
            parent = _through(model, field)
            # A statement that inserts both rows does not see the first.
            follows = getattr(model, "wall_follows_parent", False)
            return Seen(parent, parent, parent if follows else "true")
    return None


def _has_tenant(field: models.ForeignKey[models.Model, models.Model]) -> bool:
    """Whether the row that `field` names is of one tenant. A person is of several."""
    parent: type[models.Model] = field.related_model
    return "wall" not in vars(parent) and _of_model(parent) is not None


def _through(
    model: type[models.Model], field: models.ForeignKey[models.Model, models.Model]
) -> str:
    """The rows whose parent is visible."""
    parent, target = field.related_model._meta, field.target_field
    return (
        f"EXISTS (SELECT FROM {_quoted(parent.db_table)} AS parent"
        f" WHERE parent.{_quoted(str(target.column))}"
        f" = {_quoted(model._meta.db_table)}.{_quoted(str(field.column))})"
    )


def _tenant_column(model: type[models.Model]) -> str | None:
    if model._meta.db_table == _TENANTS:
        return str(model._meta.pk.column)
    for field in model._meta.concrete_fields:
        if field.column == "tenant_id":
            return str(field.column)
    return None


def build(who: Who) -> int:
    """Make the policies as they should be; returns how many tables were changed.

    To be run as the owner of the tables. Each table is a transaction of its own, which waits for
    the statements that use the table, and makes others wait, for no longer than DATABASE_LOCK_\
TIMEOUT_MS.
    """
    with connection.cursor() as cursor:
        owners, state = _owners(cursor), _state(cursor)
        open_views = _column(cursor, _OPEN_VIEWS)
    changed = 0
    for table, seen in of_tables().items():
        if table not in owners:
            continue
        wanted = _policies(table, seen, owners[table], who)
        if not _differs(state[table], wanted):
            continue
        with transaction.atomic(), connection.cursor() as cursor:
            for statement in _rebuilt(table, state[table], wanted):
                cursor.execute(statement)
        changed += 1
    with connection.cursor() as cursor:
        for view in open_views:
            cursor.execute(f"ALTER VIEW {_quoted(view)} SET (security_invoker = true)")
    return changed


def missing(who: Who) -> list[str]:
    """What of the walls is not as it should be, in words."""
    with connection.cursor() as cursor:
        owners, state = _owners(cursor), _state(cursor)
        found = [f"the view {name} shows every tenant" for name in _column(cursor, _OPEN_VIEWS)]
    for table, seen in of_tables().items():
        is_there = table in owners  # else it is named as a missing table
        if is_there and _differs(state[table], _policies(table, seen, owners[table], who)):
            found.append(f"the policies of {table}")
    return found


def _policies(table: str, seen: Seen, owner: str, who: Who) -> dict[str, str]:
    """Each policy by its name, which has a digest of what it says."""
    found = {}
    for statement in _statements(table, seen, owner, who):
        digest = hashlib.sha256(statement.encode()).hexdigest()[:16]
        name = f"{_PREFIX}{digest}"
        found[name] = f"CREATE POLICY {name} ON {_quoted(table)} {statement}"
    return found


def _statements(table: str, seen: Seen, owner: str, who: Who) -> Iterator[str]:
    """The product's role, jobs and the owner see all. Functions run as the owner: when the API
    calls one, it sees the tenant as well."""
    yield f"TO {_quoted(who.application)} USING (true)"
    for role, tables in who.jobs.items():
        if table in tables:
            yield from _of_job(_quoted(role), tables[table])
    owns = "true"
    if table not in _READ_BEFORE:
        api = who.api.replace("'", "''")
        owns = f"session_user <> '{api}' OR {seen.visible}"
    yield f"TO {_quoted(owner)} USING ({owns})"
    to = f"TO {_quoted(who.api)}"
    if seen == Seen(seen.visible, seen.visible, seen.visible):
        yield f"{to} USING ({seen.visible})"
        return
    yield f"FOR SELECT {to} USING ({seen.visible})"
    yield f"FOR UPDATE {to} USING ({seen.changeable})"
    yield f"FOR DELETE {to} USING ({seen.changeable})"
    yield f"FOR INSERT {to} WITH CHECK ({seen.insertable})"


def _of_job(role: str, rules: Rules) -> Iterator[str]:
    """A job sees all rows. One policy where one says it: each is looked at for each statement."""
    if rules.new == rules.changed:
        yield f"TO {role} USING (true) WITH CHECK ({rules.new})"
        return
    yield f"FOR SELECT TO {role} USING (true)"
    yield f"FOR INSERT TO {role} WITH CHECK ({rules.new})"
    yield f"FOR UPDATE TO {role} USING (true) WITH CHECK ({rules.changed})"
    yield f"FOR DELETE TO {role} USING (true)"


def _rebuilt(table: str, state: State, wanted: Mapping[str, str]) -> Iterator[str]:
    name = _quoted(table)
    for policy in state.policies:
        yield f"DROP POLICY {_quoted(policy)} ON {name}"
    yield from wanted.values()
    yield f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"


def _differs(state: State, wanted: Mapping[str, str]) -> bool:
    return not state.is_forced or set(state.policies) != wanted.keys()


def _state(cursor: CursorWrapper) -> dict[str, State]:
    cursor.execute(_STATE)
    return {name: State(forced, tuple(policies)) for name, forced, policies in cursor.fetchall()}


def _owners(cursor: CursorWrapper) -> dict[str, str]:
    cursor.execute(_OWNERS)
    return dict(cursor.fetchall())


def _column(cursor: CursorWrapper, query: str) -> list[str]:
    cursor.execute(query)
    return [name for (name,) in cursor.fetchall()]


def _quoted(name: str) -> str:
    return str(connection.ops.quote_name(name))
