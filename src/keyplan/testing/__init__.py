"""Testing designs, and what is built on them.

``verify(Design)`` compares every answer of a design with a brute-force filter over all it stores::

    from keyplan.testing import verify

    def test_cms() -> None:
        verify(Cms)

``assert_cost(cms.article, "1", read_units=0.5)`` is a test of what a pattern costs. ``open_test_store(Cms,
clock=Clock())`` is a design in this process whose time can be set, whose indexes lag, and whose requests can be
throttled; ``Factory`` makes instances. ``plugin`` is for pytest, which loads it by itself: a fixture ``design`` on each
store.

``verify`` needs hypothesis: ``pip install keyplan[testing]``. Nothing here is used by a design at work. Each part is
imported when it is first asked for, since pytest imports this package at each start.
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

if not TYPE_CHECKING:  # type checkers know the names from the imports above, and no others

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
