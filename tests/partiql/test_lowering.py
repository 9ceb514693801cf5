"""What each part of a statement is lowered to, or how it is refused: agreed upon; and the same by way of a template."""

from __future__ import annotations

import pytest

from keyplan.dynamodb.partiql import StatementFault, parse


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
