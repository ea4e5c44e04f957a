"""Our certificates at an operator that checks them as TLS does."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from common.clock import utc_now
from networks.instant import certificates
from networks.instant.certificates import Pair


@pytest.mark.parametrize("shown", [0, 1])
def test_an_operator_that_has_two_of_them_knows_each(tmp_path: Path, shown: int):
    now = utc_now()
    ours = [certificates.make("fednow", now=now) for _ in range(2)]
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.verify_mode = ssl.CERT_REQUIRED
    for each in ours:
        server.load_verify_locations(cadata=each.certificate)
    _use(server, certificates.make("operator", now=now), tmp_path / "server.pem")
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    _use(client, ours[shown], tmp_path / "client.pem")

    subject = _shake_hands(client, server)

    assert subject == ssl.PEM_cert_to_DER_cert(ours[shown].certificate)


def _use(context: ssl.SSLContext, pair: Pair, file: Path) -> None:
    file.write_text(pair.certificate + pair.private_key)
    context.load_cert_chain(file)


def _shake_hands(client: ssl.SSLContext, server: ssl.SSLContext) -> bytes | None:
    """The certificate by which the server knows the client. Raises ssl.SSLError."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = [
        client.wrap_bio(to_client, to_server),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    waiting = list(sides)
    while waiting:
        for side in list(waiting):
            try:
                side.do_handshake()
                waiting.remove(side)
            except ssl.SSLWantReadError:
                pass
    return sides[1].getpeercert(binary_form=True)
