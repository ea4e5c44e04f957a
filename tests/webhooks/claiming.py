"""A dispatcher's two statements without a dispatcher: claim what is due, record what came of it."""

from __future__ import annotations

from common.engine.http.client import Answer
from tests.builders import NOW
from webhooks.dispatcher import claims, outcomes, results

OK = Answer(status=200)
BROKEN = Answer(status=500)


def claim(*, slots=200, retry_slots=100, now=NOW, after=""):
    return claims.claim(slots=slots, retry_slots=retry_slots, after=after, now=now).jobs


def result_of(job, answer, *, now=NOW, jitter=0.0):
    outcome = outcomes.judge(answer, failures=job.failures, jitter=jitter, now=now)
    return results.Result(job=job, answer=answer, outcome=outcome, started_at=now)


def record(jobs, answer, *, now=NOW, jitter=0.0):
    done = [result_of(job, answer, now=now, jitter=jitter) for job in jobs]
    return results.record(done, now=now)
