"""What each form of a statement is read as, or how it is refused: agreed upon."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from keyplan.partiql import StatementFault, parse
from keyplan.partiql.syntax import Place
from tests.agreed import assert_agreed

CONDITIONS = (
    *("a = 1", "1 = a", "a <> 1", "a != 1", "a < 1", "a <= 1", "a > 1", "a >= 1", "a = b", "a = ?", "? = ?"),
    *(
        "a = 1 AND b = 2 OR c = 3",
        "a = 1 OR b = 2 AND c = 3",
        "(a = 1 OR b = 2) AND c = 3",
        "NOT a = 1",
        "NOT NOT a = 1",
    ),
    *("NOT NOT NOT a = 1", "NOT (a = 1 AND b = 2)", "NOT a = 1 AND b = 2", "a NOT IN [1]", "a NOT BETWEEN 1 AND 2"),
    *("a NOT LIKE 'x'", "a LIKE 'x'", "a IN [1, 2]", "a IN (1, 2)", "a IN (1)", "a IN <<1, 2>>", "a IN []", "a IN ()"),
    *("a IN 1", "a IN ?", "a IN [?, ?]", "a BETWEEN 1 AND 2", "a BETWEEN 1 OR 2", "a BETWEEN 1", "a IS MISSING"),
    *("a IS NOT MISSING", "a IS NULL", "a IS STRING", "a IS DOUBLE", "a IS DOUBLE PRECISION", "a IS CHARACTER VARYING"),
    *(
        "a IS CHARACTER",
        "a IS NOT",
        "a IS 5",
        "a IS 'STRING'",
        "size(a) > 1",
        "size(a, b) > 1",
        "size() > 1",
        "size(a)",
    ),
    *("begins_with(a, 'x')", "BEGINS_WITH(a, 'x')", "begins_with(a, 'x') = true", "begins_with(a, 'x') = false"),
    *("contains(a, ?)", "attribute_type(a, 'S')", "attribute_exists(a)", "attribute_not_exists(a)", "never(a)"),
    *("EXISTS(SELECT * FROM t WHERE a = 1)", "a.b = 1", "a[0] = 1", "a[0].b[1] = 1", "a['b'] = 1", "a['5'] = 1"),
    *('a["b"] = 1', '"a"."b" = 1', '"a""b" = 1', "a[1.5] = 1", "a[-1] = 1", "a[-'x'] = 1", "a[x] = 1", "a[] = 1"),
    *("a[ = 1", "a. = 1", "a.5 = 1", "a.'b' = 1", "a[2147483647] = 1", "a[2147483648] = 1", "a = 'it''s'", "a = -1"),
    *(
        "a = - 1",
        "a = --1",
        "a = +1",
        "a = 1.50",
        "a = .5",
        "a = 1e5",
        "a = -2.5E-3",
        "a = true",
        "a = FALSE",
        "a = NULL",
    ),
    *(
        "a = MISSING",
        "a = [1, [2], {'b': 3}]",
        "a = {}",
        "a = {'b': ?}",
        "a = {b: 1}",
        "a = {'b': 1, 'b': 2}",
        "a = [1,]",
    ),
    *("a = <<1, 2>>", "a = <<'x'>>", "a = <<>>", "a = (1, 2)", "a = (1)", "a = ()", "a + 1 = 2", "a = b + 1", "a ="),
    *(
        "a",
        "= 1",
        "AND a = 1",
        "a = 1 AND",
        "a = 1 OR",
        "NOT",
        "(a = 1",
        "a = 1)",
        "()",
        "a = 1 b = 2",
        "a = 1;",
        "a = 1;;",
    ),
    *(
        "a = 1 -- why",
        "a = /* why */ 1",
        "a = 1 /* why",
        "a == 1",
        "a => 1",
        "a | 1",
        "a || 'x' = 'y'",
        "a = 'x",
        '"a = 1',
    ),
    *(
        "a = 1 = 2",
        "a < 1 < 2",
        "a IN [1] IN [2]",
        "a = 1 IS MISSING",
        "a BETWEEN 1 AND 2 AND b = 1",
        "TRUE",
        "?",
        "size",
    ),
)
STATEMENTS = (
    *("SELECT * FROM t", "select * from t", "SELECT a FROM t", "SELECT a, b.c, d[0] FROM t", "SELECT a, * FROM t"),
    *("SELECT FROM t", "SELECT *, a FROM t", "SELECT a AS b FROM t", "SELECT a b FROM t", "SELECT size(a) FROM t"),
    *("SELECT 1 FROM t", "SELECT 'a' FROM t", "SELECT a, FROM t", "SELECT a FROM", "SELECT a", "SELECT * FROM t.i"),
    *(
        'SELECT * FROM "t"."i"',
        'SELECT * FROM "t.i"',
        "SELECT * FROM t.i.j",
        "SELECT * FROM t AS x",
        "SELECT * FROM t x",
    ),
    *("SELECT * FROM t, u", "SELECT * FROM t[0]", "SELECT * FROM 't'", "SELECT * FROM ?", "SELECT * FROM (t)"),
    *("SELECT * FROM t WHERE", "SELECT * FROM t ORDER BY a", "SELECT * FROM t ORDER BY a ASC, b DESC"),
    *(
        "SELECT * FROM t ORDER a",
        "SELECT * FROM t ORDER BY",
        "SELECT * FROM t ORDER BY a,",
        "SELECT * FROM t ORDER BY a UP",
    ),
    *(
        "SELECT * FROM t WHERE a = 1 ORDER BY a DESC",
        "SELECT * FROM t ORDER BY a WHERE a = 1",
        "SELECT * FROM t LIMIT 1",
    ),
    *("SELECT * FROM t GROUP BY a", "SELECT * FROM t HAVING a", "SELECT DISTINCT a FROM t", "SELECT * FROM t OFFSET 1"),
    *("SELECT VALUE a FROM t", "SELECT * FROM t UNION SELECT * FROM u", "SELECT * FROM t JOIN u ON a = b"),
    *("EXISTS(SELECT * FROM t WHERE a = 1)", "EXISTS (SELECT a FROM t WHERE a = ?)", "EXISTS(a)", "EXISTS", "EXISTS()"),
    *("INSERT INTO t VALUE {'a': 1}", "INSERT INTO t VALUE {'a': ?, 'b': [1, {'c': <<1>>}]}", "INSERT INTO t VALUE ?"),
    *("INSERT INTO t VALUES {'a': 1}", "INSERT INTO t VALUE {'a': 1}, {'a': 2}", "INSERT INTO t VALUE <<{'a': 1}>>"),
    *("INSERT INTO t {'a': 1}", "INSERT t VALUE {'a': 1}", "INSERT INTO t VALUE", "INSERT INTO t VALUE 5", "INSERT"),
    *(
        "INSERT INTO t.i VALUE {'a': 1}",
        "INSERT INTO t VALUE {'a': 1} RETURNING ALL OLD *",
        "INSERT INTO t VALUE {a: 1}",
    ),
    *("UPDATE t SET a = 1", "UPDATE t SET a = 1 WHERE b = 2", "UPDATE t SET a = 1 SET c = 3 WHERE b = 2", "UPDATE t"),
    *(
        "UPDATE t SET a = 1, c = 3 WHERE b = 2",
        "UPDATE t REMOVE a WHERE b = 2",
        "UPDATE t REMOVE a REMOVE c WHERE b = 2",
    ),
    *("UPDATE t REMOVE a, c WHERE b = 2", "UPDATE t SET a = 1 REMOVE c WHERE b = 2", "UPDATE t SET a WHERE b = 2"),
    *("UPDATE t SET a = a + 1 WHERE b = 2", "UPDATE t SET a = a - ? WHERE b = 2", "UPDATE t SET a = 1 + 2 WHERE b = 2"),
    *(
        "UPDATE t SET a = a + 1 - 2 WHERE b = 2",
        "UPDATE t SET a = a * 2 WHERE b = 2",
        "UPDATE t SET a = -a WHERE b = 2",
    ),
    *("UPDATE t SET a = set_add(a, <<1>>) WHERE b = 2", "UPDATE t SET a = set_delete(a, ?) WHERE b = 2"),
    *("UPDATE t SET a = list_append(a, [1]) WHERE b = 2", "UPDATE t SET a = if_not_exists(a, 1) WHERE b = 2"),
    *(
        "UPDATE t SET a = size(a) WHERE b = 2",
        "UPDATE t SET a.b[0] = 1 WHERE b = 2",
        "UPDATE t SET a['5'] = 1 WHERE b = 2",
    ),
    *(
        "UPDATE t SET a[1.5] = 1 WHERE b = 2",
        "UPDATE t SET a = b.c WHERE b = 2",
        "UPDATE t WHERE b = 2",
        "UPDATE SET a = 1",
    ),
    *(f"UPDATE t SET a = 1 WHERE b = 2 RETURNING {what}" for what in ("ALL OLD *", "ALL NEW *", "MODIFIED OLD *")),
    *(
        f"UPDATE t SET a = 1 WHERE b = 2 RETURNING {what}"
        for what in ("MODIFIED NEW *", "ALL *", "OLD *", "ALL OLD", "")
    ),
    *("UPDATE t SET a = 1 RETURNING ALL OLD * WHERE b = 2", "UPDATE t SET a = 1 WHERE b = 2 RETURNING ALL OLD a"),
    *(
        "DELETE FROM t WHERE a = 1",
        "DELETE FROM t",
        "DELETE t WHERE a = 1",
        "DELETE FROM t WHERE",
        "DELETE FROM t.i WHERE a = 1",
    ),
    *("DELETE FROM t WHERE a = 1 RETURNING ALL OLD *", "DELETE FROM t WHERE a = 1 RETURNING MODIFIED NEW *", "DELETE"),
    *(
        "",
        ";",
        "DROP TABLE t",
        "CREATE TABLE t",
        "EXPLAIN SELECT * FROM t",
        "SELECT * FROM t; SELECT * FROM u",
        "t",
        "5",
    ),
    *(
        "UPSERT INTO t VALUE {'a': 1}",
        "REPLACE INTO t VALUE {'a': 1}",
        "\tSELECT\n*\r\nFROM\ft",
        "SELECT * FROM t \x00",
    ),
)


def shown(node: Any) -> str:
    """A tree in one line; where a node stands behind it."""
    match node:
        case Place(line, column, length):
            return f"@{line}:{column}:{length}"
        case tuple():
            return f"({', '.join(map(shown, node))})"
        case _ if is_dataclass(node):
            parts = [shown(getattr(node, field.name)) for field in fields(node)]
            return f"{type(node).__name__}({', '.join(parts)})"
        case _:
            return repr(node)


def read(statement: str) -> str:
    try:
        return shown(parse(statement))
    except StatementFault as fault:
        return f"! {fault}"


def test_conditions() -> None:
    assert_agreed("\n".join(f"{text}\n  {_of_where(text)}" for text in CONDITIONS))


def _of_where(text: str) -> str:
    whole = read(f"SELECT * FROM t WHERE {text}")
    return whole.removeprefix("Select(('t'), (), ")


def test_statements() -> None:
    assert_agreed("\n".join(f"{text!r}\n  {read(text)}" for text in STATEMENTS))
