from __future__ import annotations

import pytest

from benchmarks import harness, pgbench, posting, results
from benchmarks.errors import CannotMeasure
from benchmarks.harness import Case, Outcome
from devstack import paths, postgres
from tests.balance.builders import fund


def quietly(_line):
    """Tell nobody."""


def test_measures_in_turns_and_changes_the_order():
    turns = []

    def measure(name, rate):
        turns.append(name)
        return rate

    case = Case(
        name="a", ceiling=lambda: measure("ceiling", 100), subject=lambda: measure("subject", 80)
    )
    outcome = harness.run(case, pairs=3, tell=quietly)

    assert turns == ["ceiling", "subject", "subject", "ceiling", "ceiling", "subject"]
    assert outcome.ratios == [0.8, 0.8, 0.8]


def test_nothing_done_is_no_figure():
    case = Case(name="a", ceiling=lambda: 100, subject=lambda: 0)

    with pytest.raises(CannotMeasure, match="a: nothing was done"):
        harness.run(case, pairs=1, tell=quietly)


@pytest.mark.parametrize(("aim", "met"), [(None, True), (0.6, True), (0.61, False)])
def test_the_median_meets_an_aim_or_does_not(aim, met):
    outcome = Outcome(name="a", ceilings=[10, 10, 10], subjects=[1, 6, 9], aim=aim)

    assert outcome.meets_aim is met


def test_a_table_shows_rates_ratios_and_aims():
    outcomes = [
        Outcome(name="a", ceilings=[1_000, 2_000], subjects=[800, 1_000], aim=0.6),
        Outcome(name="b", ceilings=[10], subjects=[5]),
    ]

    assert harness.table(outcomes, ceiling="pgbench", subject="ours").splitlines()[2:] == [
        "| a | 1,500 | 900 | 0.50 | **0.65** | 0.80 | 0.60 |",
        "| b | 10 | 5 | 0.50 | **0.50** | 0.50 | – |",
    ]


def test_a_section_is_replaced_and_others_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FILE", tmp_path / "RESULTS.md")

    results.write_section("One", "old")
    results.write_section("Two", "kept")
    results.write_section("One", r"new \1")

    text = results.FILE.read_text()
    assert text.endswith("\n\n## One\n\nnew \\1\n\n## Two\n\nkept\n")
    assert text.startswith("# Measured\n")


def test_pgbench_runs_exactly_the_statement_of_the_services():
    script = posting._script()

    assert "%(" not in script
    assert "FOR NO KEY UPDATE" in script
    assert "ON CONFLICT (tenant_id, source_id, source_type, type) DO NOTHING" in script


def test_without_pgbench_there_is_no_figure(monkeypatch, tmp_path):
    monkeypatch.setenv("POSTGRES_TOOLS", str(tmp_path))

    with pytest.raises(CannotMeasure, match="pgbench is missing"):
        pgbench.rate("SELECT 1", clients=1, seconds=1, variables={})


def test_a_failing_script_is_no_figure(monkeypatch, db):
    monkeypatch.setenv("POSTGRES_TOOLS", str(postgres.binaries(paths.profile())))

    with pytest.raises(CannotMeasure, match="pgbench failed"):
        pgbench.rate("SELECT 1 / 0", clients=1, seconds=1, variables={})


def test_a_forgetful_server_is_refused(db):
    with pytest.raises(CannotMeasure, match="only a durable server counts"):
        posting.main(pairs=1, seconds=1, tell=quietly)


def test_other_peoples_data_is_never_emptied(acme):
    fund(acme, 5)

    with pytest.raises(CannotMeasure, match="has tenants"):
        posting._refuse_other_peoples_data()
