"""The OpenAPI document is valid, and describes the responses of the API."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from keyplan import Design
from keyplan.web.openapi import openapi
from tests.web.library import Library
from tests.web.support import TestClient

SYSTEMS = ("Blog", "Cms", "Papers", "Shop", "Social")


def design(name: str) -> type[Design]:
    if name == "Library":
        return Library
    design_class: type[Design] = getattr(importlib.import_module(f"keyplan_systems.{name.lower()}.design"), name)
    return design_class


@pytest.mark.parametrize("name", [*SYSTEMS, "Library"])
def test_the_openapi_document_of_every_design_is_valid(name: str) -> None:
    compiled = design(name).compiled
    document = openapi(compiled)
    OpenAPIV31SpecValidator(document).validate()
    operations = [value for path in document["paths"].values() for value in path.values()]
    assert [operation["operationId"] for operation in operations] == list(compiled.patterns)
    assert [operation["x-keyplan"]["id"] for operation in operations] == [
        pattern.id for pattern in compiled.patterns.values()
    ]


@pytest.fixture
def document(http: TestClient) -> dict[str, Any]:
    result: dict[str, Any] = http.get("/openapi.json").json()
    return result


def test_openapi_operations_match_the_signatures_of_their_patterns(document: dict[str, Any]) -> None:
    on_shelf = document["paths"]["/api/on_shelf"]["get"]
    assert on_shelf["summary"] == "The books on a shelf, by title."
    assert on_shelf["tags"] == ["reads"]
    assert [(parameter["name"], parameter["required"]) for parameter in on_shelf["parameters"]] == [
        ("shelf", True),
        ("title", False),
        ("limit", False),
        ("cursor", False),
    ]
    assert on_shelf["parameters"][2]["schema"] == {"type": "integer", "minimum": 1, "maximum": 1000, "default": 10}
    assert on_shelf["x-keyplan"] == {
        "id": "L4",
        "operation": "Query",
        "index": "BY_SHELF",
        "key_condition": 'shelf_pk = SHELF#{shelf}, begins_with(shelf_sk, "{title}")',
    }
    add_book = document["paths"]["/api/add_book"]["post"]
    assert add_book["summary"] == "Add a book."
    assert add_book["description"] == "The book must not exist yet."
    assert set(add_book["responses"]) == {"200", "400", "404", "409", "413", "415", "503"}
    assert set(document["paths"]["/api/remove_book"]["post"]["responses"]) >= {"204"}
    priced = document["paths"]["/api/priced"]["get"]["parameters"]
    assert [value["name"] for value in priced[1:5]] == [f"price_cents.{bound}" for bound in ("ge", "gt", "le", "lt")]
    assert priced[0]["schema"] == {"$ref": "#/components/schemas/Kind"}
    books = document["paths"]["/api/books"]["get"]["parameters"][0]
    assert (books["schema"]["type"], books["explode"]) == ("array", True)


QUERIES = [
    ("book", "isbn=i0"),
    ("book", "isbn=none"),
    ("book_there", "isbn=i1"),
    ("books", "isbn=i1&isbn=i2"),
    ("on_shelf", "shelf=c%23&limit=1"),
    ("on_shelves", "shelf=c%23"),
    ("priced", "kind=novel"),
    ("with_copies", "isbn=i0"),
    ("with_newest", "isbn=i1"),
    ("loans", "reader_id=r%231"),
    ("reader_by_email", "email=x"),
    ("books_lent", "reader_id=r%231"),
    ("events", "day=2026-03-01"),
    ("copy", "isbn=i0&number=1"),
    ("copy", "isbn=i0&number=one"),
    ("expensive", "least=1"),
]


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(("pattern", "query"), QUERIES)
def test_responses_of_reads_match_the_openapi_document(
    http: TestClient, document: dict[str, Any], pattern: str, query: str
) -> None:
    answer = http.get(f"/api/{pattern}?{query}")
    responses = document["paths"][f"/api/{pattern}"]["get"]["responses"]
    check(document, responses, answer)


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    ("pattern", "body"),
    [
        ("add_book", {"book": {"isbn": "n", "title": "N", "weight": "1.5", "bought_at": "2026-01-01T00:00:00Z"}}),
        ("add_book", {"book": {"isbn": "i1", "title": "N"}}),
        ("add_book", {"buch": 1}),
        ("add_copies", {"isbn": "1", "numbers": [1]}),
        ("register", {"reader": {"reader_id": "9", "email": "9"}}),
        ("lend", {"isbn": "i0", "reader_id": "9", "at": "2026-01-01T00:00:00Z"}),
        ("count_pages", {"sizes": {"a": "big"}}),
    ],
)
def test_responses_of_writes_match_the_openapi_document(
    http: TestClient, document: dict[str, Any], pattern: str, body: Any
) -> None:
    operation = document["paths"][f"/api/{pattern}"]["post"]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    answer = http.post(f"/api/{pattern}", json=body)
    valid = not list(OAS31Validator({**schema, "components": document["components"]}).iter_errors(body))
    assert valid is (answer.status_code != 400)
    check(document, operation["responses"], answer)


def check(document: dict[str, Any], responses: dict[str, Any], answer: Any) -> None:
    response = responses[str(answer.status_code)]
    if "$ref" in response:
        response = document["components"]["responses"][response["$ref"].rpartition("/")[2]]
    schema = response["content"]["application/json"]["schema"]
    OAS31Validator({**schema, "components": document["components"]}).validate(answer.json())
