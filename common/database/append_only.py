"""Triggers for tables whose rows are never changed or deleted."""

from __future__ import annotations

import pgtrigger

# For rows that are written once.
APPEND_ONLY = pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete)
# Triggers for UPDATE and DELETE do not fire for TRUNCATE. The owner of a table may truncate it, so
# this trigger refuses the owner as well.
NEVER_TRUNCATED = pgtrigger.Trigger(
    name="never_truncated",
    level=pgtrigger.Statement,
    when=pgtrigger.Before,
    operation=pgtrigger.Truncate,
    func="RAISE EXCEPTION 'pgtrigger: Cannot truncate % table', TG_TABLE_NAME;",
)
