"""Steps of migrations that let the service go on while they run."""

from __future__ import annotations

from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db.migrations import AddIndex


class AddIndexOnline(AddIndexConcurrently):
    """Builds an index while rows are written. The migration needs `atomic = False`.

    A build that was cut off leaves an index that is not valid, so the same name is dropped first
    and the migration can be run again. Backwards the index is dropped at once, with a strong lock
    for a moment: that works inside a transaction as well.
    """

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        name = schema_editor.quote_name(self.index.name)
        schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
        super().database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        AddIndex.database_backwards(self, app_label, schema_editor, from_state, to_state)
