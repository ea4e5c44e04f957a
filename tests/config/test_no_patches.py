"""Tests try our own code as it is: they patch none of it.

A test may patch the standard library and other packages (time, sockets, Celery's client), override
settings, and make a limit of ours smaller or longer: an upper-case number, a time, or several.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
OURS = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}
PATCHES = {"setattr", "setitem", "delattr", "delitem", "object", "patch", "dict", "multiple"}
PATCHERS = {"monkeypatch", "patched", "patch", "mock"}

LEDGER_ALONE = "the ledger is judged without the rules of other apps"
# (file, what is patched): why it may be.
ALLOWED = {
    (
        "tests/conftest.py",
        "audits._checks",
    ): LEDGER_ALONE,
    (
        "tests/conftest.py",
        "audits._slices",
    ): LEDGER_ALONE,
    (
        "tests/conftest.py",
        "audits._wholes",
    ): LEDGER_ALONE,
    ("tests/conftest.py", "causes.check"): "the lines of its tests have no transfer behind them",
    ("tests/conftest.py", "knowledge._known"): "what this process knows of routes",
    ("tests/config/test_drift.py", "clock.datetime"): "the standard library's cannot be patched",
    (
        "tests/config/test_drift.py",
        "drift.guard",
    ): "what this process knows of its clock",
    ("tests/common/database/test_role_problems.py", "Wrapper._is_role_known"): (
        "what this process knows of its role"
    ),
    ("tests/common/engine/test_wakeups.py", "wakeups._broker_down"): (
        "what this process knows of its broker"
    ),
    ("tests/devstack/odfi/test_durability.py", "module.<name>"): (
        "the stand-in bank dies between two of its writes; the product is not in it"
    ),
    ("tests/crashes/bomb.py", "owner.<name>"): (
        "database calls are made as they are; the session ends before or after one of them"
    ),
}


def patches(tree: ast.AST) -> Iterator[tuple[int, str, str]]:
    """Each patch in a file: line, the object that is patched or its dotted path, the attribute."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args or not _is_patch(node.func):
            continue
        first = node.args[0]
        if isinstance(first, ast.Constant):
            owner, _, name = str(first.value).rpartition(".")
        else:
            given = node.args[1] if len(node.args) > 1 else None
            owner = ast.unparse(first)
            name = str(given.value) if isinstance(given, ast.Constant) else "<name>"
        yield node.lineno, owner, name


def _is_patch(called: ast.expr) -> bool:
    if isinstance(called, ast.Name):
        return called.id in {"setattr", "delattr", "patch"}
    if not isinstance(called, ast.Attribute) or called.attr not in PATCHES:
        return False
    owner = called.value
    return (owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", "")) in PATCHERS


def target(owner: str, module: ModuleType) -> Any:
    """The object that a test names; None for what only exists while it runs. A dotted path that the
    test gave as text begins with a package."""
    first, _, rest = owner.partition(".")
    found: Any = getattr(module, first, None)
    try:
        if found is None and rest:
            found = importlib.import_module(first)
        for name in rest.split(".") if rest else ():
            if not hasattr(found, name) and isinstance(found, ModuleType):
                importlib.import_module(f"{found.__name__}.{name}")
            found = getattr(found, name)
    except (ImportError, AttributeError):
        return None
    return found


def is_ours(found: Any) -> bool:
    if found is None:
        return True
    home = found if isinstance(found, ModuleType | type) else type(found)
    package = getattr(home, "__module__", None) or home.__name__
    if isinstance(found, ModuleType):
        package = found.__name__
    return package.partition(".")[0] in OURS


def is_limit(name: str, value: Any) -> bool:
    values = value if isinstance(value, tuple) else (value,)
    is_number = all(isinstance(each, int | float | timedelta) for each in values)
    return name.lstrip("_").isupper() and is_number


def broken_rules(path: Path) -> Iterator[str]:
    text = path.read_text()
    if not any(f"{name}(" in text for name in PATCHES):
        return
    file = path.relative_to(ROOT).as_posix()
    module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
    for line, owner, name in patches(ast.parse(text)):
        found = target(owner, module)
        if not is_ours(found) or (file, f"{owner}.{name}") in ALLOWED:
            continue
        if not is_limit(name, getattr(found, name, None)):
            yield f"{file}:{line} patches our own {owner}.{name}. Use the real cause instead."


def test_no_test_patches_our_own_code():
    files = [path for path in TESTS.rglob("*.py") if "fuzz" not in path.parts]

    assert [sentence for path in sorted(files) for sentence in broken_rules(path)] == []


@pytest.mark.parametrize("file", sorted({file for file, _ in ALLOWED}))
def test_what_is_allowed_is_still_there(file):
    found = {f"{owner}.{name}" for _, owner, name in patches(ast.parse((ROOT / file).read_text()))}

    assert {what for where, what in ALLOWED if where == file} <= found
