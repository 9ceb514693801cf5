"""Document paths with resolved names: reading values, projections, overlapping paths.

A resolved path is a tuple, in which ``str`` steps are attribute names and ``int`` steps are list indexes. The module
``updates`` writes to paths.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from keyplan.dynamodb.expressions import tree
from keyplan.dynamodb.expressions.expression_errors import ExpressionFault
from keyplan.dynamodb.expressions.placeholders import Placeholders
from keyplan.dynamodb.values import AttributeValue, Item

Steps: TypeAlias = tuple[str | int, ...]
Getter: TypeAlias = Callable[[Item], AttributeValue | None]


LEVELS_MAX = 32


def resolve(path: tree.Path, given: Placeholders) -> Steps:
    """The path with its ``#placeholders`` replaced by names.

    Raises ``ExpressionFault`` for an undefined placeholder and for more than 32 levels.
    """
    if len(path.parts) > LEVELS_MAX:
        raise ExpressionFault(f"The document path has too many nesting levels; nesting levels: {len(path.parts)}")
    return tuple([given.name(part) if isinstance(part, str) else part for part in path.parts])


def show(steps: Steps) -> str:
    """The path as error messages show it, such as ``[a, b, [0]]``."""
    return f"[{', '.join(f'[{step}]' if isinstance(step, int) else step for step in steps)}]"


def getter(steps: Steps) -> Getter:
    """A function that reads the value at a path of an item, or None."""
    name, rest = str(steps[0]), steps[1:]
    if not rest:
        return lambda item: item.get(name)

    def read(item: Item) -> AttributeValue | None:
        value = item.get(name)
        for step in rest:
            if value is None:
                return None
            if isinstance(step, str):
                members = value.get("M")
                value = None if members is None else members.get(step)
            else:
                elements = value.get("L")
                value = elements[step] if elements is not None and step < len(elements) else None
        return value

    return read


def check_overlaps(paths: Sequence[Steps]) -> None:
    """Reject two paths of which one contains the other, then two that need an attribute to be both a map and a list."""
    # A trie: each node is a dict from steps to child nodes, and has the path that ends at this node under the key None.
    root: dict[Any, Any] = {}
    conflict: ExpressionFault | None = None
    for steps in paths:
        node = root
        for step in steps:
            if None in node:
                raise _two_paths("overlap", node[None], steps)
            for other in node:
                if isinstance(other, str) != isinstance(step, str) and conflict is None:
                    conflict = _two_paths("conflict", _any_path(node[other]), steps)
                break
            node = node.setdefault(step, {})
        if node:
            raise _two_paths("overlap", _any_path(node), steps)
        node[None] = steps
    if conflict is not None:
        raise conflict


def _any_path(node: dict[Any, Any]) -> Steps:
    while None not in node:
        node = next(iter(node.values()))
    path: Steps = node[None]
    return path


def _two_paths(how: str, steps: Steps, two: Steps) -> ExpressionFault:
    return ExpressionFault(
        f"Two document paths {how} with each other; must remove or rewrite one of these paths; "
        f"path one: {show(steps)}, path two: {show(two)}"
    )


def select(paths: Sequence[Steps], item: Item) -> Item:
    """The parts of an item at non-overlapping paths; missing parts are omitted.

    A map keeps only the selected members, a list only the selected elements, in order.
    """
    selected: Item = {}
    nested: dict[str, list[Steps]] = {}
    for steps in paths:
        name = str(steps[0])
        if name not in item:
            continue
        if len(steps) == 1:
            selected[name] = item[name]
        else:
            nested.setdefault(name, []).append(steps[1:])
    for name, inner in nested.items():
        value = _select_within(inner, item[name])
        if value is not None:
            selected[name] = value
    return selected


def _select_within(paths: list[Steps], value: AttributeValue) -> AttributeValue | None:
    by_step: dict[Any, list[Steps]] = {}
    for steps in paths:
        by_step.setdefault(steps[0], []).append(steps[1:])
    if "M" in value:
        members: Item = value["M"]
        result = {
            step: part
            for step, inner in by_step.items()
            if step in members and (part := _part(inner, members[step])) is not None
        }
        return {"M": result} if result else None
    if "L" in value:
        elements: list[AttributeValue] = value["L"]
        parts = [
            part
            for step in sorted(step for step in by_step if isinstance(step, int) and step < len(elements))
            if (part := _part(by_step[step], elements[step])) is not None
        ]
        return {"L": parts} if parts else None
    return None


def _part(inner: list[Steps], value: AttributeValue) -> AttributeValue | None:
    return value if inner == [()] else _select_within(inner, value)
