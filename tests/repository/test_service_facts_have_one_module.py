"""What DynamoDB decides stands in one module, ``keyplan.dynamodb``: who needs it imports it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src/keyplan"

HOMES = {
    "AWS4-HMAC-SHA256": {"dynamodb/signing.py"},
    "aws4_request": {"dynamodb/signing.py"},
    "RequestLimitExceeded": {"dynamodb/service_errors.py"},
    "ProvisionedThroughputExceeded": {"dynamodb/service_errors.py"},
    "ThrottlingError": {"dynamodb/service_errors.py"},
    "ProvisionedThroughputExceededException": {"dynamodb/service_errors.py"},
    "ThrottlingException": {"dynamodb/service_errors.py", "store/server/responses.py"},
}
"""Texts by the modules that may hold them as constants."""


def constants(source: str) -> Iterator[str]:
    """The texts that a module holds, apart from docstrings, which are never a text of one word."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize("text", HOMES)
def test_a_text_of_the_protocol_stands_once(text: str) -> None:
    """SigV4's names and the names of throttling errors are imported, not repeated."""
    holders = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if text in path.read_text(encoding="utf-8") and text in set(constants(path.read_text(encoding="utf-8")))
    }
    assert holders == HOMES[text]


def test_the_size_of_an_item_stands_once() -> None:
    """400 KB is written in ``dynamodb/limits.py`` only, however it is spelt."""
    spelt = ("400 * 1024", "400 * KIB", "409_600", "409600")
    holders = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if any(each in path.read_text(encoding="utf-8") for each in spelt)
    }
    assert holders == {
        "dynamodb/limits.py",
        "dynamodb/expressions/updates.py",
    }
