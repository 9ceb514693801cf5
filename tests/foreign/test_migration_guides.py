"""The guides "From ...": both programs of a guide print what the guide shows, and read each other's items. Both
programs store the same items, except for spaces in JSON strings.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import types
from itertools import pairwise
from typing import Any

import pytest

from keyplan import Design
from tests.foreign.conftest import RunProgram
from tests.foreign.packages import missing
from tests.repository.examples import blocks_of
from tests.repository.files import ROOT
from tests.server.support import Server

PAGES = ["electrodb", "dynamodb-toolbox", "onetable", "pynamodb", "boto3"]
OWN_CLOCK = {"_ct", "_md", "created", "updated"}
"""Attributes with the time of the run."""


class Page:
    """The two programs of a guide and the output that the guide shows."""

    def __init__(self, name: str) -> None:
        blocks = blocks_of(ROOT / "docs" / f"from-{name}.md")
        shown = {block.line: after.text for block, after in pairwise(blocks) if after.follows}
        self.before = next(block for block in blocks if block.language in {"js", "py"})
        self.after = next(block for block in blocks if block.language == "python")
        self.shown_before = shown[self.before.line]
        self.shown_after = shown[self.after.line]

    def design(self) -> type[Design]:
        """Return the design of the Keyplan program."""
        return next(
            value
            for value in self._run(":memory:")[0].values()
            if isinstance(value, type) and issubclass(value, Design) and value is not Design
        )

    def run_after(self, url: str) -> str:
        """Run the Keyplan program on a store."""
        return self._run(url)[1]

    def _run(self, url: str) -> tuple[dict[str, Any], str]:
        module = types.ModuleType(f"page_{self.after.line}")
        sys.modules[module.__name__] = module
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(self.after.text.replace('":memory:"', repr(url)), vars(module))
        finally:
            del sys.modules[module.__name__]
            for var in vars(module).values():
                if isinstance(var, Design):
                    var.close()
        return vars(module), printed.getvalue()


def items(server: Server, table: str) -> list[dict[str, Any]]:
    """Return all items of a table, without attributes that depend on the time."""
    result: list[dict[str, Any]] = server.call("Scan", {"TableName": table})["Items"]
    return [
        {name: _in_one_order(value) for name, value in item.items() if name not in OWN_CLOCK and not _unique(item)}
        for item in result
    ]


def _unique(item: dict[str, Any]) -> bool:
    return item.get("_type") == {"S": "_Unique"}


def _in_one_order(value: dict[str, Any]) -> dict[str, Any]:
    ((tag, element),) = value.items()
    if tag in {"SS", "NS", "BS"}:
        return {tag: sorted(element)}
    return {tag: json.loads(element)} if tag == "S" and element.startswith("{") else {tag: element}


@pytest.mark.parametrize("name", PAGES)
def test_programs_of_a_migration_guide_store_the_same_items(name: str, server: Server, run_program: RunProgram) -> None:
    page = Page(name)
    why = missing() if page.before.language == "js" else None
    if why is not None:
        pytest.skip(why)
    request = page.design().compiled.table.create_request()
    table = request["TableName"]
    url = f"dynamodb+http://{server.url.removeprefix('http://')}/{table}"
    server.call("CreateTable", request)
    assert run_program(page.before.language, page.before.text) == page.shown_before
    written = items(server, table)
    assert page.run_after(url) == page.shown_after
    assert items(server, table) == written
    assert run_program(page.before.language, page.before.text) == page.shown_before
    assert page.run_after(url) == page.shown_after
