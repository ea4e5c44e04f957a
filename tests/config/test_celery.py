"""What must hold of tasks and their schedule, judged from the code and the configuration."""

from __future__ import annotations

import ast
from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings

from common import ticks
from common.clock import utc_now
from config.beat import SCHEDULE
from config.celery import app

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("api", "approvals", "balance", "common", "config", "dashboard", "desk", "funding",
            "networks", "payments", "reconciliation", "seals", "tenants", "transfers",
            "webhooks")  # fmt: skip

app.loader.import_default_modules()
OWN_TASKS = {
    name: task for name, task in app.tasks.items() if not name.startswith(("celery.", "tests."))
}
# Where a task's module went since it got its name, which workers of two releases share.
MOVED = {"networks.collect_unmatched": "transfers"}


@cache
def calls() -> list[tuple[Path, ast.Call]]:
    """Every call in our code, with its file."""
    return [
        (path.relative_to(ROOT), node)
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
    ]


def name_of(call: ast.Call) -> str:
    target = call.func
    return target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")


def named_wake_ups() -> dict[str, Path]:
    return {
        str(call.args[0].value): path
        for path, call in calls()
        if name_of(call) == "enqueue_on_commit" and isinstance(call.args[0], ast.Constant)
    }


class TestWakeUps:
    def test_name_a_task_that_exists(self):
        named = named_wake_ups()

        assert named
        assert {name: path for name, path in named.items() if name not in OWN_TASKS} == {}

    def test_are_named_by_a_string_and_nothing_else(self):
        for path, call in calls():
            if name_of(call) == "enqueue_on_commit":
                assert isinstance(call.args[0], ast.Constant | ast.Name), path

    def test_are_the_only_way_a_task_is_sent(self):
        sent = [
            (str(path), call.lineno)
            for path, call in calls()
            if name_of(call) in {"delay", "apply_async", "send_task", "signature", "s"}
        ]

        assert [path for path, _line in sent] == ["common/engine/wakeups.py"]

    def test_are_never_delayed_nor_retried_by_celery(self):
        """Money waits in rows: an ETA longer than the visibility timeout runs several times."""
        words = {"eta", "countdown", "autoretry_for", "max_retries", "retry_backoff"}
        for path, call in calls():
            given = {keyword.arg for keyword in call.keywords}
            if path == Path("common/engine/wakeups.py"):
                continue
            assert not given & words, (path, call.lineno)
            assert name_of(call) != "retry", (path, call.lineno)


class TestTasks:
    @pytest.mark.parametrize("name", sorted(OWN_TASKS))
    def test_has_an_explicit_name_of_its_app(self, name):
        task = OWN_TASKS[name]
        package = task.run.__module__.split(".")[0]

        assert package == MOVED.get(name, name.split(".")[0])
        assert "tasks" in task.run.__module__

    @pytest.mark.parametrize("name", sorted(OWN_TASKS))
    def test_ends_before_its_message_comes_back(self, name):
        hard = OWN_TASKS[name].time_limit or app.conf.task_time_limit
        soft = OWN_TASKS[name].soft_time_limit or app.conf.task_soft_time_limit

        assert 0 < soft < hard
        # One that is acknowledged before it runs never comes back: its rows are found again.
        assert hard < settings.CELERY_VISIBILITY_TIMEOUT or OWN_TASKS[name].acks_late is False

    @pytest.mark.parametrize("name", sorted(OWN_TASKS))
    def test_takes_named_arguments_and_those_of_a_later_version(self, name):
        code = OWN_TASKS[name].run.__code__

        assert code.co_flags & 0x08, "**_future"
        assert code.co_argcount == 0, "keyword-only"


class TestSchedule:
    def test_names_tasks_that_exist(self):
        assert {entry["task"] for entry in SCHEDULE.values()} <= set(OWN_TASKS)

    def test_keeps_what_is_promised(self):
        """By SECURITY.md: how long a rewritten row can stay unseen, and a cut chain unpublished."""
        longest = {
            "balance.check_ledger": 15 * 60,
            "seals.seal_due": 15 * 60,
            "seals.publish": 60 * 60,
            "seals.stream_audit": 60,
        }

        every = {entry["task"]: entry["schedule"] for entry in SCHEDULE.values()}
        assert {task for task, most in longest.items() if every[task] > most} == set()

    @pytest.mark.parametrize("name", sorted(SCHEDULE))
    def test_leaves_no_backlog_behind_a_stopped_worker(self, name):
        entry = SCHEDULE[name]

        assert entry["schedule"] >= 1
        assert entry["options"]["expires"] <= max(entry["schedule"], 15)

    def test_reaches_every_task_that_no_wake_up_names(self):
        scheduled = {entry["task"] for entry in SCHEDULE.values()}

        assert set(OWN_TASKS) == scheduled | (set(named_wake_ups()) & set(OWN_TASKS))


class TestConfiguration:
    def test_a_killed_worker_s_message_comes_back(self):
        assert app.conf.task_acks_late
        assert app.conf.task_reject_on_worker_lost
        assert app.conf.worker_prefetch_multiplier == 1

    def test_nothing_but_json_is_taken(self):
        assert app.conf.accept_content == ["json"]
        assert app.conf.task_serializer == "json"

    def test_results_are_not_kept(self):
        assert app.conf.task_ignore_result

    def test_time_is_utc(self):
        assert str(app.conf.timezone) == "UTC"
        assert settings.TIME_ZONE == "UTC"


class TestRuns:
    def test_are_noted_for_the_desk(self, db):
        OWN_TASKS["webhooks.forget_old"].apply()

        tick = ticks.last(["webhooks.forget_old"])["webhooks.forget_old"]
        assert tick.ok
        assert utc_now() - tick.at < timedelta(minutes=1)


class TestQueues:
    def test_are_those_of_tasks_that_exist(self):
        assert set(app.conf.task_routes) <= set(OWN_TASKS)
        names = {app.amqp.router.route({}, name)["queue"].name for name in OWN_TASKS}
        assert names == {queue.name for queue in app.conf.task_queues}

    def test_are_taken_from_in_turn_so_that_no_backlog_is_in_the_way(self):
        """A hundred submissions wait; each other kind comes within the first three."""
        others = ["payments.process_network_events", "tenants.send_due_emails"]
        with app.connection_for_write() as connection:
            app.control.purge(connection=connection)  # what other tests have left there
            for name in ["funding.submit_due"] * 100 + others:
                app.send_task(name, connection=connection, ignore_result=True)
            taken: list[str] = []
            with app.amqp.TaskConsumer(
                connection.default_channel,
                on_message=lambda message: taken.append(message.headers["task"]),
            ) as consumer:
                while len(taken) < 3:
                    connection.drain_events(timeout=30)
                consumer.purge()

        assert set(taken[:3]) == {"funding.submit_due", *others}
