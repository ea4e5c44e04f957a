"""Names of files at a bank: which we touch, and which are temporary names of ours."""

from __future__ import annotations

import re
import secrets

from networks.ach.sftp.errors import BadName

NAME_MAX = 200  # characters; a temporary name is longer
SUFFIX_MAX = 20
FOLDER_MAX = 255
SHOWN_MAX = 80
TOKEN_BYTES = 6

# Printable ASCII without slashes, wildcards and quotes; neither hidden nor blank at an end.
_NAME = re.compile(rf"(?![. ])[ A-Za-z0-9._\-+=@#%~,()&$!^{{}}\[\]]{{1,{NAME_MAX}}}(?<! )")
_FOLDER = re.compile(r"/?[A-Za-z0-9_][A-Za-z0-9 ._\-]*(/[A-Za-z0-9_][A-Za-z0-9 ._\-]*)*")
_SUFFIX = re.compile(rf"\.[A-Za-z0-9]{{1,{SUFFIX_MAX}}}")


def is_usable(name: str) -> bool:
    """Whether a file of this name is touched. What is no such name could lead elsewhere, or could
    not be shown."""
    return _NAME.fullmatch(name) is not None


def is_folder(path: str) -> bool:
    """Whether this is a path of a folder; `/` and `.` are."""
    return path in ("/", ".") or (len(path) <= FOLDER_MAX and _FOLDER.fullmatch(path) is not None)


def is_suffix(text: str) -> bool:
    return _SUFFIX.fullmatch(text) is not None


def path(folder: str, name: str) -> bytes:
    """Where a file lies. Raises BadName."""
    if not is_usable(name):
        raise BadName(shown(name.encode(errors="replace")))
    return f"{folder.rstrip('/')}/{name}".encode()


def shown(name: bytes) -> str:
    """A name of any bytes in a form that can be shown and logged."""
    text = name[:SHOWN_MAX].decode("ascii", errors="backslashreplace")
    safe = "".join(each if each.isprintable() else f"\\x{ord(each):02x}" for each in text)
    return safe if len(name) <= SHOWN_MAX else f"{safe}… ({len(name)} bytes)"


def temporary(name: str, suffix: str) -> str:
    """A name under which a file is written before it gets its own. No two attempts share one."""
    return f"{name}.{secrets.token_hex(TOKEN_BYTES)}{suffix}"


def is_temporary_of(found: str, name: str, suffix: str) -> bool:
    """Whether an attempt to deliver `name` left a file of this name behind."""
    token = f"[0-9a-f]{{{2 * TOKEN_BYTES}}}"
    return re.fullmatch(re.escape(name) + r"\." + token + re.escape(suffix), found) is not None
