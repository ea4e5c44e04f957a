"""Seeds of the whole service: none finds anything, and each is the same again."""

from __future__ import annotations

import re

import pytest

from simulation import plants

pytestmark = pytest.mark.django_db  # pytest-django sets databases up for tests that say so

SMALL = ("--days", 1, "--acts", 40)
# CI waits for a few seeds; `./run test --nightly tests/simulation` for all.
SEEDS, SEEDS_NIGHTLY = 3, 10


@pytest.fixture
def nightly(request):
    return request.config.getoption("--nightly")


def digests_of(output):
    return re.findall(r"seed (\d+): (\w{16}) (\w+)", output)


def test_a_small_seed_finds_nothing(simulate):
    code, output = simulate("--seeds", 1, "--seed", 4, *SMALL)

    assert code == 0, output
    assert "0 of 1 seeds failed" in output


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_seeds_of_several_days_find_nothing(nightly, simulate):
    code, output = simulate("--seeds", SEEDS_NIGHTLY if nightly else SEEDS)

    assert code == 0, output


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_seed_is_the_same_in_another_process(simulate):
    _, first = simulate("--seeds", 2, "--seed", 11, *SMALL)
    _, second = simulate("--seeds", 1, "--seed", 12, *SMALL)

    assert [outcome for _, _, outcome in digests_of(first)] == ["ok", "ok"]
    assert digests_of(first)[1:] == digests_of(second)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", [name for name, each in plants.PLANTS.items() if each.seeds])
def test_a_planted_bug_is_found(name, nightly, simulate):
    if plants.PLANTS[name].seeds > SEEDS_NIGHTLY and not nightly:
        pytest.skip("it takes too many seeds: --nightly")

    code, output = simulate("--seeds", plants.PLANTS[name].seeds, plant=name)

    assert code == 1, output
    assert "once more it is the same" in output


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_failing_seed_is_shown_as_the_few_acts_it_needs(nightly, simulate):
    if not nightly:
        pytest.skip("it tries 40 variants of a seed: --nightly")

    code, output = simulate("--seeds", 1, "--shrink", plant="message-lock")

    assert code == 1, output
    (enough,) = re.findall(r"(\d+) acts and \d+ breaks are enough", output)
    assert int(enough) <= 30
    (again,) = re.findall(r"again: \./run simulate (.*)", output)
    code, output = simulate(*again.replace("'", "").split(), plant="message-lock")
    assert code == 1, output
    assert "message:" in output
