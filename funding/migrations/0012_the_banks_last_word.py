"""The account alone says whether it may be debited.

Returns from before 0011 were kept nowhere but as the account's last code, which is written down
here. An account that was debited with success after such a return stays as it is.
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


class Migration(migrations.Migration):
    dependencies: ClassVar = [("funding", "0011_authorizations")]

    operations: ClassVar = [migrations.RunSQL(ENDED, reverse_sql=migrations.RunSQL.noop)]
