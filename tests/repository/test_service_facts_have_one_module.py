"""Each of these facts about DynamoDB is defined in one module, and other modules import the fact."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src/keyplan"

HOMES: dict[str, set[str]] = {
    "AWS4-HMAC-SHA256": {"dynamodb/signing.py"},
    "aws4_request": {"dynamodb/signing.py"},
    "RequestLimitExceeded": set(),
    "ProvisionedThroughputExceeded": {"dynamodb/service_errors.py"},
    "ThrottlingError": {"dynamodb/service_errors.py"},
    "ProvisionedThroughputExceededException": set(),
    "ThrottlingException": {"store/server/responses.py"},
}
"""Strings, and the modules that may define them: none for an error type, which is its class's name."""


def constants(source: str) -> Iterator[str]:
    """Return the string constants of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize("text", HOMES)
def test_each_string_of_the_dynamodb_protocol_is_defined_in_one_module(text: str) -> None:
    """Other modules import the names of SigV4 and of throttling errors."""
    holders = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if text in path.read_text(encoding="utf-8") and text in set(constants(path.read_text(encoding="utf-8")))
    }
    assert holders == HOMES[text]


def test_the_maximum_item_size_is_defined_in_one_module() -> None:
    """``limits.py`` defines it, and ``updates.py`` derives the maximum number of members in an update from 400 KB."""
    spelt = ("400 * 1024", "400 * KIB", "409_600", "409600")
    holders = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if any(each in path.read_text(encoding="utf-8") for each in spelt)
    }
    assert holders == {"dynamodb/limits.py", "dynamodb/expressions/updates.py"}
