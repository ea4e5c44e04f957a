"""Members of staff."""

from __future__ import annotations

from config import safety
from config.env import count, flag
from config.settings.deployment import DEBUG

# How long access that staff propose waits for its approval (decision 0168).
STAFF_ACCESS_DELAY_HOURS = count("STAFF_ACCESS_DELAY_HOURS", default=24, minimum=1)
# How long it can be approved then (decision 0171).
STAFF_ACCESS_OPEN_DAYS = count("STAFF_ACCESS_OPEN_DAYS", default=7, minimum=1)
if not DEBUG:
    safety.require_from_to("STAFF_ACCESS_DELAY_HOURS", STAFF_ACCESS_DELAY_HOURS, 12, 720)
    safety.require_from_to("STAFF_ACCESS_OPEN_DAYS", STAFF_ACCESS_OPEN_DAYS, 1, 30)
# Only development may let staff in with a password alone.
STAFF_SECOND_FACTOR = flag("STAFF_SECOND_FACTOR", default=not DEBUG) or not DEBUG
