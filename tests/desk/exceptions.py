"""Exceptions at the desk: their pages, and deciding about one."""

from __future__ import annotations

import html

from tenants.models import AuditEvent

LIST = "/admin/desk/exceptions/"
REASON = "Asked the bank by telephone"


def address(record, part=""):
    return f"{LIST}records/{record.pk}/{part}"


def shown(browser, path=LIST):
    return html.unescape(browser.get(path).content.decode())


def decide(browser, record, what, **typed):
    answer = browser.post(address(record, f"{what}/"), {"reason": REASON, **typed})
    record.refresh_from_db()
    return answer.content.decode()


def audited():
    return AuditEvent.objects.filter(action__startswith="ach_record.")
