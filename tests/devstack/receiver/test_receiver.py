"""The webhook receiver of `./run`: what it believes, what it shows, and to whom."""

from __future__ import annotations

import http.client
import json
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from devstack.receiver import connection, server
from devstack.receiver.connection import Connection
from devstack.receiver.deliveries import KEPT, UNBELIEVED_BYTES_MAX
from devstack.receiver.server import BODY_BYTES_MAX, Server
from webhooks import signing

EVENT = {"type": "payment.completed", "data": {"paymentId": "pay_1", "note": "<b>naïve</b>"}}


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Server]:
    with server.open_in(tmp_path / "receiver") as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        yield made
        made.shutdown()


Ask = Callable[..., tuple[int, str]]


@pytest.fixture
def ask(running: Server) -> Ask:
    """One request; gives status and body."""

    def ask(method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, str]:
        with closing(http.client.HTTPConnection("127.0.0.1", running.port, timeout=10)) as line:
            line.request(method, path, body, headers)
            answer = line.getresponse()
            return answer.status, answer.read().decode()

    return ask


@pytest.fixture
def send(running: Server, tmp_path: Path, ask: Ask) -> Ask:
    """A delivery, signed as the product does it, with the receiver's secret unless another one is
    given."""
    known = connection.load(tmp_path / "receiver")
    assert known is not None

    def send(
        name: str = "evt_1",
        *,
        body: bytes = json.dumps(EVENT).encode(),
        at: datetime | None = None,
        secret: str = known.secret,
    ) -> tuple[int, str]:
        signed = signing.headers(
            event_id=name,
            body=body,
            secret=secret,
            previous_secret=None,
            now=at or datetime.now(UTC),
        )
        return ask("POST", "/hooks", body, **signed)

    return send


class TestVerdict:
    def test_of_a_right_signature(self, send: Ask, ask: Ask):
        assert send() == (204, "")

        assert "Verified" in ask("GET", "/")[1]

    @pytest.mark.parametrize(
        "wrong",
        [
            {"secret": connection.new_secret()},
            {"at": datetime.now(UTC) - timedelta(hours=1)},
            {"at": datetime.now(UTC) + timedelta(hours=1)},
        ],
        ids=["other secret", "too old", "too new"],
    )
    def test_of_a_wrong_one_is_shown_with_the_reason(
        self, send: Ask, ask: Ask, wrong: dict[str, object]
    ):
        status, reason = send(**wrong)

        assert status == 400
        assert reason.startswith("The signature is not right: ")
        assert reason in ask("GET", "/")[1]

    @pytest.mark.parametrize("body", [b"", b"{}", b"\xff\xfe", b"[" * 100_000], ids=range(4))
    def test_of_something_else(self, ask: Ask, body: bytes):
        assert ask("POST", "/hooks", body)[0] == 400

    def test_of_a_repeat(self, send: Ask, ask: Ask):
        send()
        send("evt_2")
        send()

        assert ask("GET", "/")[1].count("Verified, sent once more") == 1

    def test_of_another_tenants_endpoint_is_that_nobody_asked(self, running: Server, ask: Ask):
        assert f"http://127.0.0.1:{running.port}/others" in ask("GET", "/")[1]

        assert (
            ask("POST", "/others", json.dumps(EVENT).encode(), **{"webhook-id": "evt_9"})[0] == 204
        )

        shown = ask("GET", "/")[1]
        assert '<td class="">Not verified</td>' in shown
        assert "evt_9" in shown

    def test_is_no_repeat_of_what_was_not_believed(self, send: Ask, ask: Ask):
        send(secret=connection.new_secret())
        send()

        assert "sent once more" not in ask("GET", "/")[1]


class TestPages:
    def test_empty_says_what_to_do(self, ask: Ask):
        assert "Make a payment" in ask("GET", "/")[1]

    def test_shows_the_newest_first_and_no_more_than_are_kept(self, send: Ask, ask: Ask):
        for number in range(KEPT + 2):
            send(f"evt_n{number}.")

        page = ask("GET", "/")[1]

        assert page.count("<tr><td>") == KEPT
        assert page.index(f"evt_n{KEPT + 1}.") < page.index(f"evt_n{KEPT}.") < page.index("evt_n2.")
        assert "evt_n1." not in page
        assert ask("GET", "/deliveries/2")[0] == 404
        assert ask("GET", "/deliveries/3")[0] == 200

    def test_of_a_delivery_shows_body_and_headers_escaped(self, send: Ask, ask: Ask):
        send("evt_<i>")

        page = ask("GET", "/deliveries/1")[1]

        assert "<h1>payment.completed</h1>" in page
        assert "&lt;b&gt;naïve&lt;/b&gt;" in page
        assert "evt_&lt;i&gt;" in page
        assert "<b>" not in page
        assert "<i>" not in page

    @pytest.mark.parametrize("path", ["/style.css", "/live.js"])
    def test_have_their_files(self, ask: Ask, path: str):
        assert path in ask("GET", "/")[1]
        assert ask("GET", path)[0] == 200

    @pytest.mark.parametrize(
        "path",
        ["/hooks", "/deliveries/", "/deliveries/0", "/deliveries/-1", "/deliveries/%D9%A3",
         "/../server.py", "/server.py", "/deliveries/" + "9" * 5000],
        ids=range(8),
    )  # fmt: skip
    def test_others_are_none(self, ask: Ask, path: str):
        assert ask("GET", path)[0] == 404


class TestStrangers:
    @pytest.mark.parametrize("name", ["evil.example", "evil.example:9000", "127.0.0.1", ""])
    def test_under_another_name_get_nothing(self, ask: Ask, name: str):
        assert ask("GET", "/", Host=name)[0] == 404
        assert ask("POST", "/hooks", b"{}", Host=name)[0] == 404

    @pytest.mark.parametrize(
        "body",
        [b'{"type":"\\ud800"}', b"[" * 200_000, b'{"a":' * 100_000, b"\xff\xfe"],
        ids=range(4),
    )
    def test_cannot_break_the_pages(self, ask: Ask, body: bytes):
        status, reason = ask("POST", "/hooks", body)

        assert status == 400
        assert reason in ask("GET", "/")[1]
        assert ask("GET", "/deliveries/1")[0] == 200

    @pytest.mark.parametrize("body", [b'{"type":"\\ud800"}', b"[" * 200_000], ids=range(2))
    def test_nor_can_a_body_with_the_right_signature(self, send: Ask, ask: Ask, body: bytes):
        send(body=body)

        assert ask("GET", "/")[0] == 200
        assert ask("GET", "/deliveries/1")[0] == 200

    def test_leave_no_more_than_the_beginning_of_a_body(self, running: Server, ask: Ask):
        ask("POST", "/hooks", b"x" * 500_000)

        (kept,) = running.deliveries.all()
        assert len(kept.body) == UNBELIEVED_BYTES_MAX

    def test_cannot_fill_the_memory(self, running: Server, ask: Ask):
        with socket.create_connection(("127.0.0.1", running.port)) as line:
            line.sendall(
                b"POST /hooks HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Length: %d\r\n\r\n"
                % (running.port, BODY_BYTES_MAX + 1)
            )
            assert line.recv(1000).startswith(b"HTTP/1.1 413 ")
        assert "Nothing yet" in ask("GET", "/")[1]

    def test_reach_it_on_this_machine_only(self, running: Server):
        assert running.server_address[0] == "127.0.0.1"

    def test_run_no_script_in_its_pages(self, running: Server):
        with closing(http.client.HTTPConnection("127.0.0.1", running.port, timeout=10)) as line:
            line.request("GET", "/")
            policy = line.getresponse().headers["Content-Security-Policy"]

        assert "default-src 'none'" in policy
        assert "unsafe" not in policy


class TestConnection:
    def test_stays_over_a_restart(self, tmp_path: Path):
        with server.open_in(tmp_path):
            first = connection.load(tmp_path)
        (tmp_path / connection.FILE).unlink()  # as `./run` does before it starts it
        with server.open_in(tmp_path):
            assert connection.load(tmp_path) == first

    def test_finds_another_port_where_somebody_has_it(self, tmp_path: Path):
        with socket.socket() as somebody:
            somebody.bind(("127.0.0.1", 0))
            somebody.listen()
            taken = somebody.getsockname()[1]
            connection.save(tmp_path, Connection(port=taken, secret=connection.new_secret()))
            with server.open_in(tmp_path) as made:
                assert made.port != taken
                known = connection.load(tmp_path)
        assert known is not None
        assert known.port == made.port

    def test_is_nobody_elses(self, tmp_path: Path):
        with server.open_in(tmp_path):
            pass
        modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
        assert modes == {0o600}
