from __future__ import annotations

import re
import socket
import subprocess
import sys
import threading

import pytest

from benchmarks import __main__ as program
from benchmarks import (
    books,
    database,
    figures,
    load,
    paging,
    pgbench,
    posting,
    processes,
    results,
    seeding,
    webhooks,
)
from benchmarks.errors import CannotMeasure
from benchmarks.figures import Figure, Section
from benchmarks.options import Options
from common import ids
from common.clock import utc_now
from devstack import paths, postgres
from tests.balance.builders import fund
from tests.database import owner

QUICK = Options(pairs=1, seconds=0.1, rows=100, quick=True, full=False, tell=lambda _line: None)


@pytest.mark.parametrize(
    ("aim", "at_most", "met"),
    [
        (None, False, True),
        (6, False, True),
        (6.1, False, False),
        (6, True, True),
        (5.9, True, False),
    ],
)
def test_the_median_meets_an_aim_or_does_not(aim, at_most, met):
    figure = Figure(name="a", values=[1, 6, 90], aim=aim, at_most=at_most)

    assert figure.is_met is met
    assert Section("A", "", [figure]).missed == ([] if met else [figure])


def test_a_clients_process_starts_before_django_is_set_up():
    done = subprocess.run(  # our own command, no shell
        [sys.executable, "-c", "import benchmarks.clients"], cwd=paths.ROOT, check=False
    )
    assert done.returncode == 0


def test_nothing_measured_is_no_figure():
    with pytest.raises(CannotMeasure, match="a: nothing was measured"):
        Figure(name="a", values=[])


def test_ratios_are_of_neighbours_and_of_work_that_was_done():
    assert figures.ratios([8, 6], [10, 3]) == [0.8, 2]
    with pytest.raises(CannotMeasure, match="nothing was done"):
        figures.ratios([1], [0])


def test_a_table_shows_spread_aims_and_verdicts():
    shown = figures.table(
        [
            Figure(name="rate", values=[1_000, 2_000], aim=1_600),
            Figure(name="wait", unit="ms", values=[0.05], aim=1, at_most=True),
        ]
    )

    assert shown.splitlines()[2:] == [
        f"| rate | 1,000 | **1,500** | 2,000 | ≥ 1,600 | **missed** {figures.WHY_MISSED} |",
        "| wait (ms) | 0.0500 | **0.0500** | 0.0500 | ≤ 1.00 | met |",
    ]


def test_a_section_is_replaced_and_others_stay(tmp_path):
    file = tmp_path / "RESULTS.md"

    results.write_section("One", "old", file=file)
    results.write_section("Two", "kept", file=file)
    results.write_section("One", r"new \1", file=file)

    text = file.read_text()
    assert text.endswith("\n\n## One\n\nnew \\1\n\n## Two\n\nkept\n")
    assert text.startswith("# Measured\n")


def test_a_part_that_needs_too_long_is_given_up():
    with (
        pytest.raises(CannotMeasure, match="slow needs more than 1 s"),
        program._at_most(1, "slow"),
    ):
        threading.Event().wait(5)


def test_pgbench_runs_exactly_the_statement_of_the_services():
    script = books.same_statement()

    assert "%(" not in script
    assert "balance_post(" in script


def test_ids_under_pgbench_have_the_form_of_the_products():
    script = books.same_statement()
    least, most = 10**18, 9 * 10**18 - 1  # of :id, by the numbers of runs

    for prefix in ("btx", "ftx"):
        (letters,) = re.findall(rf"'({prefix}_\w+)' \|\| :id::text", script)
        assert ids.is_id(f"{letters}{least}", prefix)
        assert ids.is_id(f"{letters}{most}", prefix)
    assert ids.is_id(books.tenant_id(1), "ten")
    assert ids.is_id(books.tenant_id(posting.MANY), "ten")


def test_a_run_is_cut_into_parts_with_as_many_arrivals():
    assert webhooks._rates([0, 1, 2, 3, 5, 7, 9, 9.5], 2) == [1, 0.5]


def test_without_pgbench_there_is_no_figure(monkeypatch, tmp_path):
    monkeypatch.setenv("POSTGRES_TOOLS", str(tmp_path))

    with pytest.raises(CannotMeasure, match="pgbench is missing"):
        pgbench.rate("SELECT 1", clients=1, seconds=1, variables={})


def test_a_failing_script_is_no_figure(monkeypatch, db):
    monkeypatch.setenv("POSTGRES_TOOLS", str(postgres.binaries(paths.profile())))

    with pytest.raises(CannotMeasure, match="pgbench failed"):
        pgbench.rate("SELECT 1 / 0", clients=1, seconds=1, variables={})


def test_a_forgetful_server_is_refused(db):
    assert program._run("api", QUICK, seconds=10) == program.NOT_MEASURED


def test_other_peoples_data_is_never_emptied(acme):
    fund(acme, 5)

    with pytest.raises(CannotMeasure, match="has tenants"):
        seeding.require_own_database()


def test_a_seeded_history_is_a_ledger_that_the_audit_accepts(db):
    from balance import chains
    from common.audits import Scope

    with owner.as_superuser():
        for name in ("bench_x", "bench_y"):
            seeding.history(seeding.named_tenant(name), 16, batch=8)

    assert chains.check(Scope(full=True), now=utc_now()) == []
    assert database.scalar("SELECT sum(available) FROM balance") == 1200


def test_an_unexpected_answer_is_no_figure():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def refuse():
            client, _ = server.accept()
            with client:
                client.recv(1024)
                client.sendall(b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n")

        threading.Thread(target=refuse, daemon=True).start()
        request = load.Request(method="GET", path="/x", key="k")
        with pytest.raises(CannotMeasure, match="/x answered"):
            load.run(server.getsockname()[1], request, connections=1, seconds=1)


def test_cpu_of_a_process_that_ended_is_none():
    assert processes.cpu_seconds(2**22 + 1) == 0.0


def test_a_page_that_is_not_whole_is_no_figure():
    pair = paging.Pair(name="a", first=lambda: "x" * 51, deep=lambda: "x" * 50)

    with pytest.raises(CannotMeasure, match="a: 50 lines, not 51"):
        paging._milliseconds(pair)


def test_every_deep_page_and_source_exists(db):
    with owner.as_superuser():
        seeding.history(seeding.named_tenant(paging.TENANT), 4_000)

    for pair in paging._pairs(4_000, utc_now()):
        assert len(pair.first()) == len(pair.deep()) == pair.lines, pair.name
        assert pair.first() != pair.deep(), pair.name
