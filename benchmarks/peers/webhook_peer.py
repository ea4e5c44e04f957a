"""django-webhook: its task once per event. As a program: make the tables, enqueue `COUNT`.

`python -m benchmarks.peers.webhook_peer URL COUNT`, and Celery's `worker` of the same module.
"""

from __future__ import annotations

import json
import os
import sys

import django
from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks.peers.settings")
app = Celery("peer")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.task_default_queue = "bench_peers"
django.setup()
app.autodiscover_tasks(force=True)


def main(url: str, count: int) -> None:
    from django.core.management import call_command
    from django_webhook.models import Webhook, WebhookSecret, WebhookTopic
    from django_webhook.tasks import fire_webhook

    call_command("migrate", verbosity=0)
    topic, _ = WebhookTopic.objects.get_or_create(name="auth.User/create")
    webhook = Webhook.objects.create(url=url, active=True)
    webhook.topics.set([topic])
    WebhookSecret.objects.create(webhook=webhook, token="x" * 40)
    payload = json.dumps({"object": {"id": "x" * 150}, "topic": topic.name})
    for _ in range(count):
        fire_webhook.delay(webhook.pk, payload, topic=topic.name, object_type="auth.User")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
