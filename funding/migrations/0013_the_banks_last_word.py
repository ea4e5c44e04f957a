"""The account alone says whether it may be debited.

Until now a person's agreement was kept with the settings, and returns from before 0011 were kept
nowhere but as the account's last code. Both are written down on the account. An account that was
debited with success after such a return stays as it is.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations

# The codes of `networks.return_codes` that end an authorization, as of this migration.
ENDED = """
UPDATE funding_fundingsource AS source SET authorization_ended_at = answer.at
FROM (
    SELECT source_id, return_code, failure_code, max(failed_at) AS at
    FROM funding_fundingtransaction WHERE status = 'failed'
    GROUP BY source_id, return_code, failure_code
) AS answer
WHERE source.id = answer.source_id
    AND source.last_return_code IN (answer.return_code, answer.failure_code)
    AND source.last_return_code IN (
        'R05', 'R07', 'R08', 'R10', 'R11', 'R14', 'R15', 'R17', 'R21', 'R22', 'R29', 'R31', 'R51',
        'R90', 'SL12'
    )
    AND source.status = 'active' AND source.authorization_ended_at IS NULL
    AND NOT EXISTS (
        SELECT FROM funding_fundingtransaction AS later
        WHERE later.source_id = source.id AND later.status = 'completed'
            AND later.created_at > answer.at
    )
"""
AGREED = """
UPDATE funding_fundingsource AS source SET authorization_ended_at = NULL
FROM funding_autofundingconfig AS config
WHERE config.authorized_source_id = source.id
    AND config.authorized_at >= source.authorization_ended_at
"""


class Migration(migrations.Migration):
    dependencies: ClassVar = [("funding", "0012_authorized_source")]

    operations: ClassVar = [
        migrations.RunSQL(ENDED, reverse_sql=migrations.RunSQL.noop),
        migrations.RunSQL(AGREED, reverse_sql=migrations.RunSQL.noop),
        migrations.RemoveField("autofundingconfig", "authorized_at"),
        migrations.RemoveField("autofundingconfig", "authorized_source_id"),
    ]
