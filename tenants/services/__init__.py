"""What changes tenants, people, keys, the audit log and the mail outbox."""

from __future__ import annotations
