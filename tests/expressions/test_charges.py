"""The bytes that an update's statement is charged with, against sums that are written out."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.dynamodb.expressions import ExpressionFault, Placeholders, bind_update, statement_bytes
from keyplan.dynamodb.expressions.parser import Parser
from keyplan.dynamodb.expressions.paths import resolve

UPDATE, WRITING, REMOVING, STEP_WRITTEN, READING, STEP_READ = 3, 19, 1, 4, 1, 14
VALUES: dict[str, Any] = {":s": {"S": "xyz"}, ":n": {"N": "1"}, ":l": {"L": [{"S": "ab"}]}}
TEXT, NUMBER, LIST = 3, 2, 3 + 1 + 2


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("SET a = :s", UPDATE + WRITING + TEXT + len("a")),
        ("SET abc = :n", UPDATE + WRITING + NUMBER + len("abc")),
        ("SET a.bc[10] = :s", UPDATE + WRITING + TEXT + 2 * STEP_WRITTEN + len("abc10")),
        ("SET a = b", UPDATE + WRITING + READING + STEP_READ + len("b") + len("a")),
        ("SET a = b.cde[2]", UPDATE + WRITING + READING + 3 * STEP_READ + len("bcde2") + len("a")),
        ("SET a = b + :n", UPDATE + WRITING + 34 + READING + STEP_READ + len("b") + NUMBER + len("a")),
        ("SET a = :n - b", UPDATE + WRITING + 37 + READING + STEP_READ + len("b") + NUMBER + len("a")),
        ("SET a = list_append(b, :l)", UPDATE + WRITING + 37 + READING + STEP_READ + len("b") + LIST + len("a")),
        ("SET a = if_not_exists(b, :s)", UPDATE + WRITING + 39 + READING + STEP_READ + len("b") + TEXT + len("a")),
        ("ADD a :n", UPDATE + WRITING + NUMBER + len("a")),
        ("REMOVE a.b, cd", UPDATE + 2 * REMOVING + STEP_WRITTEN + len("ab") + len("cd")),
        ("DELETE ab :s", UPDATE + REMOVING + len("ab")),
        ("SET a = :s, b = :n REMOVE c", UPDATE + 2 * WRITING + TEXT + NUMBER + REMOVING + len("abc")),
        ("SET #x = :s", UPDATE + WRITING + TEXT + len("äö".encode())),
    ],
)
def test_sizes(text: str, size: int) -> None:
    given = Placeholders({"#x": "äö"} if "#" in text else None, VALUES)
    actions = Parser(text).update().actions
    assert statement_bytes(actions, [resolve(action.path, given) for action in actions], given) == size


def test_an_update_has_300_operators_at_most() -> None:
    """Each action is one, and so is what it reckons with."""
    sums = [f"a{number} = b + :n" for number in range(150)]
    bind_update(f"SET {', '.join(sums)}", Placeholders(None, VALUES), "")
    with pytest.raises(ExpressionFault, match="operators"):
        bind_update(f"SET {', '.join([*sums, 'c = :n'])}", Placeholders(None, VALUES), "")
