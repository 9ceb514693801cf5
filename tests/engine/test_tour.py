"""Every answer of the tour of all operations, member by member, as agreed upon."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.agreed import assert_agreed
from tests.engine.tour import START_S, travel

_LONG = 400
_PLACE = re.compile(r"(?<=, in )/[^\s\"]+")
_MADE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<=-)[0-9a-f]{8}\b|[0-9a-f]{32,}")
"""Ids that are made at random."""


def test_what_every_operation_answers_is_as_it_was_agreed_upon() -> None:
    """The clock has microseconds: what answers tell of them is theirs."""
    traveller = travel(start_s=START_S + 0.123456)
    for operation, answers in traveller.answers.items():
        shown = [json.dumps(_shortened(answer), indent=1, default=repr) for answer in answers]
        assert_agreed(_named("\n".join([operation, *dict.fromkeys(shown)])))
    assert_agreed("\n".join(f"{operation}: {error}" for operation, error in traveller.errors.items()))


def _shortened(value: Any) -> Any:
    """The answer with long texts told by their lengths."""
    match value:
        case dict():
            return {name: _shortened(element) for name, element in value.items()}
        case list():
            return [_shortened(element) for element in value]
        case str() if len(value) > _LONG:
            return f"{value[:20]}... ({len(value)})"
        case _:
            return value


def _named(text: str) -> str:
    """The text with a number for each id that was made at random, in the order of their first use."""
    numbers: dict[str, str] = {}
    made = _PLACE.sub("<folder>", text)
    return _MADE.sub(lambda match: numbers.setdefault(match[0], f"<{len(numbers) + 1}>"), made)
