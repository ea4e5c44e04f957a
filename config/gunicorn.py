"""How gunicorn serves the product: `gunicorn --config=config/gunicorn.py config.wsgi`."""

from __future__ import annotations

import gc
import os
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from prometheus_client import multiprocess

from config import safety
from config.env import count, flag, text

bind = text("WEB_BIND", default="127.0.0.1:8000")
workers = count("WEB_WORKERS", default=2, minimum=1)
threads = count("WEB_THREADS", default=4, minimum=1)
worker_class = "config.web_worker.ApiWorker"
timeout = 30
graceful_timeout = 8
keepalive = 5
loglevel = "warning"
# The default place is one per account, so copies running side by side would share it.
control_socket_disable = True
# Where workers write heartbeats. On a slow disk a busy worker would look like a stuck one.
_memory = Path(os.sep, "dev", "shm")
worker_tmp_dir = str(_memory) if _memory.is_dir() else None
# A request is over in seconds, answered or refused.
os.environ.setdefault("DATABASE_STATEMENT_TIMEOUT_MS", "5000")
os.environ.setdefault("DATABASE_IDLE_TRANSACTION_TIMEOUT_MS", "10000")


def on_starting(server: Any) -> None:
    """Refuse DEBUG on an address that others reach, also one of `--bind`, and TLS, which the worker
    does not speak."""
    if server.cfg.is_ssl:
        raise RuntimeError("This server speaks no TLS: end it in a proxy, or a balancer, in front")
    if not flag("DEBUG", default=False):
        return
    for address in server.cfg.settings["bind"].get():
        try:
            safety.require_private_bind(address)
        except ImproperlyConfigured as refusal:
            raise RuntimeError(str(refusal)) from None  # which gunicorn shows without a traceback


def post_worker_init(_worker: Any) -> None:
    """Keep the garbage collector from walking over all that was loaded, which lives as long as the
    process: that stopped a page in sixty for a tenth of a second."""
    gc.collect()
    gc.freeze()


def child_exit(_server: Any, worker: Any) -> None:
    """Remove a dead worker's gauges from the shared metrics."""
    if text("PROMETHEUS_MULTIPROC_DIR", default=""):
        multiprocess.mark_process_dead(worker.pid)
