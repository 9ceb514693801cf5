"""Generates docs/architecture.md: the packages with their imports, and the functions that handle a request."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.repository.files import SOURCE, written_files
from tests.repository.walks import BEFORE, Walk, walks

HEAD = """# Architecture

This page lists the packages of `src/keyplan`, their imports, and the functions that requests pass through. \
`make docs` generates the page from the modules' docstrings and imports (including imports for types and in functions) \
and by running the example calls. The contracts in `pyproject.toml` define which imports are allowed between packages; \
the [decision records](decisions/README.md) give the reasons. [CONTRIBUTING](../CONTRIBUTING.md) describes where to \
make a change.
"""
WALKS = (
    "The table shows counts for the third call of each request, when the design is already compiled. *calls* counts "
    "function calls and generator resumptions. The numbers in parentheses are from 2026-11-21 (commit a580b44)."
)
INSIDE = ("model", "client", "store", "store/storage", "analysis")
"""Packages whose modules are listed too."""

Graph = Mapping[str, set[str]]


def page() -> str:
    """Return docs/architecture.md in Markdown."""
    parts = [HEAD, "## Packages", "", "Each package is listed above the packages that it imports.", "", *_table(SOURCE)]
    for package in INSIDE:
        parts += ["", f"## Packages inside `{package}/`", "", *_table(SOURCE / package)]
    parts += ["", "## Call paths of requests", "", *_walks(walks())]
    return "\n".join(parts) + "\n"


def _table(folder: Path) -> list[str]:
    """Return a table of a package's modules from the highest to the lowest level, each with its imports."""
    graph = graph_of(folder)
    lines = ["| | Contents | Imports |", "|---|---|---|"]
    for name in _sorted(graph):
        imported = ", ".join(f"`{text}`" for text in sorted(graph[name])) or "none"
        lines.append(f"| `{name}` | {_summary(folder, name)} | {imported} |")
    return lines


def _summary(folder: Path, name: str) -> str:
    """Return the first paragraph of a module's docstring."""
    path = folder / name / "__init__.py" if (folder / name).is_dir() else folder / f"{name}.py"
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first = " ".join(doc.split("\n\n")[0].split()).replace("``", "`").replace("|", "\\|")
    return first if first.endswith((".", "`")) else f"{first}."


def graph_of(folder: Path) -> Graph:
    """Return the modules and subpackages of a package, each with those that it imports."""
    package = ".".join(("keyplan", *folder.relative_to(SOURCE).parts))
    result: dict[str, set[str]] = {}
    for path in written_files(".py", folder):
        part = path.relative_to(folder).parts[0].removesuffix(".py")
        if part != "__init__":
            result.setdefault(part, set()).update(_imported(path, package))
    return {part: {text for text in others if text in result and text != part} for part, others in result.items()}


def _imported(path: Path, package: str) -> Iterable[str]:
    """Return the modules of a package that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith(f"{package}."):
                yield name.removeprefix(f"{package}.").partition(".")[0]


def _sorted(graph: Graph) -> list[str]:
    """Sort modules by level, highest first, then by name. Raises ValueError for circular imports."""
    heights: dict[str, int] = {}

    def height(part: str, above: tuple[str, ...] = ()) -> int:
        if part in above:
            raise ValueError(f"a circle: {' -> '.join((*above, part))}")
        if part not in heights:
            heights[part] = 1 + max((height(text, (*above, part)) for text in graph[part]), default=0)
        return heights[part]

    return sorted(graph, key=lambda part: (-height(part), part))


def _walks(result: Iterable[Walk]) -> list[str]:
    lines = [WALKS, "", "| | files | functions | calls | SQL statements |", "|---|---:|---:|---:|---:|"]
    details: list[str] = []
    for walk in result:
        cells = [f"{now} ({before})" for now, before in zip(walk.numbers, BEFORE[walk.title], strict=True)]
        lines.append(f"| {walk.title} | {' | '.join(cells)} |")
        details += ["", f"### Call path: {walk.title}", "", f"`{walk.code}`", ""]
        for number, (path, names) in enumerate(walk.functions.items(), 1):
            details.append(f"{number}. `{path}`: {', '.join(f'`{name}`' for name in names)}")
    return [*lines, *details]
