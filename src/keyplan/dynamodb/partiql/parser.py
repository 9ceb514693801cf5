"""The parser of statements, with the grammar of the developer guide.

The parser checks syntax only; ``Lowering`` checks functions, paths and literals. Error messages were recorded from the
service.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Literal, TypeVar

from keyplan.dynamodb.partiql import syntax
from keyplan.dynamodb.partiql.syntax import Node
from keyplan.dynamodb.partiql.tokens import OPERATORS, Place, StatementFault, Token, not_well_formed, tokenize

_LIST_INDEX_MAX = 2**31 - 1
NESTING_MAX = 64
"""The maximum nesting of parentheses, lists, maps and functions. A value has at most 32 levels."""
_CACHED_TEXTS_MAX = 1024
_COMPARATORS = frozenset({"=", "<>", "<", "<=", ">", ">="})
_INFIX = _COMPARATORS | OPERATORS | {"+", "-", "*", "/", "%", "||"}
_TYPES = frozenset(
    {
        *("NULL", "MISSING", "BOOL", "BOOLEAN", "SMALLINT", "INT", "INT2", "INT4", "INT8", "INTEGER", "INTEGER2"),
        *("INTEGER4", "INTEGER8", "BIGINT", "FLOAT", "REAL", "DECIMAL", "NUMERIC", "NUMBER", "DATE", "TIME"),
        *("TIMESTAMP", "CHAR", "CHARACTER", "VARCHAR", "STRING", "SYMBOL", "CLOB", "BLOB", "BINARY", "STRUCT"),
        *("TUPLE", "LIST", "SEXP", "BAG", "ANY", "SET", "MAP"),
    }
)
_NAMES = frozenset({"word", "quoted"})
_CALLED = _NAMES | frozenset(
    {
        *("AVG", "CAST", "CHAR_LENGTH", "CHARACTER_LENGTH", "COALESCE", "COUNT", "EXISTS", "EXTRACT", "LOWER", "MAX"),
        *("MIN", "NULLIF", "SIZE", "SUBSTRING", "SUM", "TRIM", "UPPER"),
    }
)
"""Names, and reserved words that are function names if a parenthesis follows."""
_JOINS = frozenset({"JOIN", "INNER", "LEFT", "RIGHT", "FULL", "OUTER", "CROSS"})
_SEVERAL_ITEMS = (
    "Unsupported operation: Inserting multiple items in a single statement is not supported, use "
    '"INSERT INTO tableName VALUE item" instead'
)
_KINDS: dict[type, str] = {
    syntax.Is: "IsType",
    syntax.Call: "Call",
    syntax.Path: "VariableReference",
    syntax.Compare: "NAry",
    syntax.And: "NAry",
    syntax.Or: "NAry",
    syntax.Not: "NAry",
    syntax.In: "NAry",
    syntax.Between: "NAry",
    syntax.Arithmetic: "NAry",
}
T = TypeVar("T")


@lru_cache(_CACHED_TEXTS_MAX)
def parse(text: str) -> syntax.Statement:
    """The tree of a statement. Raises StatementFault."""
    return _Parser(text).statement()


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = tokenize(text)
        self._position = 0
        self._parameters = 0
        self._depth = 0
        self._refused: str | None = None
        """Why the statement is rejected after it was parsed to the end."""

    # --- tokens

    @property
    def _token(self) -> Token:
        return self._tokens[self._position]

    @property
    def _kind(self) -> str:
        return self._tokens[self._position].kind

    def _next(self) -> Token:
        token = self._tokens[self._position]
        self._position += 1
        return token

    def _accept(self, *kinds: str) -> bool:
        if self._kind not in kinds:
            return False
        self._position += 1
        return True

    def _expect(self, kind: str) -> Token:
        if self._kind != kind:
            raise not_well_formed(f"Expected {kind}")
        return self._next()

    def _accept_word(self, *words: str) -> str | None:
        word = self._token.text.upper()
        return self._next().text.upper() if self._kind in {"word", word} and word in words else None

    def _separated(self, read: Callable[[], T]) -> list[T]:
        members = [read()]
        while self._accept(","):
            members.append(read())
        return members

    def _refuse(self, message: str) -> None:
        """Reject valid PartiQL that DynamoDB doesn't support."""
        if self._refused is None:
            self._refused = message

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > NESTING_MAX:
            raise not_well_formed("Expression is nested too deeply")

    # --- statements

    def statement(self) -> syntax.Statement:
        statement = self._statement()
        self._accept(";")
        if self._kind != "end":
            raise not_well_formed("Unexpected token after expression")
        if self._refused is not None:
            raise StatementFault(self._refused)
        if not isinstance(statement, (syntax.Select, syntax.Exists, syntax.Insert, syntax.Update, syntax.Delete)):
            raise StatementFault(f"Unsupported operation: {_KINDS.get(type(statement), 'Literal')}")
        return statement

    def _statement(self) -> syntax.Statement | Node:
        match self._kind:
            case "SELECT":
                return self._select()
            case "EXISTS" if self._tokens[self._position + 1].kind == "(":
                self._position += 2
                select = self._select()
                self._expect(")")
                return syntax.Exists(select, self._parameters)
            case "INSERT":
                return self._insert()
            case "UPDATE":
                self._next()
                table, changes, where = self._table(), self._changes(), self._where()
                return syntax.Update(table, changes, where, self._returning(), self._parameters)
            case "DELETE":
                self._next()
                self._expect("FROM")
                table, where = self._table(), self._where()
                return syntax.Delete(table, where, self._returning(), self._parameters)
            case "FROM":
                return self._from_first()
            case _:
                return self._condition()

    def _select(self) -> syntax.Select:
        self._expect("SELECT")
        if self._accept("DISTINCT"):
            self._refuse("Unsupported token in expression: DISTINCT")
        elif self._accept("VALUE"):
            self._refuse("Select projection doesn't support value or pivot keywords")
        else:
            self._accept("ALL")
        projection = [] if self._accept("*") else self._separated(self._projected)
        self._expect("FROM")
        if self._kind == "end":
            raise not_well_formed("Unexpected term")
        table = self._source()
        where = self._where()
        order: list[syntax.Order] = []
        if self._accept("ORDER"):
            self._expect("BY")
            order = self._separated(self._order)
        if self._kind in {"LIMIT", "OFFSET", "GROUP", "HAVING"}:
            clause = self._next().kind
            at = " BY" if clause == "GROUP" else f" at {self._token.place}"
            raise StatementFault(f"Unsupported clause: {clause}{at}")
        return syntax.Select(table, tuple(projection), where, tuple(order), self._parameters)

    def _projected(self) -> Node:
        node = self._operand()
        self._alias()
        return node

    def _order(self) -> syntax.Order:
        path = self._operand()
        if self._accept("DESC"):
            return syntax.Order(path, forward=False)
        self._accept("ASC")
        return syntax.Order(path, forward=True)

    def _insert(self) -> syntax.Insert:
        begin = self._next().place
        self._expect("INTO")
        place = self._token.place
        table = self._names()
        if len(table) > 1:
            raise StatementFault(
                f"FROM clause may only contain a single table name in data manipulation statements at {place}"
            )
        if not self._accept("VALUE"):
            self._accept("VALUES")
            self._refuse(_SEVERAL_ITEMS)
            return syntax.Insert(table, self._operand(), self._parameters)
        value = self._primary()
        if self._accept("AT"):
            self._operand()
            self._refuse(f"AT is not supported in insert statements. at {begin}")
        if self._accept("RETURNING"):
            raise StatementFault("RETURNING is not supported in INSERT")
        return syntax.Insert(table, value, self._parameters)

    def _from_first(self) -> syntax.Update:
        """``FROM table WHERE condition SET ...``: an update in another order."""
        self._next()
        table, where, changes = self._table(), self._where(), self._changes()
        return syntax.Update(table, changes, where, self._returning(), self._parameters)

    def _source(self) -> tuple[str, ...]:
        node = self._operand()
        self._alias()
        if self._kind == "," or self._kind in _JOINS:
            raise StatementFault("Only select from a single table or index is supported.")
        if not isinstance(node, syntax.Path):
            self._refuse("Unexpected from source")
            return ()
        if any(isinstance(part, int) for part in node.parts):
            self._refuse("Invalid list expression in source.")
        return tuple(map(str, node.parts))

    def _table(self) -> tuple[str, ...]:
        names = self._names()
        self._alias()
        return names

    def _alias(self) -> None:
        if self._accept("AS") or self._kind in _NAMES:
            self._next()
            self._refuse("Aliasing is not supported")

    def _names(self) -> tuple[str, ...]:
        names = [self._name()]
        while self._accept("."):
            names.append(self._name())
        return tuple(names)

    def _name(self) -> str:
        if self._kind not in _NAMES:
            raise not_well_formed("Expected identifier for simple path")
        return self._next().text

    def _where(self) -> Node | None:
        return self._condition() if self._accept("WHERE") else None

    def _changes(self) -> tuple[syntax.Assignment | syntax.Removal, ...]:
        changes: list[syntax.Assignment | syntax.Removal] = []
        while self._kind in {"SET", "REMOVE"}:
            if self._next().kind == "REMOVE":
                changes.append(syntax.Removal(self._changed()))
            else:
                changes += self._separated(self._assignment)
        if not changes:
            raise not_well_formed("Expected data manipulation")
        return tuple(changes)

    def _assignment(self) -> syntax.Assignment:
        path = self._changed()
        self._expect("=")
        return syntax.Assignment(path, self._right(self._operand))

    def _changed(self) -> syntax.Path:
        if self._kind not in _NAMES:
            raise not_well_formed("Expected identifier for simple path")
        return self._path()

    def _returning(self) -> syntax.Returning | None:
        if not self._accept("RETURNING"):
            return None
        which = self._accept_word("ALL", "MODIFIED")
        when = self._accept_word("OLD", "NEW")
        if which is None or when is None:
            raise not_well_formed("Expected ALL or MODIFIED, and OLD or NEW")
        if not self._accept("*"):
            self._operand()
            self._refuse("Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause")
        if self._kind == ",":
            raise StatementFault("Invalid syntax with multiple returning elements in RETURNING clause")
        all_or_modified: Literal["ALL", "MODIFIED"] = "ALL" if which == "ALL" else "MODIFIED"
        return syntax.Returning(all_or_modified, "OLD" if when == "OLD" else "NEW")

    # --- conditions

    def _condition(self) -> Node:
        """Terms joined by NOT, AND and OR, in this order of precedence."""
        return self._joined("OR", self._conjunction, syntax.Or)

    def _conjunction(self) -> Node:
        return self._joined("AND", self._negation, syntax.And)

    def _joined(self, operator: str, read: Callable[[], Node], made: type[syntax.And | syntax.Or]) -> Node:
        place = self._token.place
        conditions = [read()]
        while self._accept(operator):
            conditions.append(self._right(read))
        return conditions[0] if len(conditions) == 1 else made(tuple(conditions), place=place)

    def _negation(self) -> Node:
        places: list[Place] = []
        while self._kind == "NOT":
            places.append(self._next().place)
        condition = self._comparison()
        return syntax.Not(condition, place=places[0]) if len(places) % 2 else condition

    def _right(self, read: Callable[[], Node]) -> Node:
        if self._kind in {"end", ";"}:
            raise not_well_formed("Missing right-hand side expression of infix operator")
        return read()

    def _comparison(self) -> Node:
        place = self._token.place
        left = self._operand()
        while True:
            negated = self._kind == "NOT" and self._tokens[self._position + 1].kind in {"IN", "BETWEEN", "LIKE"}
            if negated:
                self._next()
            kind = self._kind
            if kind in _COMPARATORS:
                self._next()
                left = syntax.Compare(kind, left, self._right(self._operand), place=place)
            elif kind == "IN":
                self._next()
                left = syntax.In(left, self._right(self._options), place=place)
            elif kind == "BETWEEN":
                self._next()
                low = self._right(self._operand)
                self._expect("AND")
                left = syntax.Between(left, low, self._right(self._operand), place=place)
            elif kind == "LIKE":
                self._next()
                left = syntax.Call("like", (left, self._right(self._operand)), place=place)
            elif kind == "IS":
                left = self._is(left, place)
            else:
                return left
            if negated:
                left = syntax.Not(left, place=place)

    def _is(self, operand: Node, place: Place) -> Node:
        self._next()
        negated = self._accept("NOT")
        name = self._token.text.upper()
        if self._kind not in {"word", name} or (name not in _TYPES and name != "DOUBLE"):
            raise not_well_formed("Expected type name")
        self._next()
        if name == "DOUBLE" and self._accept_word("PRECISION") is None:
            raise not_well_formed("Expected type name")
        if name == "CHARACTER":
            self._accept_word("VARYING")
        return syntax.Is(operand, name, negated, place=place)

    def _options(self) -> Node:
        if self._kind != "(":
            return self._primary()
        place = self._next().place
        members = self._separated(self._operand)
        self._expect(")")
        return syntax.ListOf(tuple(members), place=place)

    # --- operands

    def _operand(self) -> Node:
        left = self._primary()
        depth = self._depth
        while self._kind in {"+", "-", "/", "%", "||"} or (self._kind == "*" and not self._ends()):
            self._deeper()
            operator = self._token
            self._next()
            left = syntax.Arithmetic(operator.kind, left, self._right(self._primary), place=operator.place)
        self._depth = depth
        return left

    def _ends(self) -> bool:
        """Whether no operand follows a star."""
        return self._tokens[self._position + 1].kind in {"end", ";", ",", ")"}

    def _signed(self) -> syntax.Number | None:
        """A number with its signs, which must be separate (two together start a comment)."""
        position, minus = self._position, False
        while self._tokens[position].kind in {"+", "-"}:
            minus ^= self._tokens[position].kind == "-"
            position += 1
        number = self._tokens[position]
        if number.kind != "number":
            return None
        self._position = position + 1
        return syntax.Number(f"{'-' if minus else ''}{number.text}", place=number.place)

    def _primary(self) -> Node:
        token = self._token
        place = token.place
        match token.kind:
            case "string":
                return syntax.Constant("S", self._next().text, place=place)
            case "number":
                return syntax.Number(self._next().text, place=place)
            case "-" | "+" if (number := self._signed()) is not None:
                return number
            case "TRUE" | "FALSE":
                return syntax.Constant("BOOL", self._next().kind == "TRUE", place=place)
            case "NULL":
                self._next()
                return syntax.Constant("NULL", content=True, place=place)
            case "MISSING":
                self._next()
                return syntax.Constant("MISSING", content=True, place=place)
            case "?":
                self._next()
                self._parameters += 1
                return syntax.Parameter(self._parameters - 1, place=place)
            case kind if kind in _CALLED and self._tokens[self._position + 1].kind == "(":
                return self._call()
            case "word" | "quoted":
                return self._path()
            case "*":
                self._next()
                return syntax.Star(place=place)
            case "FROM":
                self._from_first()
                raise StatementFault("Unsupported operation: DataManipulation")
            case "(" | "[" | "{" | "<<":
                return self._bracketed()
            case _:
                raise self._unexpected()

    def _unexpected(self) -> StatementFault:
        kind = self._kind
        if kind in _INFIX:
            return not_well_formed("Unexpected operator")
        if kind.isalpha() and kind.isupper():
            return not_well_formed("Unexpected keyword")
        return not_well_formed("Unexpected term")

    def _bracketed(self) -> Node:
        self._deeper()
        opening = self._next()
        place = opening.place
        match opening.kind:
            case "(":
                node = self._condition()
                if self._accept(","):
                    node = syntax.ListOf((node, *self._members(")", self._condition)), place=place)
                else:
                    self._expect(")")
            case "[":
                node = syntax.ListOf(tuple(self._members("]", self._operand)), place=place)
            case "<<":
                node = syntax.Bag(tuple(self._members(">>", self._operand)), place=place)
            case _:
                node = syntax.MapOf(tuple(self._members("}", self._member)), place=place)
        self._depth -= 1
        return node

    def _members(self, closing: str, read: Callable[[], T]) -> list[T]:
        if self._accept(closing):
            return []
        members = self._separated(read)
        self._expect(closing)
        return members

    def _member(self) -> tuple[str, Place, Node]:
        if self._kind in _NAMES:
            place = self._token.place
            self._refuse(f"Tuple keys must be of type String. Actual type: VariableReference under root at {place}")
            token = self._next()
        else:
            token = self._expect("string")
        self._expect(":")
        return token.text, token.place, self._operand()

    def _call(self) -> Node:
        self._deeper()
        token = self._next()
        self._next()
        arguments = self._members(")", self._condition)
        self._depth -= 1
        return syntax.Call(token.text, tuple(arguments), place=token.place)

    def _index(self, token: Token, *, minus: bool) -> int:
        index = int(token.text[:20])
        if index > (0 if minus else _LIST_INDEX_MAX):
            shown = f"-{index}" if minus else str(index)
            self._refuse(f"List index is not within the allowable range; index: [{shown}] at {token.place}")
        return index

    def _path(self) -> syntax.Path:
        token = self._token
        if token.kind not in _NAMES:
            raise self._unexpected()
        self._next()
        parts: list[str | int] = [token.text]
        while True:
            if self._accept("."):
                if self._kind not in _NAMES:
                    raise not_well_formed("Invalid path dot component")
                parts.append(self._next().text)
            elif self._accept("["):
                inner = self._next()
                minus = inner.kind == "-"
                if minus:
                    inner = self._next()
                if inner.kind == "number" and inner.text.isdigit():
                    parts.append(self._index(inner, minus=minus))
                elif inner.kind in {"string", "quoted"} and not minus:
                    parts.append(inner.text)
                else:
                    raise not_well_formed("Invalid path component")
                self._expect("]")
            else:
                return syntax.Path(tuple(parts), place=token.place)
