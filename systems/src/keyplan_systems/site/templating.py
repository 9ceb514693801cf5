"""The Jinja2 environment of all sites, and static files: styles, scripts, icons."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from keyplan_systems.site.filters import FILTERS

_SHARED = "keyplan_systems.site"
_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_FOLDER = files(_SHARED).joinpath("static")
STATIC = {
    entry.name: _TYPES[entry.name.rpartition(".")[2]]
    for entry in sorted(_FOLDER.iterdir(), key=lambda entry: entry.name)
    if entry.name.rpartition(".")[2] in _TYPES
}
"""Media types of the files in ``static``, by name."""


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
        cache_size=-1,  # templates are never evicted from the cache
    )
    made.filters.update({**FILTERS, **filters})
    shared: Mapping[str, Any] = {"asset": asset}
    made.globals.update(shared)
    for name in made.list_templates():
        made.get_template(name)
    return made


@cache
def static_file(name: str) -> tuple[bytes, str]:
    """A static file's content, and its version: a part of its hash."""
    content = _FOLDER.joinpath(name).read_bytes()
    return content, hashlib.blake2b(content, digest_size=6).hexdigest()


def asset(name: str) -> str:
    """The URL of a static file, which changes with its content."""
    return f"/static/{name}?v={static_file(name)[1]}"
