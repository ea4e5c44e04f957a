"""A whole copy of the product running: servers, schema, demo tenant, processes."""

from __future__ import annotations

import contextlib
import http.client
import select
import shutil
import socket
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from devstack import environment, preparation, programs
from devstack.errors import DevstackError, StartFailed
from devstack.paths import Profile
from devstack.processes import Program
from devstack.servers import Pair
from devstack.supervisor import Sink, Supervisor

HOST = "127.0.0.1"
HEALTHY_SECONDS = 120


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What runs on the servers: the web server first, so that it loads while `seed` works.

    The others follow: sweeps must not meet the demo tenant's past half made. `neighbors` (the bank,
    the operator, the webhook receiver) need no servers, and are there before all of them.
    """

    prepare: Callable[[Profile, Mapping[str, str], Sink], None]
    programs: Callable[[Profile, int, Mapping[str, str]], list[Program]]
    seed: Callable[[Profile, Mapping[str, str], Sink], Mapping[str, str]] = preparation.no_seed
    neighbors: tuple[Callable[[Profile], Program], ...] = ()


PRODUCT_WITHOUT_DEMO_TENANT = Recipe(
    prepare=preparation.migrate,
    programs=programs.of_product,
    neighbors=(programs.bank, programs.operator),
)
PRODUCT = replace(
    PRODUCT_WITHOUT_DEMO_TENANT,
    neighbors=(*PRODUCT_WITHOUT_DEMO_TENANT.neighbors, programs.receiver),
    seed=preparation.seed,
)


@dataclass(frozen=True, kw_only=True)
class Copy:
    """A running copy."""

    address: str
    environment: Mapping[str, str]
    demo: Mapping[str, str]
    """The demo login and key, if the recipe made them."""
    supervisor: Supervisor


@contextlib.contextmanager
def running(
    pair: Pair,
    *,
    port: int,
    sink: Sink,
    recipe: Recipe = PRODUCT,
    overrides: dict[str, str] | None = None,
) -> Iterator[Copy]:
    """Bring a claimed profile up; whatever happens, nothing of it runs afterwards."""
    profile = pair.profile
    variables = environment.serving(profile, port=port) | (overrides or {})
    try:
        sink("ballast", f"starting PostgreSQL and Valkey in {profile.home}")
        pair.start()
        recipe.prepare(profile, variables, sink)
        _empty_metrics_folder(variables)
        web, *others = recipe.programs(profile, port, variables)
        with _supervised(pair, sink) as supervisor:
            for neighbor in recipe.neighbors:
                supervisor.start(neighbor(profile))
            supervisor.start(web)
            demo = recipe.seed(profile, variables, sink)
            for program in others:
                supervisor.start(program)
            _await_health(supervisor, port)
            yield Copy(
                address=environment.address(port),
                environment=variables,
                demo=demo,
                supervisor=supervisor,
            )
    finally:
        pair.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def require_free_port(port: int, *, profile: Profile) -> None:
    """Raise DevstackError with the next step when something listens there already."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except PermissionError:
            raise DevstackError(f"Port {port} is for root only: use `--port 8000`.") from None
        except OSError:
            raise DevstackError(
                f"Port {port} is taken by another program: stop that, "
                f"or choose another port, for example "
                f"`./run up --profile {profile.name} --port {free_port()}`."
            ) from None


@contextlib.contextmanager
def _supervised(pair: Pair, sink: Sink) -> Iterator[Supervisor]:
    supervisor = Supervisor(sink)
    try:
        for child in pair.children:
            supervisor.watch(child)
        yield supervisor
    finally:
        supervisor.stop()


def _await_health(supervisor: Supervisor, port: int) -> None:
    probe = _HealthProbe(port)
    try:
        if not supervisor.wait_until(probe.has_passed, timeout=HEALTHY_SECONDS):
            raise StartFailed(f"The web server did not answer within {HEALTHY_SECONDS} s.")
    finally:
        probe.close()


class _HealthProbe:
    """One patient request to /healthz: a loading server would log every impatient one."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection(HOST, port)
        self._is_asked = False

    def has_passed(self) -> bool:
        """Whether the server said yes; never waits for it."""
        try:
            return self._ask() and self._connection.getresponse().status == http.HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            self.close()
            return False

    def _ask(self) -> bool:
        """Send the request once; whether an answer has come."""
        if not self._is_asked:
            self._connection.request("GET", "/healthz")
            self._is_asked = True
        readable, _, _ = select.select([self._connection.sock], [], [], 0)
        return bool(readable)

    def close(self) -> None:
        self._connection.close()
        self._is_asked = False


def _empty_metrics_folder(variables: Mapping[str, str]) -> None:
    """Counters of processes that ended would be added to the new ones."""
    folder = variables["PROMETHEUS_MULTIPROC_DIR"]
    shutil.rmtree(folder, ignore_errors=True)
    Path(folder).mkdir(parents=True)
