"""The receiver's pages. Whatever came from outside is escaped."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape

from devstack.receiver.connection import OTHERS
from devstack.receiver.deliveries import KEPT, Delivery

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<link rel="stylesheet" href="/style.css">
<script src="/live.js" defer></script>
</head>
<body><main>
<h1>{title}</h1>
{content}
</main></body>
</html>
"""
_TABLE = """<table>
<thead><tr>
<th scope="col">Received (UTC)</th><th scope="col">Event</th><th scope="col">Signature</th>
</tr></thead>
<tbody>{rows}</tbody>
</table>"""


def overview(deliveries: Sequence[Delivery], *, port: int) -> str:
    """The deliveries, newest first. A script renews the part with the id `live`."""
    content = (
        "<p>What the demo tenant's webhook endpoint was sent. Each delivery is verified with the"
        " Standard Webhooks library, and answered with 204 if it is right. The last"
        f" {KEPT} are kept until this copy stops.</p>"
        f"<p>Endpoints of other tenants may use <code>http://127.0.0.1:{port}{OTHERS}</code>. What"
        " comes there is answered with 204 and not verified: the receiver does not know their"
        " secrets.</p>"
        f'<div id="live">{_listed(deliveries)}</div>'
    )
    return _PAGE.format(title="Webhook receiver", content=content)


def detail(delivery: Delivery) -> str:
    facts = {
        "Received": _moment(delivery),
        "Signature": _verdict(delivery),
        **delivery.headers,
    }
    content = (
        f'<p><a href="/">All deliveries</a></p><dl>{"".join(map(_fact, facts.items()))}</dl>'
        f'<h2>Body</h2><pre tabindex="0">{escape(_readable(delivery.body))}</pre>'
    )
    return _PAGE.format(title=escape(delivery.event or "Delivery"), content=content)


def _listed(deliveries: Sequence[Delivery]) -> str:
    if not deliveries:
        return "<p>Nothing yet. Make a payment, or send a test call from the endpoint's page.</p>"
    return _TABLE.format(rows="".join(map(_row, deliveries)))


def _row(delivery: Delivery) -> str:
    name = escape(delivery.event or "Not an event")
    link = f'<a href="/deliveries/{delivery.number}">{name}</a>'
    return (
        f"<tr><td>{_moment(delivery)}</td>"
        f"<td>{link}<br><small>{escape(delivery.id)}</small></td>"
        f'<td class="{_tone(delivery)}">{escape(_verdict(delivery))}</td></tr>'
    )


def _fact(fact: tuple[str, str]) -> str:
    name, text = map(escape, fact)
    return f"<dt>{name}</dt><dd>{text}</dd>"


def _moment(delivery: Delivery) -> str:
    return f"{delivery.at:%b %-d, %H:%M:%S}"


def _verdict(delivery: Delivery) -> str:
    if delivery.fault:
        return delivery.fault
    if not delivery.is_checked:
        return "Not verified, sent once more" if delivery.is_repeat else "Not verified"
    return "Verified, sent once more" if delivery.is_repeat else "Verified"


def _tone(delivery: Delivery) -> str:
    if delivery.fault:
        return "bad"
    return "good" if delivery.is_checked else ""


def _readable(body: str) -> str:
    try:
        return json.dumps(json.loads(body), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return body
