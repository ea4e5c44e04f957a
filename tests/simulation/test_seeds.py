"""Seeds of the whole service: none finds anything, and each is the same again."""

from __future__ import annotations

import re
import shlex

import pytest

from simulation import plants
from tests.samples import by_day

# pytest-django sets databases up for tests that say `django_db`.
pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.long]

# A lock, a rule of money, and an order of writing that only a death shows.
PLANTED_BY_DAY = {"posting-lock", "expire-unasked", "acknowledged-first"}
SMALL = ("--days", 1, "--acts", 40)
# CI waits for a few seeds, each by itself; `./run test --nightly tests/simulation` for all.
SEEDS = by_day(range(1, 15), {1, 2})
# Half of the acts that there were: how few are enough is a matter of luck (7 when it was written).
FEW = 90
# Which seed finds a planted bug changes with the product: so many are tried, the plant's own first.
TRIED = 20
SHRUNK = re.compile(
    r"(\d+) of \d+ acts and \d+ of \d+ breaks are enough, found in \d+ tries: (\w{16})\n"
    r"(.*)  again: ",
    re.DOTALL,
)


@pytest.fixture
def nightly(request):
    return request.config.getoption("--nightly")


def finding(name, seed=None):
    """The arguments that find a planted bug: `seed`, or the first of some."""
    plant = plants.PLANTS[name]
    seeds = ("--seeds", 1, "--seed", seed) if seed else ("--seeds", TRIED, "--seed", plant.seed)
    return *seeds, *(["--theme", plant.theme] if plant.theme else [])


def found_in(output):
    """The codes of what was found, in order."""
    return re.findall(r"^  (\w[\w: ]*?): ", output, re.MULTILINE)


def digests_of(output):
    return re.findall(r"seed (\d+): (\w{16}) (\w+)", output)


def test_a_small_seed_finds_nothing(simulate):
    code, output = simulate("--seeds", 1, "--seed", 4, *SMALL)

    assert code == 0, output
    assert "0 of 1 seeds failed" in output


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_seed_of_several_days_finds_nothing(seed, simulate):
    code, output = simulate("--seeds", 1, "--seed", seed)

    assert code == 0, output


@pytest.mark.timeout(600)
def test_a_seed_is_the_same_in_another_process(simulate):
    _, first = simulate("--seeds", 2, "--seed", 11, *SMALL)
    _, second = simulate("--seeds", 1, "--seed", 12, *SMALL)

    assert [outcome for _, _, outcome in digests_of(first)] == ["ok", "ok"]
    assert digests_of(first)[1:] == digests_of(second)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", by_day(plants.PLANTS, PLANTED_BY_DAY))
def test_a_planted_bug_is_found(name, nightly, simulate):
    # What repeats a seed is tried on one of them by day, and on all of them at night.
    is_repeated = nightly or name == "expire-unasked"
    code, output = simulate(*finding(name), *([] if is_repeated else ["--once"]), plant=name)

    assert code == 1, output
    assert re.search(r"^1 of \d+ seeds failed", output, re.MULTILINE), output
    assert ("once more it is the same" in output) == is_repeated


@pytest.mark.nightly  # it tries 40 variants of a seed
@pytest.mark.timeout(3600)
def test_a_failing_seed_is_shown_as_the_few_acts_it_needs(simulate):
    name = "message-lock"
    _, output = simulate(*finding(name), "--once", plant=name)
    seed = digests_of(output)[-1][0]

    code, output = simulate(*finding(name, seed), "--shrink", plant=name)

    assert code == 1, output
    ((acts, digest, shown),) = SHRUNK.findall(output)
    assert int(acts) <= FEW
    (again,) = re.findall(r"again: \./run simulate (.*)", output)
    code, output = simulate(*shlex.split(again), "--once", plant=name)
    assert code == 1, output
    assert [digest] == [each for _, each, _ in digests_of(output)]
    found = found_in(output.partition("  again: ")[0])
    assert found == found_in(shown) != []
