from __future__ import annotations

import os
from types import SimpleNamespace

import pytest

from devstack.processes import Child
from devstack.signals import STOP_SIGNALS, Stopped, stop_once


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_a_signal_does_not_cut_the_look_at_a_child_short(monkeypatch, number):
    """`Popen.poll` holds a lock meanwhile, and would never give it back."""
    done = []

    def poll():
        os.kill(os.getpid(), number)
        done.append("looked")

    child = Child.__new__(Child)
    monkeypatch.setattr(child, "process", SimpleNamespace(poll=poll), raising=False)

    with pytest.raises(Stopped), stop_once():
        _ = child.has_ended

    assert done == ["looked"]
