"""`ballast_now()`: the time that postings and destructive sweeps are judged by (decision 0120)."""

from __future__ import annotations

from django.db import migrations

# STABLE, and one plain expression: PostgreSQL puts it in the place of the call, so that it costs a
# posting nothing, may be compared with an index, and is one instant within a statement.
CREATE = """
CREATE FUNCTION ballast_now() RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
AS 'SELECT pg_catalog.statement_timestamp()';

CREATE FUNCTION ballast_clock_is_settable() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
AS 'SELECT false';
"""
DROP = """
DROP FUNCTION ballast_clock_is_settable();
DROP FUNCTION ballast_now();
"""


class Migration(migrations.Migration):
    dependencies = [("tenants", "0006_labels")]

    operations = [migrations.RunSQL(CREATE, DROP)]
