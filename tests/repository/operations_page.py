"""Generates docs/operations.md: each operation in botocore's model with the members of its request and response, and
whether Keyplan supports them. tests/engine/tour.py records which members responses have.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from keyplan.dynamodb.operations.registry import OPERATIONS
from keyplan.dynamodb.operations.shapes import ListOf, MapOf, Shape, Structure
from tests.engine.tour import Traveller, travel

session = pytest.importorskip("botocore.session")
Tree = dict[str, Any]
HEAD = """# DynamoDB operations

This page lists every operation of DynamoDB and DynamoDB Streams with its request and response members, and shows \
which of them the embedded store and its server support. `make docs` generates the page from botocore's service \
models and from a test that calls every operation.

- **Request**: the supported members. *Refused* members cause a `ValidationException` that names the members.
- **Response**: the members that the test received. *Not returned* members appear in other cases (a large batch, a \
failure), or never, because they describe features that the store doesn't have (archived tables, encryption keys).
"""


def page() -> str:
    """Return docs/operations.md in Markdown."""
    traveller = travel()
    parts = [HEAD]
    for service in ("dynamodb", "dynamodbstreams"):
        model = session.get_session().get_service_model(service)
        parts += [_section(name, model.operation_model(name), traveller) for name in model.operation_names]
    return "\n".join(parts)


def _section(name: str, model: Any, traveller: Traveller) -> str:
    lines = [f"## {name}", ""]
    operation = OPERATIONS.get(name)
    if operation is None:
        return "\n".join([*lines, "Not supported: `UnknownOperationException`.", ""])
    given = _model_tree(model.input_shape, frozenset())
    understood = _shape_tree(operation.request)
    refused: Tree = {member: {} for member in operation.not_there}
    lines += _lines("Request", _common(given, understood), "refused", _without(given, understood) | refused)
    answered = _model_tree(model.output_shape, frozenset()) if model.output_shape else {}
    if name not in traveller.answers and name in traveller.errors:
        lines += [f"Response: the error that AWS returns, `{traveller.errors[name]}`.", ""]
    else:
        known: Tree = {}
        for answer in traveller.answers.get(name, []) if answered else []:
            _note(model.output_shape, answer, known)
        lines += _lines("Response", _common(answered, known), "not returned", _without(answered, known))
    return "\n".join(lines)


def _lines(title: str, good: Tree, word: str, bad: Tree) -> list[str]:
    lines = [f"{title}: {_printed(good)}." if good else f"{title}: no members."]
    if bad:
        lines[0] = f"{lines[0]} *{word[0].upper()}{word[1:]}*: {_printed(bad)}."
    return [*lines, ""]


def _printed(tree: Tree) -> str:
    return ", ".join(f"`{name}`" + (f" ({_printed(inner)})" if inner else "") for name, inner in tree.items())


def _note(shape: Any, answer: Any, known: Tree) -> None:
    """Add the members of a response to the known members."""
    if shape.type_name == "list":
        for each in answer:
            _note(shape.member, each, known)
    elif shape.type_name == "map":
        for each in answer.values():
            _note(shape.value, each, known)
    elif shape.type_name == "structure" and shape.name != "AttributeValue":
        for name in answer.keys() & shape.members.keys():
            _note(shape.members[name], answer[name], known.setdefault(name, {}))


def _model_tree(shape: Any, above: frozenset[str]) -> Tree:
    if shape.type_name == "list":
        return _model_tree(shape.member, above)
    if shape.type_name == "map":
        return _model_tree(shape.value, above)
    if shape.type_name != "structure" or shape.name in above or shape.name == "AttributeValue":
        return {}
    return {name: _model_tree(member, above | {shape.name}) for name, member in sorted(shape.members.items())}


def _shape_tree(shape: Shape) -> Tree:
    match shape:
        case ListOf() | MapOf():
            return _shape_tree(shape.of)
        case Structure():
            return {name: _shape_tree(member) for name, member in shape.members.items()}
        case _:
            return {}


def _common(given: Mapping[str, Any], known: Mapping[str, Any]) -> Tree:
    """Return the members of the first tree that are also in the second tree."""
    return {name: _common(inner, known[name]) for name, inner in given.items() if name in known}


def _without(given: Mapping[str, Any], known: Mapping[str, Any]) -> Tree:
    """Return the members of the first tree, at any depth, that aren't in the second tree."""
    missing: Tree = {}
    for name, inner in given.items():
        if name not in known:
            missing[name] = {}
        elif within := _without(inner, known[name]):
            missing[name] = within
    return missing
