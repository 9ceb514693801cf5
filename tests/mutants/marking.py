"""A copy of the library in which each block of statements leaves a mark when it runs: so that it is known which tests
run a line. A mark costs less than a trace function, works in threads and in processes that tests start, and outlives
a process that is killed: it is a byte of a file that all of them share.
"""

from __future__ import annotations

import ast
import shutil
from collections.abc import Sequence
from pathlib import Path

__all__ = ["HITS", "Blocks", "marked_tree"]

HITS = "KEYPLAN_HITS"
"""The environment variable that names the file of marks."""

_MODULE = f'''"""The marks of this process: bytes of a shared file."""

import mmap
import os


def _marks():
    path = os.environ.get("{HITS}")
    if path is None:
        return bytearray(1_000_000)
    with open(path, "r+b") as file:
        return mmap.mmap(file.fileno(), 0)


hits = _marks()
'''

Blocks = dict[str, dict[int, int]]
"""For each module, by its path from the repository's root: the block that a line of a function belongs to."""


def marked_tree(root: Path, to: Path) -> tuple[Blocks, int]:
    """Write a marked copy of ``src`` there. Gives the blocks, and how many there are."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(root / "src", to, ignore=shutil.ignore_patterns("__pycache__"))
    (to / "keyplan_hits.py").write_text(_MODULE, encoding="utf-8")
    blocks: Blocks = {}
    number = 0
    for path in sorted(to.rglob("keyplan/**/*.py")):
        marking = _Marking(number)
        text = marking.marked(path.read_text(encoding="utf-8"))
        path.write_text(text, encoding="utf-8")
        blocks[f"src/{path.relative_to(to).as_posix()}"] = marking.block_of_line
        number = marking.number
    return blocks, number


class _Marking:
    """Marks of one module, numbered from a number on."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.block_of_line: dict[int, int] = {}

    def marked(self, source: str) -> str:
        """The module's text, with a mark in front of each block of each function."""
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not _is_declaration(node):
                node.body = self._block(node.body)
        behind = 1 if ast.get_docstring(tree) is not None else 0
        while behind < len(tree.body) and isinstance(tree.body[behind], ast.ImportFrom):
            if tree.body[behind].module != "__future__":  # type: ignore[attr-defined]
                break
            behind += 1
        tree.body[behind:behind] = ast.parse("from keyplan_hits import hits as __hits__").body
        return ast.unparse(ast.fix_missing_locations(tree))

    def _block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements, marked at the beginning, and again behind each statement that may have left the block."""
        marked: list[ast.stmt] = []
        fresh = True
        for statement in statements:
            if fresh and not _is_text(statement):
                marked += ast.parse(f"__hits__[{self.number}] = 1").body
                self.number += 1
                fresh = False
            for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1):
                self.block_of_line[line] = self.number - 1
            if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                fresh = self._inside(statement) or fresh
            marked.append(statement)
        return marked

    def _inside(self, statement: ast.stmt) -> bool:
        """Mark the blocks of a statement. Gives whether it has any."""
        suites: list[ast.AST] = [statement, *getattr(statement, "handlers", []), *getattr(statement, "cases", [])]
        has_blocks = False
        for suite in suites:
            for name in ("body", "orelse", "finalbody"):
                block = getattr(suite, name, None)
                if isinstance(block, list) and block:
                    setattr(suite, name, self._block(block))
                    has_blocks = True
        return has_blocks


def _is_declaration(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function's body is no more than a docstring and dots."""
    return all(isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) for statement in node.body)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
