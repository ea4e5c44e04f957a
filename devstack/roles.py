"""The roles of an embedded PostgreSQL: who owns the tables, and who only works with them.

The superuser makes the cluster and is no address of the product. A cluster of before these roles,
in which the superuser owns everything, is carried over when it starts.
"""

from __future__ import annotations

from devstack.paths import API_ROLE, APPLICATION_ROLE, AUDIT_ROLE, JOB_ROLES, OWNER_ROLE, SUPERUSER

_ROLES = "".join(
    f"SELECT 'CREATE ROLE {role} LOGIN'"  # noqa: S608  # names of ours
    f" WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role}') \\gexec\n"
    for role in (OWNER_ROLE, APPLICATION_ROLE, API_ROLE, *JOB_ROLES.values())
)
# Seals go by the oldest transaction, whoever runs it.
_STATISTICS = f"GRANT pg_read_all_stats TO {AUDIT_ROLE};\n"
_DATABASE = f"""
SELECT 'CREATE DATABASE ballast OWNER {OWNER_ROLE}'
WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'ballast') \\gexec
SELECT 'ALTER DATABASE ballast OWNER TO {OWNER_ROLE}'
FROM pg_database WHERE datname = 'ballast' AND datdba <> '{OWNER_ROLE}'::regrole \\gexec
\\connect ballast
"""  # noqa: S608  # names of ours
# REASSIGN OWNED refuses for the role that made the cluster. Sequences of columns and partitions'
# indexes follow their tables; tables go first, and a sequence that followed is not asked again.
_HAND_OVER = f"""
DO $$
DECLARE command text;
BEGIN
    FOR command IN
        SELECT format('ALTER %s %I.%I OWNER TO {OWNER_ROLE}',
            CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END, nspname, relname)
        FROM pg_class JOIN pg_namespace AS space ON space.oid = relnamespace
        WHERE relowner = '{SUPERUSER}'::regrole AND nspname = 'public'
            AND relkind IN ('r', 'p', 'v')
        UNION ALL
        SELECT format('ALTER ROUTINE %s OWNER TO {OWNER_ROLE}', pg_proc.oid::regprocedure)
        FROM pg_proc JOIN pg_namespace AS space ON space.oid = pronamespace
        WHERE proowner = '{SUPERUSER}'::regrole AND nspname = 'public'
        UNION ALL
        SELECT format('ALTER DOMAIN %s OWNER TO {OWNER_ROLE}', pg_type.oid::regtype)
        FROM pg_type JOIN pg_namespace AS space ON space.oid = typnamespace
        WHERE typowner = '{SUPERUSER}'::regrole AND nspname = 'public' AND typtype = 'd'
    LOOP
        EXECUTE command;
    END LOOP;
END
$$;
"""  # noqa: S608  # names of ours

# psql's input. Changes nothing where all of it is there.
ENSURE = _ROLES + _STATISTICS + _DATABASE + _HAND_OVER
