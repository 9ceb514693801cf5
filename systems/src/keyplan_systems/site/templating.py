"""Templates: their environment, which every site's pages are filled in with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, nodes
from jinja2.compiler import CodeGenerator

from keyplan_systems.site.assets import asset
from keyplan_systems.site.filters import FILTERS

__all__ = ["environment"]

_SHARED = "keyplan_systems.site"


class _Joined(CodeGenerator):
    """Jinja2's compiler, but that a block's text is joined once, and not handed piece by piece through each template
    that the page extends.
    """

    def writeline(self, x: str, node: nodes.Node | None = None, extra: int = 0) -> None:
        """Write a line of the template's code."""
        if x.startswith("yield from "):
            x = f"yield concat({x.removeprefix('yield from ')})"
        super().writeline(x, node, extra)


class _Environment(Environment):
    """An environment whose templates are compiled so."""

    code_generator_class = _Joined


def environment(packages: tuple[str, ...], filters: Mapping[str, Callable[..., object]]) -> Environment:
    """The templates of some packages, the first that has one before the others, and last those that all sites share.

    Everything is escaped, and a name that isn't there is an error and not an empty text. All of them are compiled now,
    and not in somebody's request.
    """
    made = _Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in (*packages, _SHARED)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=-1,  # all of them, in a plain dictionary
    )
    made.filters.update({**FILTERS, **filters})
    shared: Mapping[str, Any] = {"asset": asset}
    made.globals.update(shared)
    for name in made.list_templates():
        made.get_template(name)
    return made
