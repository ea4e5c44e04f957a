"""Where the embedded services live. No side effects on import (settings.py imports this)."""
from __future__ import annotations
import hashlib, os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run_dir(profile: str | None = None) -> Path:
    profile = profile or os.environ.get("DEVSTACK_PROFILE", "dev")
    base = os.environ.get("DEVSTACK_HOME")
    if base:
        return Path(base) / profile
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        # postgres refuses to run as root: its data must sit where an unprivileged
        # uid can reach it, without loosening the modes of /root.
        tag = hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]
        return Path("/var/tmp") / f"ballast-{tag}" / profile
    return ROOT / ".run" / profile


def sock_dir(profile: str | None = None) -> Path:
    d = run_dir(profile) / "sock"
    if len(str(d / ".s.PGSQL.5432.lock")) < 100:
        return d
    tag = hashlib.sha256(str(d).encode()).hexdigest()[:10]
    return Path("/tmp") / f"ds-{tag}"


def database_url(profile: str | None = None, name: str = "app") -> str:
    return f"postgresql://app@/{name}?host={sock_dir(profile)}"


def redis_url(profile: str | None = None, db: int = 0) -> str:
    return f"unix://{sock_dir(profile)}/valkey.sock?db={db}"
