"""The payer's bank on a page: the requests for payment of an account holder, to approve or refuse.
Whatever came from outside is escaped."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from html import escape
from urllib.parse import quote

from devstack.instant.clock import read
from devstack.instant.profiles import EASTERN, PROFILES

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · Riverbank Online</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<header><p><a href="/">Riverbank Online</a></p><p>Practice bank: no real money</p></header>
<main>
{content}
</main>
</body>
</html>
"""
_STATES = {
    "waiting": "Waiting for you",
    "shown": "Waiting for you",
    "approved": "Approved, on its way",
    "paid": "Paid",
    "refused": "Refused",
    "not_taken": "Not taken by the recipient’s bank",
}
OPEN = frozenset({"waiting", "shown"})


def sign_in(holders: Sequence[sqlite3.Row]) -> str:
    """The account holders who were asked for money, and a field for any other account."""
    rows = "".join(
        f'<li><a href="{_address(row)}"><span>'
        f"{escape(row['debtor_name'])}</span><span>Account {_masked(row['debtor_account'])}</span>"
        f"<span>{_waiting(row['waiting'])}</span></a></li>"
        for row in holders
    )
    chosen = (
        f'<ul class="holders">{rows}</ul>'
        if rows
        else "<p>Nobody has been asked for money yet.</p>"
    )
    content = (
        "<h1>Sign in</h1><p>Choose whose account you are looking at.</p>"
        f"{chosen}"
        '<form class="other" action="/accounts"><label for="number">Another account number</label>'
        '<input id="number" name="number" inputmode="numeric" autocomplete="off" required>'
        '<button type="submit" class="quiet">Show account</button></form>'
    )
    return _PAGE.format(title="Sign in", content=content)


def account(number: str, requests: Sequence[sqlite3.Row], *, now: str) -> str:
    """The requests to one account, those that wait first."""
    name = escape(requests[0]["debtor_name"]) if requests else f"Account {_masked(number)}"
    waiting = [row for row in requests if _is_open(row, now)]
    others = [row for row in requests if not _is_open(row, now)]
    content = (
        f"<h1>{name}</h1><p>Checking {_masked(number)}</p>"
        f"<h2>Requests for payment</h2>{_listed(waiting, now, 'Nothing waits for you.')}"
    )
    if others:
        content += f"<h2>Earlier requests</h2>{_listed(others, now, '')}"
    return _PAGE.format(title="Requests for payment", content=content)


def request(row: sqlite3.Row, *, now: str, token: str) -> str:
    """One request, with what can be done about it."""
    facts = {
        "For": escape(row["remittance"] or "No reference"),
        "Pay from": f"Checking {_masked(row['debtor_account'])}",
        "Answer by": _moment(row["expires_at"]),
        "Sent over": PROFILES[row["profile"]].title,
        "Status": _state(row, now),
    }
    listed = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in facts.items())
    content = (
        f'<p><a href="{_address(row)}">All requests</a></p>'
        f"<h1>{escape(row['creditor_name'])} asks for {_dollars(row['amount'])}</h1>"
        f"<dl>{listed}</dl>"
    )
    if _is_open(row, now):
        content += (
            "<p>Once you approve, the money leaves at once and cannot be called back.</p>"
            f'<form method="post" action="/requests/{row["id"]}" class="decide">'
            f'<input type="hidden" name="token" value="{escape(token)}">'
            '<button type="submit" name="answer" value="approve">'
            f"Approve and pay {_dollars(row['amount'])}</button>"
            '<button type="submit" name="answer" value="refuse" class="quiet">Refuse</button>'
            "</form>"
        )
    return _PAGE.format(title="Request for payment", content=content)


def problem(title: str, text: str) -> str:
    content = f'<h1>{escape(title)}</h1><p>{escape(text)}</p><p><a href="/">Start again</a></p>'
    return _PAGE.format(title=escape(title), content=content)


def _listed(rows: Sequence[sqlite3.Row], now: str, nothing: str) -> str:
    if not rows:
        return f"<p>{nothing}</p>"
    items = "".join(
        f'<li><a href="/requests/{row["id"]}"><span>{escape(row["creditor_name"])}</span>'
        f'<span class="amount">{_dollars(row["amount"])}</span>'
        f"<span>{_state(row, now)}</span><span>by {_moment(row['expires_at'])}</span></a></li>"
        for row in rows
    )
    return f'<ul class="requests">{items}</ul>'


def _is_open(row: sqlite3.Row, now: str) -> bool:
    return row["status"] in OPEN and row["expires_at"] > now


def _state(row: sqlite3.Row, now: str) -> str:
    if row["status"] in OPEN and row["expires_at"] <= now:
        return "Expired"
    return _STATES[row["status"]]


def _address(row: sqlite3.Row) -> str:
    return f"/accounts/{quote(row['debtor_account'], safe='')}"


def _waiting(count: int) -> str:
    if not count:
        return "Nothing waits"
    return "1 request waits" if count == 1 else f"{count} requests wait"


def _masked(number: str) -> str:
    return escape(f"··{number[-4:]}")


def _dollars(cents: int) -> str:
    return f"${cents // 100:,}.{cents % 100:02}"


def _moment(text: str) -> str:
    here = read(text).astimezone(EASTERN)
    return f"{here:%b} {here.day}, {here.year}, {here:%I:%M %p} ET"
