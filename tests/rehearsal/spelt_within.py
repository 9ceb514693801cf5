# mypy: disable-error-code="empty-body,attr-defined"
# ruff: noqa: PLC0415 - writes that import by themselves are what it is about
"""Writes of a design that was made in a function, with classes that no module has; imports within writes, helpers that
add up, names in annotations as texts.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from keyplan import Add, Delete, Design, Entity, Index, Key, Put, Table, Update, Writes, read, write

BY_HUE = Index("BY_HUE", "hue_pk", "hue_sk")


def total(numbers: list[int], more: int) -> int:
    return sum(numbers) + more


def only_a_sum(numbers: list[int]) -> int:
    return sum(numbers)


def only_chosen(numbers: list[int]) -> int:
    other = max(1, 2)
    return numbers[other]


def sum_of_others(numbers: list[int]) -> int:
    return numbers[sum([1, 1])]


def painted() -> dict[str, Any]:
    """The classes, by name: within an ``if``, a ``try``, an ``except``, a ``with`` and a ``for``."""
    if BY_HUE:

        class Pot(Entity):
            name: str
            hue: str
            litres: int = 1
            layers: list[int] = []  # noqa: RUF012 - pydantic copies it

            primary = Key("POT#{name}", "HEAD")
            by_hue = Key("HUE#{hue}", "{name}", index=BY_HUE)

    try:

        class Brush(Entity):
            name: str

            primary = Key("BRUSH#{name}", "HEAD")

        raise LookupError  # noqa: TRY301 - so that the next class is made
    except LookupError:

        class Cloth(Entity):
            name: str

            primary = Key("CLOTH#{name}", "HEAD")

    with nullcontext():

        class Sponge(Entity):
            name: str

            primary = Key("SPONGE#{name}", "HEAD")

    class Paints(Design):
        table = Table("paints", indexes=[BY_HUE], entities=[Pot, Brush, Cloth, Sponge])

        @read("P1")
        def pot(self, name: str) -> Pot | None: ...

        @write("P2")
        def by_a_local_class(self, name: str) -> Writes:
            yield Update(Pot, name=name).set(litres=Add(1))

        @write("P3")
        def imports_itself(self, name: str) -> Writes:
            from keyplan import Delete as Away

            yield Away(Brush, name=name)

        @write("P4")
        def imports_beside(self, name: str) -> Writes:
            from . import renamed
            from .spelt import Update as Change

            yield Change(Pot, name=name).set(litres=renamed.Add(2))

        @write("P5")
        def imports_modules(self, name: str) -> Writes:
            import keyplan
            import keyplan.errors
            import tests.rehearsal.spelt as others

            yield keyplan.Check(Cloth, name=name).if_missing(keyplan.errors.Refused("none"))
            yield others.Delete(Sponge, name=name)

        @write("P6")
        def summed_by_a_helper(self, name: str) -> Writes:
            pot = yield from self.pot.read(name)
            if pot is not None:
                yield Update(pot, litres=only_a_sum(pot.layers))

        @write("P7")
        def added_by_a_helper(self, name: str) -> Writes:
            pot = yield from self.pot.read(name)
            if pot is not None:
                yield Update(pot, litres=total(pot.layers, 3))

        @write("P8")
        def chosen_by_a_helper(self, name: str) -> Writes:
            pot = yield from self.pot.read(name)
            if pot is not None and len(pot.layers) > 2:
                yield Update(pot, litres=only_chosen(pot.layers))

        @write("P9")
        def placed_by_a_helper(self, name: str) -> Writes:
            pot = yield from self.pot.read(name)
            if pot is not None and len(pot.layers) > 2:
                yield Update(pot, litres=sum_of_others(pot.layers))

        @write("P10")
        def unknown_and_impossible(self, name: str) -> Writes:
            yield Update(Pot, name=name).set(lid=True, hue="red", litres=2)

        @write("P11")
        def by_a_helper_with_texts(self, pot: Pot) -> Writes:
            yield self._emptied(pot)

        @write("P12")
        def unpacked(self, name: str, pots: list[Pot]) -> Writes:
            first, (second, third) = Brush(name=name), (name, 3)
            last, times = pots[-1], second * third
            yield Put(first)
            yield Delete(last)
            yield Delete(Cloth, name=times)

        def _emptied(self, pot: Pot) -> Update[Pot]:
            return Update(pot, litres=0)

    return {"design": Paints, "Pot": Pot, "Brush": Brush, "Cloth": Cloth, "Sponge": Sponge}


MADE = painted()
