"""Servers that mean harm, or are broken, on a loopback port, in a thread with a loop of its own."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading

import asyncssh

from networks.ach.sftp import keys
from networks.ach.sftp.settings import SftpSettings

HOST_KEY = asyncssh.generate_private_key("ssh-ed25519")
OURS = keys.generate_client_key()


class Door(asyncssh.SSHServer):
    """Lets our key in."""

    def connection_made(self, conn):
        self.connection = conn

    def begin_auth(self, username):
        authorized = asyncssh.import_authorized_keys(OURS.public.text)
        self.connection.set_authorized_keys(authorized)
        return True


def settings_for(port, **changes) -> SftpSettings:
    agreed = {
        "rail": "hostile",
        "host": "127.0.0.1",
        "port": port,
        "user": "ballast",
        "host_keys": (HOST_KEY.export_public_key().decode(),),
        "private_key": OURS.private,
        "connect_seconds": 5,
        "operation_seconds": 1,
    }
    return SftpSettings(**{**agreed, **changes})


@contextlib.contextmanager
def serving(**options):
    """An SSH server; gives the port."""
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda _loop, _context: None)  # what it does is wrong on purpose

    async def listen():
        given = {"server_factory": Door, "server_host_keys": [HOST_KEY], "config": None, **options}
        return await asyncssh.listen("127.0.0.1", 0, family=socket.AF_INET, **given)

    with in_a_thread(loop):
        acceptor = asyncio.run_coroutine_threadsafe(listen(), loop).result(10)
        try:
            yield acceptor.get_port()
        finally:
            loop.call_soon_threadsafe(acceptor.close)


@contextlib.contextmanager
def in_a_thread(loop):
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        asyncio.run_coroutine_threadsafe(_end(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


async def _end():
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@contextlib.contextmanager
def talking(answer: bytes, *, stays: bool):
    """A server that says one thing to whoever connects, whatever it is; gives the port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        lines = []

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    line, _address = listener.accept()
                    lines.append(line)
                    line.sendall(answer)
                    if not stays:
                        line.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(10)
            for line in lines:
                line.close()


def saying(*payloads: bytes) -> type[Door]:
    """Lets our key in, and where SFTP would be answers each request with the next bytes."""
    waiting = list(payloads)

    class Session(asyncssh.SSHServerSession[bytes]):
        def connection_made(self, chan):
            self.channel = chan

        def subsystem_requested(self, subsystem):
            return subsystem == "sftp"

        def data_received(self, data, datatype):
            if waiting:
                self.channel.write(waiting.pop(0))

    class Saying(Door):
        def session_requested(self):
            return self.connection.create_server_channel(encoding=None), Session()

    return Saying
