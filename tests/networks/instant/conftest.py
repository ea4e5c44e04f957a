from __future__ import annotations

from datetime import datetime

import pytest

from common.clock import utc_now
from networks.instant.network import InstantNetwork
from tests.networks.instant.builders import RAIL, make_rail
from tests.networks.instant.operator import Operator


@pytest.fixture
def now() -> datetime:
    return utc_now()


@pytest.fixture(params=["rtp", "fednow"])
def operator(request, db, tmp_path) -> Operator:
    """A rail of each profile, over a folder."""
    make_rail(tmp_path, profile=request.param)
    return Operator(tmp_path, request.param)


@pytest.fixture
def bank() -> InstantNetwork:
    return InstantNetwork(RAIL)
