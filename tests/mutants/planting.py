"""Small faults in a module's text, each one place: a comparison that is off at equality, a condition turned round, an
``and`` for an ``or``, a number off by one, a branch that is not taken, an argument left out.

What runs them is in ``__main__.py``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Mutant", "compiles", "mutants_of"]

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+", ast.FloorDiv: "*", ast.Mod: "//"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: the text of ``path`` (from the repository's root) between two offsets is replaced."""

    path: str
    line: int
    start: int
    end: int
    text: str
    kind: str

    def planted(self, source: str) -> str:
        """The module's text with the fault."""
        return source[: self.start] + self.text + source[self.end :]


def mutants_of(path: str, source: str) -> Iterator[Mutant]:
    """Every mutant of a module, in the order of its text, those too that don't compile. Types, docstrings, messages and
    what is only imported for types are left as they are.
    """
    offsets = _line_offsets(source)
    for node in _code(ast.parse(source)):
        for kind, part, text in _faults(node, source):
            start = _offset(offsets, source, part.lineno, part.col_offset)
            end = _offset(offsets, source, part.end_lineno or 0, part.end_col_offset or 0)
            yield Mutant(path, part.lineno, start, end, text, kind)


def _line_offsets(source: str) -> list[int]:
    offsets = [0]
    for line in source.split("\n"):  # as syntax trees count them: a form feed ends no line
        offsets.append(offsets[-1] + len(line) + 1)
    return offsets


def _offset(offsets: list[int], source: str, line: int, column: int) -> int:
    """The place in characters of a line and a column: syntax trees count bytes of UTF-8."""
    start = offsets[line - 1]
    return start + len(source[start : offsets[line]].encode()[:column].decode())


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run: no annotations, no raise statements (their words are tested by reading), no type checking, no
    ``strict=`` of a zip, which asserts what holds.
    """
    match node:
        case ast.Raise() | ast.Assert() | ast.Import() | ast.ImportFrom():
            return
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return
        case ast.Call(func=ast.Name(id="zip"), keywords=[ast.keyword(arg="strict")]):
            for argument in node.args:
                yield from _code(argument)
            return
        case ast.AnnAssign():
            if node.value is not None:
                yield from _code(node.value)
            return
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            children: list[ast.AST] = [
                *node.args.defaults,
                *(default for default in node.args.kw_defaults if default),
                *node.body,
            ]
        case ast.ClassDef():
            children = [*node.body]
        case _:
            children = [*ast.iter_child_nodes(node)]
    yield node
    for child in children:
        yield from _code(child)


def _faults(node: ast.AST, source: str) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    """Each fault of one node: its kind, the part that is replaced, and by what."""
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in _COMPARISONS:
            text = f"{_text(left, source)} {_COMPARISONS[type(operator)]} {_text(right, source)}"
            yield "comparison", node, f"({text})"
        case ast.BoolOp(op=operator, values=values):
            joined = " or " if isinstance(operator, ast.And) else " and "
            yield "and/or", node, f"({joined.join(f'({_text(expression, source)})' for expression in values)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "not", node, f"bool({_text(operand, source)})"
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            yield "operator", node, f"({_text(left, source)} {_OPERATORS[type(operator)]} {_text(right, source)})"
        case ast.Constant(value=bool() as value):
            yield "constant", node, str(not value)
        case ast.Constant(value=int() as value):
            yield "constant", node, str(value + 1)
        case ast.If(test=test) | ast.IfExp(test=test):
            yield "never", test, f"(False and ({_text(test, source)}))"
        case ast.Continue():
            yield "continue", node, "break"
        case ast.Break():
            yield "break", node, "continue"
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield "return", node, "return None"
        case ast.Expr(value=ast.Call()):
            yield "call", node, "pass"
        case ast.Call(keywords=[*_, ast.keyword(arg=str() as name, value=value)]) if isinstance(value, ast.Constant):
            without = ast.Call(node.func, node.args, [keyword for keyword in node.keywords if keyword.arg != name])
            yield "argument", node, ast.unparse(without)
        case _:
            pass


def _text(node: ast.expr, source: str) -> str:
    return ast.get_source_segment(source, node) or ast.unparse(node)


def compiles(source: str) -> bool:
    """Whether a module's text is Python: not each replacement makes it so."""
    try:
        compile(source, "<mutant>", "exec")
    except (SyntaxError, ValueError):
        return False
    return True
