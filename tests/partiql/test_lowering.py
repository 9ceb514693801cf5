"""What each part of a statement is lowered to, or how it is refused: agreed upon; and the same by way of a template."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.dynamodb.expressions import tree
from keyplan.dynamodb.partiql import StatementFault, parse
from keyplan.dynamodb.partiql.statement_requests import Lowering
from keyplan.dynamodb.partiql.syntax import Select
from tests.partiql.statement_cases import shown

PARAMETERS: list[dict[str, Any]] = [{"S": "p"}, {"NS": ["1"]}, {"L": []}, {"BS": ["QQ=="]}]


def lowered(lowering: Lowering, part: Any) -> str:
    """What a part came to, with what stands behind its placeholders."""
    return f"{shown(part)} {lowering._names or ''} {lowering._values or ''}".rstrip()


def test_what_an_operand_is() -> None:
    lowering = Lowering(PARAMETERS)
    statement = parse("SELECT * FROM t WHERE a = 'x' AND b.c = ? AND d[0] = size(e)")
    assert isinstance(statement, Select)
    assert statement.where is not None
    condition = lowering.condition(statement.where)
    assert isinstance(condition, tree.And)
    first, second, third = condition.conditions
    assert isinstance(first, tree.Compare)
    assert isinstance(second, tree.Compare)
    assert isinstance(third, tree.Compare)
    assert [lowering.name(each.left) for each in (first, second, third)] == ["a", None, None]
    assert [lowering.content(each.right) for each in (first, second, third)] == [{"S": "x"}, {"S": "p"}, None]
    assert [lowering.name(each.right) for each in (first, second, third)] == [None, None, None]
    assert lowering.names() == ("a", "b", "c", "d", "e")
    assert lowering.name_path("f") == tree.Path(("#5",))


@pytest.mark.parametrize(
    ("begin", "inner", "end"),
    [("f(", "a", ")"), ("(", "a", ")"), ("[", "a", "]"), ("{'a': ", "b", "}"), ("<<", "1", ">>")],
)
@pytest.mark.parametrize("beside", ["f(a)", "(a)", "[a]", "[]", "f()", "1 + 2", "<<1>>", "{'a': 1}"])
def test_what_stands_beside_makes_nothing_deeper_or_less_deep(begin: str, inner: str, end: str, beside: str) -> None:
    def statement(depth: int) -> str:
        others = " AND ".join([f"a = {beside}"] * 40)
        return f"SELECT * FROM t WHERE {others} AND a = {begin * depth}{inner}{end * depth}"

    parse(statement(64))
    with pytest.raises(StatementFault, match="nested too deeply"):
        parse(statement(65))


@pytest.mark.parametrize("digits", ["9" * 11, "9" * 5000])
@pytest.mark.parametrize("sign", ["", "-", "+"])
def test_an_exponent_of_many_digits_is_no_number(digits: str, sign: str) -> None:
    with pytest.raises(StatementFault):
        parse(f"SELECT * FROM t WHERE a = 1e{sign}{digits}")
