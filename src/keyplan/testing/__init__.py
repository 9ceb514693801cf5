"""Tools to test designs.

``verify(Design)`` compares every result of a design with a brute-force filter over all stored items::

    from keyplan.testing import verify

    def test_cms() -> None:
        verify(Cms)

``assert_cost(cms.article, "1", read_units=0.5)`` tests the cost of an access pattern. ``open_test_store(Cms,
clock=Clock())`` opens a design in this process with its own time, index lag and throttling. ``Factory`` creates
instances. pytest loads ``plugin``, whose fixture ``design`` opens a design on each store.

``verify`` needs hypothesis: ``pip install keyplan[testing]``. Names are imported on first use, because pytest imports
this package at each start.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keyplan.testing.costs import assert_cost
    from keyplan.testing.report import PatternReport, Report
    from keyplan.testing.stores import Clock, Factory, expire_items, open_test_store, throttled
    from keyplan.testing.verifying import verify

__all__ = [
    "Clock",
    "Factory",
    "PatternReport",
    "Report",
    "assert_cost",
    "expire_items",
    "open_test_store",
    "throttled",
    "verify",
]

_MODULES = {
    "Clock": "stores",
    "Factory": "stores",
    "PatternReport": "report",
    "Report": "report",
    "assert_cost": "costs",
    "open_test_store": "stores",
    "expire_items": "stores",
    "throttled": "stores",
    "verify": "verifying",
}
"""The module of each name."""

if not TYPE_CHECKING:  # with __getattr__, type checkers would accept any name

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
