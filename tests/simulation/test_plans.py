"""What a seed decides, how a plan shrinks, and that the planted bugs fit the source."""

from __future__ import annotations

import shlex
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest
from django.db import connection

from simulation import command, plans, plants, themes
from simulation.shrinking import shrink


class TestPlans:
    def test_a_seed_decides_all_of_it(self):
        assert plans.make("1") == plans.make("1")
        assert plans.make("1") != plans.make("2")

    def test_every_theme_comes_in_a_few_seeds_in_a_row(self):
        few = sum(theme.weight for theme in themes.THEMES.values())

        for first in (1, 20):
            seeds = range(first, first + few)
            assert {plans.make(str(seed)).theme for seed in seeds} == set(themes.THEMES)

    def test_a_theme_s_breaks_come_mostly_in_the_acts_that_it_names(self):
        plan = plans.make("1", theme="dying workers")
        kinds = {act.number: act.kind for act in plan.acts}

        named = [each for each in plan.breaks if kinds[each.act] in themes.READING]

        assert len(named) > len(plan.breaks) / 2

    def test_without_acts_it_has_neither_their_breaks_nor_the_days_behind(self):
        plan = plans.make("1", days=3, acts_per_day=10)

        fewer = plan.only({1, 12})

        assert [act.number for act in fewer.acts] == [1, 12]
        assert {each.act for each in fewer.breaks} <= {1, 12}
        assert fewer.nights == plan.nights[:2]


class TestShrinking:
    def test_leaves_what_the_failure_needs(self):
        plan = plans.make("1", days=3, acts_per_day=10)
        needed = {3, 14}

        smallest = shrink(
            plan, lambda tried: needed <= {act.number for act in tried.acts}, tries=200
        )

        assert {act.number for act in smallest.acts} == needed
        assert smallest.breaks == ()

    def test_spends_its_tries_on_acts_and_not_on_breaks_that_go_with_them(self):
        plan = plans.make("5", days=3)
        breaks, needed = set(plan.breaks[:2]), {5, 40, 110, 170}

        def fails(tried):
            return breaks <= set(tried.breaks) and needed <= {act.number for act in tried.acts}

        assert (len(plan.acts), len(plan.breaks)) == (180, 60)
        assert len(shrink(plan, fails, tries=40).acts) < 40

    def test_ends_after_as_many_tries_as_it_has(self):
        tries = iter(range(100))

        shrink(plans.make("1"), lambda _plan: next(tries) < 0, tries=5)

        assert next(tries) == 5


class TestCommands:
    def test_the_command_that_is_shown_gives_the_plan_again(self):
        options = command.parse(["--days", "2", "--acts", "20", "--theme", "outages"])
        whole = command.planned("1", options)
        broken = Counter(each.act for each in whole.breaks)
        (twice, _times) = broken.most_common(1)[0]
        one_of_its_breaks = next(each for each in whole.breaks if each.act == twice)

        for plan in (
            whole,
            whole.only({1, 2, twice}),
            whole.with_breaks([one_of_its_breaks]),
            whole.with_breaks([]),
        ):
            again = command.parse(shlex.split(command.command_of(plan, options))[2:])

            assert command.planned(str(again.seed), again) == plan


@pytest.mark.django_db
@pytest.mark.parametrize("name", plants.PLANTS)
def test_a_planted_bug_changes_what_it_says(name):
    with connection.cursor() as cursor:
        for function, (old, new) in plants.PLANTS[name].functions.items():
            cursor.execute("SELECT pg_get_functiondef(%s::regproc)", [function])
            (source,) = cursor.fetchone()
            assert plants.planted(source, old, new) != source
    for module, (old, new) in plants.PLANTS[name].edits.items():
        spec = find_spec(module)
        assert spec is not None
        source = Path(str(spec.origin)).read_text()

        assert plants.planted(source, old, new) != source
