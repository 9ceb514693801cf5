"""The Jinja2 environment of all sites."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from keyplan_systems.site.assets import asset
from keyplan_systems.site.filters import FILTERS

_SHARED = "keyplan_systems.site"


def environment(packages: tuple[str, ...], filters: Mapping[str, Callable[..., object]]) -> Environment:
    """An environment with the templates of these packages, in order of precedence, then the shared ones.

    Output is escaped, an undefined name raises UndefinedError, and all templates are compiled before the first request.
    """
    made = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in (*packages, _SHARED)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=-1,  # unlimited
    )
    made.filters.update({**FILTERS, **filters})
    shared: Mapping[str, Any] = {"asset": asset}
    made.globals.update(shared)
    for name in made.list_templates():
        made.get_template(name)
    return made
