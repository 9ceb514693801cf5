"""The table of errors in docs/errors.md, made from the errors' classes. ``make docs`` writes it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from keyplan import errors
from tests.repository.files import ROOT

PAGE = ROOT / "docs" / "errors.md"
BEGIN, END = "<!-- errors: begin -->", "<!-- errors: end -->"


def error_classes() -> list[type[errors.KeyplanError]]:
    """The errors of ``keyplan.errors``, each before its kinds."""

    def below(cls: type[errors.KeyplanError]) -> Iterator[type[errors.KeyplanError]]:
        yield cls
        for kind in cls.__subclasses__():
            if kind.__module__ == errors.__name__:
                yield from below(kind)

    return list(below(errors.KeyplanError))


def error_table() -> str:
    """The table, in Markdown."""
    lines = ["| code | a kind of | what it says |", "|---|---|---|"]
    for cls in error_classes():
        kinds = ", ".join(f"`{base.__name__}`" for base in cls.__bases__)
        summary = (inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " ").replace("``", "`")
        lines.append(f"| `{cls.code}` | {kinds} | {summary} |")
    return "\n".join(lines)


def with_table(page: str) -> str:
    """The page with the table as it is to be."""
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no {BEGIN} and {END}")
    return f"{head}{BEGIN}\n\n{error_table()}\n\n{END}{tail}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
