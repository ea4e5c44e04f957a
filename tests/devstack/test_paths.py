from __future__ import annotations

import stat
from pathlib import Path

import pytest

from devstack import paths
from devstack.accounts import server_account
from devstack.errors import DevstackError
from devstack.paths import Profile


@pytest.fixture(autouse=True)
def _own_state(monkeypatch: pytest.MonkeyPatch, state: Path):
    monkeypatch.setenv("BALLAST_STATE_DIR", str(state))
    monkeypatch.delenv("BALLAST_PROFILE", raising=False)


class TestProfile:
    def test_is_dev_unless_somebody_names_another(self, state: Path):
        assert paths.profile() == Profile("dev", state / "dev")

    def test_is_the_one_the_environment_names(self, monkeypatch: pytest.MonkeyPatch, state: Path):
        monkeypatch.setenv("BALLAST_PROFILE", "blue")

        assert paths.profile() == Profile("blue", state / "blue")

    @pytest.mark.parametrize("name", ["../dev", "Dev", "a b", "-x", ".", "x" * 33])
    def test_refuses_a_name_that_is_no_plain_folder(self, name: str):
        with pytest.raises(DevstackError, match="is not a profile name"):
            paths.profile(name)

    def test_refuses_a_folder_the_servers_cannot_enter(self, state: Path):
        if server_account() is None:
            pytest.skip("without root the servers are this account")
        state.chmod(0o700)

        with pytest.raises(DevstackError, match="cannot enter"):
            paths.profile()

        assert stat.S_IMODE(state.stat().st_mode) == 0o700


class TestDerivedProfileName:
    def test_follows_the_chosen_copy(self, monkeypatch: pytest.MonkeyPatch):
        assert paths.derived_profile_name("test") == "test"
        monkeypatch.setenv("BALLAST_PROFILE", "blue")
        assert paths.derived_profile_name("test") == "blue-test"


class TestSockets:
    def test_stay_in_the_profile_where_the_path_is_short(self):
        assert Profile("dev", Path("/srv/b/dev")).sockets == Path("/srv/b/dev/sockets")

    def test_move_to_a_short_path_that_every_command_finds(self):
        deep = Profile("dev", Path("/srv") / ("deep" * 30) / "dev")
        other = Profile("blue", Path("/srv") / ("deep" * 30) / "blue")

        assert deep.sockets == deep.sockets
        assert deep.sockets != other.sockets
        assert len(str(deep.sockets / paths.LONGEST_SOCKET_NAME)) < paths.SOCKET_PATH_MAX
