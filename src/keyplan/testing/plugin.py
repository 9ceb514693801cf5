"""A pytest plugin, loaded by its entry point, whose fixture ``design`` opens a design on each store.

::

    def test_articles(design: Cms) -> None:
        design.put(Article(...))

runs three times, each with an empty store: in memory, in a file, and on Keyplan's server over HTTP. The annotation
names the design's class; for tests without it, define a fixture ``design_class`` that returns the class. ``-k memory``
selects a store, as does ``@pytest.mark.parametrize("design", ["memory"], indirect=True)``.

Only this module is imported before a test uses a fixture.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import pytest

if TYPE_CHECKING:
    from keyplan import Design


STORES = ("memory", "file", "server")

_SERVER = """
from keyplan.store.server import Settings, serve
serve(Settings(db=":memory:", port=0), lambda port: print(port, flush=True))
"""
_numbers = itertools.count()


@pytest.fixture
def design_class(request: pytest.FixtureRequest) -> type[Design]:
    """A test's design, from the annotation of its parameter ``design``. Override the fixture to use another design."""
    from keyplan import Design  # noqa: PLC0415 - only for tests that use this fixture

    try:
        result: Any = get_type_hints(request.function).get("design")
    except NameError:
        result = None
    if isinstance(result, type) and issubclass(result, Design) and result is not Design:
        return result
    raise pytest.UsageError(
        f"{request.node.nodeid}: annotate the parameter (design: YourDesign), or define a fixture design_class that "
        "returns the class"
    )


@pytest.fixture(scope="session")
def keyplan_server() -> Generator[str]:
    """The address, HOST:PORT, of Keyplan's server in a separate process."""
    pytest.importorskip("httptools", reason='the store "server" requires an extra: pip install keyplan[server]')
    command = [sys.executable, "-c", _SERVER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - a constant program
        try:
            assert process.stdout is not None  # noqa: S101
            yield f"127.0.0.1:{process.stdout.readline().strip()}"
        finally:
            process.terminate()


@pytest.fixture(params=STORES)
def design(request: pytest.FixtureRequest, design_class: type[Design], tmp_path: Path) -> Generator[Design]:
    """Open the design on an empty store: in memory, in a file, and on a server."""
    from keyplan.testing.stores import open_test_store  # noqa: PLC0415

    def served() -> Design:
        address: str = request.getfixturevalue("keyplan_server")
        return design_class.open(f"dynamodb+http://{address}/test-{os.getpid()}-{next(_numbers)}", create=True)

    openers: dict[str, Callable[[], Design]] = {
        "memory": lambda: open_test_store(design_class),
        "file": lambda: open_test_store(design_class, tmp_path / "store.db"),
        "server": served,
    }
    if request.param not in openers:
        raise pytest.UsageError(f"unknown store {request.param!r}: use {', '.join(openers)}")
    with openers[request.param]() as result:
        yield result
