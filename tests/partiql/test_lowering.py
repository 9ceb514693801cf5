"""What each part of a statement is lowered to, or how it is refused: agreed upon; and the same by way of a template."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.engine.statements import plan_of
from keyplan.expressions import tree
from keyplan.partiql import StatementFault, Template, parse
from keyplan.partiql.lowering import Lowering
from keyplan.partiql.parser import _TYPES as TYPES
from keyplan.partiql.syntax import Insert, Select, Update
from keyplan.values import ValueFault
from tests.agreed import assert_agreed
from tests.partiql.test_forms import CONDITIONS, STATEMENTS, shown

PARAMETERS: list[dict[str, Any]] = [{"S": "p"}, {"NS": ["1"]}, {"L": []}, {"BS": ["QQ=="]}]
COMPARED = tuple(
    pair
    for call in ("begins_with(a, 'x')", "BEGINS_WITH(a, 'x')", "size(a)", "never(a)", "attribute_exists(a)")
    for operator in ("=", "<>", "<")
    for constant in ("true", "false", "'x'", "NULL")
    for pair in (f"{call} {operator} {constant}", f"{constant} {operator} {call}")
)
FORMS = (
    *(
        'a."" = 1',
        '"" = 1',
        'a = ""',
        "a[''] = 1",
        "a IS MISSING",
        "a[0].b IS NOT MISSING",
        "5 IS MISSING",
        "? IS NULL",
    ),
    *("NOT a", "NOT 5", "NOT (a = 1)", "a AND b = 1", "a = 1 OR 5", "(a = 1) AND (b = 2)", "5", "a", "?", "size(a)"),
    *("a IN [1, 'x', ?]", "a IN [size(b)]", "5 IN [1]", "size(a) IN [1]", "a IN []", "a IN 5", "a IN {'b': 1}"),
    *("a IN <<1, 2>>", "a IN (1, 2)", "a IN [b]", "a IN [MISSING]", "a = MISSING", "a <> MISSING", "a = b + 1"),
    *("a BETWEEN ? AND ?", "a BETWEEN size(b) AND 5", "a LIKE 'x'", "contains(a, ?)", "contains(a, never(b))"),
    *(
        "attribute_type(a, 'S')",
        "attribute_not_exists(a.b)",
        "set_add(a, 1)",
        "begins_with(a, b, c)",
        "size(size(a)) = 1",
    ),
)
VALUES = (
    *(
        "1",
        "1.50",
        "-0",
        "-0.0",
        "0.0",
        "1e200",
        "-5e-140",
        "'x'",
        "true",
        "NULL",
        "MISSING",
        "?",
        "[]",
        "{}",
        "a",
        "a.b",
    ),
    *(
        "[1, 'x', [true]]",
        "[?]",
        "[[?]]",
        "{'a': ?}",
        "{'a': {'b': [1]}}",
        "{'a': 1, 'a': 2}",
        "{'a': {'b': 1, 'b': 2}}",
    ),
    *(
        "<<>>",
        "<<1, 2>>",
        "<<1, 1.0>>",
        "<<'x', 'y'>>",
        "<<'x', 'x'>>",
        "<<1, 'x'>>",
        "<<1, a>>",
        "<<'x', [1]>>",
        "<<?>>",
    ),
    *(
        "<<true>>",
        "<<1, -0.0>>",
        "<<1, 1e200>>",
        "[<<1>>]",
        "[<<>>]",
        "[a]",
        "[f(a)]",
        "f(a)",
        "a + 1",
        "a = 1",
        "[a + 1]",
    ),
    *("[1 = 2]", "a IN [1]", "[a IN [1]]", "a AND b", "[*]", "[MISSING]", "[-0.0]", "[1e200]", "{'': 1}", "<<{}>>"),
    *("a BETWEEN 1 AND 2", "NOT a = 1", "(1, 2)", "a IS NULL", "[a IS NULL]"),
)
CHANGES = (
    *(
        "SET a = 1",
        "SET a.b = ?, c[0] = ?",
        "SET a = b",
        "SET a = b + 1",
        "SET a = b - ?",
        "SET a = b * 2",
        "SET a = 1 + 2",
    ),
    *("SET a = list_append(b, [1])", "SET a = LIST_APPEND(b, ?)", "SET a = if_not_exists(b, 5)", "SET a = never(b)"),
    *("SET a = size(b)", "SET a = begins_with(b, 'x')", "SET a = b IS NULL", "SET a = MISSING", "SET a = b + MISSING"),
    *(
        "SET a = set_add(a, <<1>>)",
        "SET a = SET_DELETE(a, <<'x'>>)",
        "SET a = set_add(b, <<1>>)",
        "SET a = set_add(a, 1)",
    ),
    *(
        "SET a = set_add(a)",
        "SET a = set_add(a, <<1>>, 2)",
        "SET a = set_add(1, <<1>>)",
        "SET a.b = set_delete(a.b, <<1>>)",
    ),
    *("SET b = 1 SET a = set_add(a, [1])", "REMOVE a", "REMOVE a.b[1] REMOVE c", "SET a = 1 REMOVE b", 'SET a."" = 1'),
    *(
        "SET a = [?]",
        "SET a = {'b': -0.0}",
        "SET a = <<1, 1>>",
        "SET a = b + never(c)",
        "SET a = list_append(b, c + 1)",
    ),
)


def lowered(lowering: Lowering, part: Any) -> str:
    """What a part came to, with what stands behind its placeholders."""
    return f"{shown(part)} {lowering._names or ''} {lowering._values or ''}".rstrip()


def told(make: Any) -> str:
    try:
        result: str = make()
    except (StatementFault, ValueFault) as fault:
        return f"! {fault}"
    return result


def of_where(text: str) -> str:
    try:
        statement = parse(f"SELECT * FROM t WHERE {text}")
    except StatementFault as fault:
        return f"! {fault}"
    assert isinstance(statement, Select)
    where = statement.where
    assert where is not None
    plain = Lowering(PARAMETERS)
    result = told(lambda: lowered(plain, plain.condition(where)))
    try:
        filled = Template(where).filled(PARAMETERS)
    except (StatementFault, ValueFault):
        assert result[0] == "!" or "?" in text
    else:
        assert result == lowered(filled, filled.condition(where))
        assert filled.given()._unused_names.keys() == plain._names.keys()
        assert filled.given()._unused_values.keys() == plain._values.keys()
        assert list(filled.names()) == list(plain.names())
    return result


@pytest.mark.parametrize("forms", [CONDITIONS, FORMS, COMPARED, tuple(f"a IS {name}" for name in sorted(TYPES))])
def test_conditions(forms: tuple[str, ...]) -> None:
    assert_agreed("\n".join(f"{text}\n  {of_where(text)}" for text in forms))


def of_item(text: str) -> str:
    insert = parse(f"INSERT INTO t VALUE {text}")
    assert isinstance(insert, Insert)
    return repr(Lowering(PARAMETERS).item(insert.value))


def test_values() -> None:
    texts = [each for text in VALUES for each in (f"{{'k': {text}}}", text)]
    assert_agreed("\n".join(f"{text}\n  {told(lambda given=text: of_item(given))}" for text in texts))


def of_changes(text: str) -> str:
    statement = parse(f"UPDATE t {text} WHERE k = 1")
    assert isinstance(statement, Update)
    changes = statement.changes
    plain = Lowering(PARAMETERS)
    result = told(lambda: lowered(plain, plain.update(changes)))
    try:
        template = Template(changes=changes)
    except (StatementFault, ValueFault):
        assert result[0] == "!" or "?" in text
        return result
    filled = template.filled(PARAMETERS)
    assert result == lowered(filled, filled.update(changes))
    assert template.changed is not None
    assert template.where is None
    return result


def test_updates() -> None:
    assert_agreed("\n".join(f"{text}\n  {told(lambda given=text: of_changes(given))}" for text in CHANGES))


def test_what_is_known_of_a_text_before_its_parameters_are() -> None:
    """All but what a set's or a list's parameter decides, and what is inserted: the rest takes the short way."""
    readable: list[str] = []
    for text in (
        *STATEMENTS,
        "SELECT a.b, c FROM t",
        "SELECT a FROM t WHERE b = 1",
        "DELETE FROM t WHERE a = ?",
        "UPDATE t SET a = ? WHERE b = ?",
        "UPDATE t SET a = [?] WHERE b = 1",
        "EXISTS(SELECT * FROM t WHERE a = ?)",
        'SELECT a."" FROM t',
    ):
        try:
            parse(text)
        except StatementFault:
            continue
        plan = plan_of(text)
        where = plan is not None and plan.template.where is not None
        changed = plan is not None and plan.template.changed is not None
        readable.append(f"{text!r}: {'not before' if plan is None else (where, changed)}")
    assert_agreed("\n".join(readable))


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
