"""A server that several tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.support import CREATE, TABLE, Server, s, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server on a file that contains a table of thirty items."""
    with serving(str(tmp_path_factory.mktemp("server") / "store.db")) as running:
        running.call("CreateTable", CREATE)
        for number in range(30):
            item = {"pk": s("a"), "sk": s(f"{number:03d}"), "g": s("g"), "note": s("n" * 100)}
            running.call("PutItem", {"TableName": TABLE, "Item": item})
        yield running
