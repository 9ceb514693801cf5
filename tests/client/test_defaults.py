"""What a call of the library means where something is left out: that is a promise to whoever leaves it out."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import is_dataclass
from typing import Any

import pytest

from tests.agreed import assert_agreed

MODULES = (
    "keyplan", "keyplan.testing", "keyplan.server", "keyplan.engine", "keyplan.systems",
    "keyplan.client.transports.urls",
)  # fmt: skip


def _defaults(of: Any) -> str:
    """The parameters that may be left out, each with its default."""
    try:
        parameters = inspect.signature(of).parameters.values()
    except (TypeError, ValueError):
        return ""
    given = (parameter for parameter in parameters if parameter.default is not parameter.empty)
    return ", ".join(f"{parameter.name}={_shown(parameter.default)}" for parameter in given)


def _shown(default: Any) -> str:
    """A value that is the same everywhere; of another nothing."""
    plain = default is None or isinstance(default, str | bool | int | float | tuple | frozenset)
    return repr(default) if plain or is_dataclass(default) else "..."


def _callables(of: Any) -> list[tuple[str, Any]]:
    """What can be called of a public class: itself, and its public methods that it declares itself."""
    own = [(name, member) for name, member in vars(of).items() if not name.startswith("_")]
    methods = [(f".{name}", getattr(of, name)) for name, member in own if callable(getattr(member, "__func__", member))]
    return [("", of), *methods]


@pytest.mark.parametrize("module", MODULES)
def test_what_is_left_out_has_the_default_that_was_agreed_upon(module: str) -> None:
    lines: list[str] = []
    imported = importlib.import_module(module)
    for name in sorted(imported.__all__):
        public = getattr(imported, name)
        if not getattr(public, "__module__", "").startswith("keyplan"):
            continue  # another library's, which has defaults of its own
        parts = _callables(public) if isinstance(public, type) else [("", public)]
        defaults = [(part, _defaults(of)) for part, of in parts if callable(of)]
        lines += [f"{name}{part}: {shown}" for part, shown in defaults if shown]
    assert_agreed("\n".join(lines))
