"""Tokens and grammar of conditions, projections and updates.

The parser checks syntax only. ``expression_rules`` checks functions, reserved words and limits; binding checks
placeholders. A syntax error names the token and its neighbors, as the service does.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, TypeVar

from keyplan.dynamodb.expressions import tree
from keyplan.dynamodb.expressions.expression_errors import ExpressionFault
from keyplan.dynamodb.expressions.expression_rules import FUNCTIONS

KEYWORDS = frozenset({"ADD", "AND", "BETWEEN", "DELETE", "IN", "NOT", "OR", "REMOVE", "SET"})
END = "<EOF>"

_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:
    (?P<word>[A-Za-z][A-Za-z0-9_]*)
    | (?P<name>\#[A-Za-z0-9_]+)
    | (?P<value>:[A-Za-z0-9_]+)
    | (?P<index>0|[1-9][0-9]*)
    | (?P<symbol><>|<=|>=|[=<>()\[\],.+\-])
    | (?P<unknown>[^ \t\r\n])
    )""",
    re.VERBOSE,
)


class Token(NamedTuple):
    """A token, whose ``kind`` is word, name, value, index, unknown, end, or the keyword or symbol itself."""

    kind: str
    text: str
    start: int
    end: int


def tokenize(text: str) -> list[Token]:
    """The tokens of an expression, with an end token. Invalid characters become tokens of kind unknown."""
    tokens: list[Token] = []
    position = 0
    while (match := _TOKEN.match(text, position)) is not None:
        kind = match.lastgroup or "unknown"
        word = match[kind]
        if kind == "symbol":
            kind = word
        elif kind == "word" and word.upper() in KEYWORDS:
            kind = word.upper()
        tokens.append(Token(kind, word, match.start(match.lastgroup or 0), match.end()))
        position = match.end()
    tokens.append(Token("end", END, len(text), len(text)))
    return tokens


REDUNDANT = "The expression has redundant parentheses;"
TOO_MANY_OPERATORS = "The expression contains too many operators; operator count: 301"
# Both limits bound the recursion. An expression with deeper nesting exceeds DynamoDB's 300 operators anyway.
OPERAND_DEPTH_MAX = 150
GROUP_DEPTH_MAX = 300

_COMPARATORS = frozenset({"=", "<>", "<", "<=", ">", ">="})
_OPERATORS = _COMPARATORS | {"AND", "OR", "NOT", "BETWEEN", "IN", "+", "-"}
_AFTER_OPERAND = _COMPARATORS | {"BETWEEN", "IN"}
T = TypeVar("T")


@dataclass(slots=True)
class _Group:
    """The conditions parsed so far in one pair of parentheses (or in the whole expression)."""

    ors: list[tree.Condition] = field(default_factory=list[tree.Condition])
    ands: list[tree.Condition] = field(default_factory=list[tree.Condition])
    nots: int = 0
    only_group: bool = False

    @property
    def fresh(self) -> bool:
        return not (self.ors or self.ands or self.nots)

    def take(self, condition: tree.Condition, *, group: bool = False) -> None:
        self.only_group = group and self.fresh
        for _ in range(self.nots):
            condition = tree.Not(condition)
        self.nots = 0
        self.ands.append(condition)

    def close_and(self) -> None:
        self.ors.append(self.ands[0] if len(self.ands) == 1 else tree.And(tuple(self.ands)))
        self.ands.clear()

    def result(self) -> tree.Condition:
        self.close_and()
        return self.ors[0] if len(self.ors) == 1 else tree.Or(tuple(self.ors))


class Parser:
    """A parser of one expression.

    Redundant parentheses are rejected as soon as they close, before later errors (recorded from the service).
    ``repeated`` is the update section that occurs twice, which is reported only after the whole text is parsed.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokenize(text)
        self._position = 0
        self._depth = 0
        self._calls = 0
        """The number of functions whose arguments are being parsed: redundant parentheses in them are reported after
        all close.
        """
        self._redundant = False
        self.repeated: str | None = None

    @property
    def _kind(self) -> str:
        return self._tokens[self._position].kind

    def _next(self) -> Token:
        token = self._tokens[self._position]
        self._position += 1
        return token

    def _expect(self, kind: str) -> Token:
        if self._kind != kind:
            raise self._unexpected()
        return self._next()

    def _accept(self, kind: str) -> bool:
        if self._kind != kind:
            return False
        self._position += 1
        return True

    def _separated(self, read: Callable[[], T]) -> list[T]:
        members = [read()]
        while self._accept(","):
            members.append(read())
        return members

    def _unexpected(self) -> ExpressionFault:
        position = self._position
        token = self._tokens[position]
        start = self._tokens[position - 1].start if position else 0
        end = self._tokens[min(position + 1, len(self._tokens) - 1)].end
        return ExpressionFault(f'Syntax error; token: "{token.text}", near: "{self._text[start:end]}"')

    def whole(self, read: Callable[[Parser], T]) -> T:
        """The result of ``read``, which must parse the whole text."""
        parsed = read(self)
        if self._kind != "end":
            raise self._unexpected()
        return parsed

    # Groups in conditions are on an explicit stack, because an expression of 4 KB can nest deeper than Python's stack.

    def condition(self) -> tree.Condition:
        """A whole condition: terms joined by NOT, AND, OR (in this order of precedence) and parentheses."""
        groups = [_Group()]
        while True:
            if self._accept("NOT"):
                groups[-1].nots += 1
                continue
            if self._accept("("):
                groups.append(_Group())
                if len(groups) > GROUP_DEPTH_MAX:
                    raise self._too_deep()
                continue
            self._term(groups)
            while len(groups) > 1 and self._accept(")"):
                closed = groups.pop()
                if closed.only_group:
                    raise ExpressionFault(REDUNDANT)
                groups[-1].take(closed.result(), group=True)
            if self._accept("OR"):
                groups[-1].close_and()
            elif not self._accept("AND"):
                break
            groups[-1].only_group = False
        if len(groups) > 1:
            raise self._unexpected()
        return groups[0].result()

    def _term(self, groups: list[_Group]) -> None:
        """Parse a comparison or a function into the innermost group.

        Whether ``(`` starts a group or encloses an operand, as in ``(a) = :x``, depends on what follows; a group that
        turns out to be an operand is removed here.
        """
        operand = self._operand()
        wrapped = 0
        while len(groups) > 1 and groups[-1].fresh and self._kind == ")" and self._is_wrapped(operand, groups):
            groups.pop()
            self._position += 1
            wrapped += 1
        if wrapped > 1 and self._kind in _AFTER_OPERAND:
            raise ExpressionFault(REDUNDANT)
        groups[-1].take(self._comparison(operand, wrapped=bool(wrapped)))

    def _is_wrapped(self, operand: tree.Operand, groups: list[_Group]) -> bool:
        if not isinstance(operand, tree.Call):
            return True
        position = self._position
        for group in reversed(groups[1:]):
            if not group.fresh or self._tokens[position].kind != ")":
                break
            position += 1
        return self._tokens[position].kind in _AFTER_OPERAND

    def _comparison(self, left: tree.Operand, *, wrapped: bool) -> tree.Condition:
        kind = self._kind
        if kind in _COMPARATORS:
            self._next()
            return tree.Compare(kind, left, self._operand())
        if kind == "BETWEEN":
            self._next()
            low = self._operand()
            self._expect("AND")
            return tree.Between(left, low, self._operand())
        if kind == "IN":
            self._next()
            self._expect("(")
            options = self._separated(self._operand)
            self._expect(")")
            return tree.In(left, tuple(options))
        if isinstance(left, tree.Call) and not wrapped:
            return left
        raise self._unexpected()

    # Operands.

    def _operand(self) -> tree.Operand:
        if self._kind == "(":
            return self._parenthesised()
        if self._kind == "value":
            return tree.Value(self._next().text)
        if self._kind == "word" and self._tokens[self._position + 1].kind == "(":
            return self._call()
        if self._kind in {"word", "name"}:
            return self.path()
        raise self._unexpected()

    def _parenthesised(self) -> tree.Operand:
        self._deeper()
        self._next()
        holds_another = self._kind == "("
        operand = self._operand()
        self._expect(")")
        self._depth -= 1
        self._redundant = self._redundant or holds_another
        self._check_redundant()
        return operand

    def _check_redundant(self) -> None:
        if self._redundant and not self._calls:
            raise ExpressionFault(REDUNDANT)

    def _call(self) -> tree.Call:
        self._deeper()
        self._calls += 1
        function = self._next().text
        self._next()
        arguments = self._separated(self._operand)
        self._expect(")")
        self._depth -= 1
        self._calls -= 1
        self._check_redundant()
        return tree.Call(function, tuple(arguments))

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > OPERAND_DEPTH_MAX:
            raise self._too_deep()

    def _too_deep(self) -> ExpressionFault:
        kinds = [token.kind for token in self._tokens]
        if kinds.count("(") != kinds.count(")"):
            self._position = len(self._tokens) - 1
            return self._unexpected()
        if sum(map(kinds.count, _OPERATORS)) > GROUP_DEPTH_MAX:
            return ExpressionFault(TOO_MANY_OPERATORS)
        pairs = list(itertools.pairwise(self._tokens))
        for token, after in pairs:
            if after.kind == "(" and token.kind == "word" and token.text not in FUNCTIONS:
                return ExpressionFault(f"Invalid function name; function: {token.text}")
        # If there are fewer operators than pairs of parentheses, at least one pair is redundant.
        is_group = any(token.kind == after.kind == "(" for token, after in pairs)
        return ExpressionFault(REDUNDANT if is_group else TOO_MANY_OPERATORS)

    def path(self) -> tree.Path:
        """A document path, such as ``a.#b[0].c``."""
        if self._kind not in {"word", "name"}:
            raise self._unexpected()
        parts: list[str | int] = [self._next().text]
        while True:
            if self._accept("."):
                if self._kind not in {"word", "name"}:
                    raise self._unexpected()
                parts.append(self._next().text)
            elif self._accept("["):
                index = self._expect("index").text
                parts.append(int(index))
                self._expect("]")
            else:
                return tree.Path(tuple(parts))

    def paths(self) -> tree.Projection:
        return tree.Projection(tuple(self._separated(self.path)))

    # Updates.

    def update(self) -> tree.Update:
        """The sections of an update, each at most once, in any order."""
        actions: list[tree.Action] = []
        seen: set[str] = set()
        while True:
            section = self._kind
            if section not in {"SET", "REMOVE", "ADD", "DELETE"}:
                raise self._unexpected()
            self._next()
            if section in seen:
                self.repeated = self.repeated or section
            seen.add(section)
            actions += self._separated(partial(self._action, section))
            if self._kind == "end":
                break
        return tree.Update(tuple(actions))

    def _action(self, section: str) -> tree.Action:
        path = self.path()
        if section == "SET":
            self._expect("=")
            return tree.Set(path, self._set_value()[0])
        if section == "REMOVE":
            return tree.Remove(path)
        value = tree.Value(self._expect("value").text)
        return tree.Add(path, value) if section == "ADD" else tree.Delete(path, value)

    def _set_value(self) -> tuple[tree.Operand, bool]:
        """A value of SET, and whether parentheses enclose the whole of it.

        It is an operand, or the sum or difference of two operands.
        """
        wrapped = self._accept("(")
        if wrapped:
            self._deeper()
            left, inner_wrapped = self._set_value()
            self._expect(")")
            self._depth -= 1
            if inner_wrapped:
                raise ExpressionFault(REDUNDANT)
        else:
            left = self._operand()
        if isinstance(left, tree.Arithmetic) or self._kind not in {"+", "-"}:
            return left, wrapped
        return tree.Arithmetic(self._next().kind, left, self._operand()), False
