"""What is made of each way in which the runs of a write end; and the shapes of expressions in its code."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from keyplan.analysis.rehearsal.account import Account, Accounts
from keyplan.analysis.rehearsal.code import WrittenCode
from keyplan.analysis.rehearsal.sources import Sources, is_authors, unwrapped
from keyplan.analysis.rehearsal.trials import Tried
from tests.rehearsal import test_code
from tests.rehearsal.test_code import Things

DESIGN = Things.compiled


def account(tried: Tried | None, name: str = "put_one", **code: Any) -> Account:
    pattern = DESIGN.writes[name]
    return Account(DESIGN, pattern, WrittenCode(pattern, known=True, **code), tried)


def test_a_write_is_run_only_where_its_code_says_too_little() -> None:
    accounts = Accounts(DESIGN, Things)
    pattern = DESIGN.writes["put_one"]
    assert accounts.unrun(pattern).tried is None
    code = WrittenCode(pattern, known=True)
    for given, is_run in ((code, True), (WrittenCode(pattern, mentioned={"Put": None}), True)):
        other = Accounts(DESIGN, Things)
        other.code = lambda _, given=given: given  # type: ignore[method-assign,misc]
        assert (other.unrun(pattern).tried is not None) is is_run
        assert other.of(pattern) is other.of(pattern)
    assert Accounts(DESIGN, None).of(pattern).tried is None


def test_where_functions_and_members_stand() -> None:
    sources = Sources()
    pattern = DESIGN.writes["put_one"]
    code = unwrapped(pattern.function)
    assert code is not None
    node = sources.function(code)
    assert node is not None
    end = node.end_lineno or 0
    for line, wanted in (
        (node.lineno, node.lineno), (end, end), (end + 1, node.lineno), (node.lineno - 1, node.lineno),
        (None, node.lineno),
    ):  # fmt: skip
        found = sources.of_function(code, line)
        assert found is not None
        assert found.line == wanted
    written = Path(test_code.__file__).read_text(encoding="utf-8").splitlines()
    for name in ("Things.table", "Things", "Item.number", "Item.primary", "Things.put_one", "Things.nothing"):
        source = sources.named(test_code.__file__, name)
        assert source is not None
        text = written[source.line - 1]
        head, _, member = name.partition(".")
        wanted_text = {"": f"class {head}", "nothing": f"class {head}", "put_one": "def put_one"}.get(member, member)
        assert wanted_text in text
    assert sources.named(test_code.__file__, "Nobody.table") is None
    assert sources.named("/nonexistent.py", "Things") is None
    assert sources.of_class(int) is None
    assert unwrapped(3) is None
    assert unwrapped(len) is None


def test_whose_functions_are_followed() -> None:
    functions: list[tuple[Callable[..., Any], str, bool]] = [
        (account, "tests", True), (account, "other", True), (json.dumps, "tests", False),
        (ast.walk, "tests", True), (Accounts.of, "tests", False),
        (Accounts.of, "keyplan", False), (product_of, "other", True),
    ]  # fmt: skip
    for function, package, wanted in functions:
        assert is_authors(function, package) is wanted, function


def product_of(a: int) -> int:
    return a
