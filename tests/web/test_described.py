"""The page and the description of the tests' designs, as they were agreed upon; what pydantic says of types is left out
of the description, since its versions say it otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from keyplan import Design
from keyplan._version import __version__
from keyplan.plain.answers import pretty
from keyplan.web.openapi import ERROR, openapi
from keyplan.web.page import page
from tests.agreed import assert_agreed
from tests.contract.buckets import Timed
from tests.contract.design import Everything
from tests.export.designs import Odd
from tests.export.words import Words
from tests.studio.school import School
from tests.web.library import Library
from tests.web.test_policy import Readers

DESIGNS: tuple[type[Design], ...] = (Library, Everything, Words, Odd, School, Timed)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.__name__)
def test_a_design_is_described_as_it_was_agreed_upon(design: type[Design]) -> None:
    document = openapi(design.compiled)
    assert_agreed("\n".join(_described(document)))
    with design.open(":memory:", secret="s") as opened:
        assert_agreed(page(opened).replace(__version__, "VERSION"))
    told = {path: [*operation["responses"]] for path, each in document["paths"].items() for operation in each.values()}
    assert_agreed("\n".join(f"{path}: {' '.join(statuses)}" for path, statuses in told.items()))


def test_what_all_documents_have_is_as_it_was_agreed_upon() -> None:
    """Beside the operations, and with a policy."""
    for policy in (None, Readers()):
        document = openapi(Library.compiled, policy)
        assert document["info"].pop("version") == __version__
        schemas = document["components"].pop("schemas")
        document["components"]["schemas"] = {ERROR: schemas.pop(ERROR)}
        assert schemas
        document["paths"] = {
            path: {
                "responses": {status: each.get("$ref") for status, each in operation["responses"].items()},
                "security": operation.get("security"),
            }
            for path, operations in document["paths"].items()
            for operation in operations.values()
        }
        assert_agreed(pretty(document))


def _described(document: dict[str, Any]) -> Iterator[str]:
    """A line for each member of an operation, and for each parameter and response."""
    info = {name: value for name, value in document["info"].items() if name != "version"}
    yield f"{info} {sorted(document.get('components', ()))}"
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            yield f"{method} {path}"
            for name, value in _without_types(operation).items():
                if not isinstance(value, dict | list):
                    yield f"  {name}: {value}"
                    continue
                parts = (
                    value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
                )
                yield f"  {name}"
                yield from (f"    {key}: {part}" for key, part in parts if not str(key).startswith(("4", "5")))


def _without_types(value: Any) -> Any:
    match value:
        case dict():
            return {name: _without_types(part) for name, part in value.items() if name != "schema"}
        case list():
            return [_without_types(part) for part in value]
        case _:
            return value
