# mypy: disable-error-code="empty-body"
"""Designs for the export tests: the five systems, designs of other tests, and one with unusual names."""

from __future__ import annotations

import importlib

from keyplan import Binary, Design, Entity, Index, Key, Number, Page, Table, Ttl, read
from tests.contract.design import Everything
from tests.export.words import Words
from tests.web.library import Library

SYSTEMS = ("Blog", "Cms", "Papers", "Shop", "Social")
ODD = Index("odd-name.2", ["a", "b"], [Number("c"), Binary("d")], projection=["gone", "e"])
KEYS = Index("yes", "yes", projection="KEYS_ONLY")


class Thing(Entity):
    """A thing whose names have a meaning in YAML, HCL or Mermaid."""

    yes: str
    title: str
    weight: int
    mark: bytes
    gone: Ttl | None = None

    primary = Key('$"%<N>|`#{yes}')
    by_all = Key(["{yes}", "{title}"], ["{weight}", "{mark}"], index=ODD)


class Odd(Design):
    """Odd: "quotes", ${dollars}, %{percents}, <tags> # and hashes | pipes.

    A second paragraph.
    """

    table = Table("2.odd-table", indexes=[ODD, KEYS], partition="Null", sort=None, entities=[Thing])

    @read("O|1", order_by="weight")
    def things(self, yes: str, title: str, limit: int = 5) -> Page[Thing]:
        """Things with a title."""
        ...


def design(name: str) -> type[Design]:
    """The design whose class has this name."""
    others = {"Library": Library, "Everything": Everything, "Odd": Odd, "Words": Words}
    if name in others:
        return others[name]
    design_class: type[Design] = getattr(importlib.import_module(f"keyplan_systems.{name.lower()}.design"), name)
    return design_class


OF_TESTS = ("Library", "Everything", "Odd", "Words")
"""Those that change with the tests alone: what is made of them can be agreed upon, word by word."""
NAMES = (*SYSTEMS, *OF_TESTS)
