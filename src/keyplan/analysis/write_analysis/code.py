"""What a write's code can do, as data: its actions with what they change, its reads. How that is read from the code is
in ``body_reader.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from keyplan.model.compiled.compiled_design import WritePattern
from keyplan.model.stored.stored_entity import CompiledEntity

__all__ = ["Action", "Ask", "FieldNeed", "WrittenCode"]


@dataclass(frozen=True)
class Action:
    """One action in a write's code. ``entity``: None where the code doesn't say; ``outside``: a class of entities that
    isn't in the design.

    ``changes``: of an update, each changed field with the kind of change (``set``, ``Add``, ...); ``from_read``:
    fields whose new value is computed from what was read before; ``grown``: those of them that hold all that was
    read, and more; ``keyed``: maps that are given a key which doesn't stand in the code. ``checked``: fields that
    the code looked at before, and decided by. ``open``: further changes are made that aren't named. ``built``:
    fields of an instance that is made right there. ``conditional``: by ``only_if``, which speaks of ``expects``.
    ``constants``: fields with a value that is in the code, as a change or as what ``only_if`` expects; ``compared``:
    fields with values in the code that ``only_if`` compares them with, or neighbors of those.
    ``asked_for``: its item was read by the write, or is a copy of such a one. ``unbounded``: what a loop that it
    stands in goes through, where nothing bounds that. ``looped``: in a loop. ``batched``: in a Batch.
    ``by_instance``: an update of an instance, not by key fields. ``creates``: an update that makes its item where
    it is missing. ``once``: an update with a token, ``named_by`` the names in it. ``must_exist``: its item must be
    there, by ``if_missing``. ``lowered``: fields from which an amount that isn't in the code is taken,
    ``Add(-amount)``.
    """

    kind: str
    entity: CompiledEntity | None
    line: int
    changes: Mapping[str, str] = field(default_factory=dict[str, str])
    from_read: frozenset[str] = frozenset()
    grown: frozenset[str] = frozenset()
    keyed: frozenset[str] = frozenset()
    checked: frozenset[str] = frozenset()
    built: frozenset[str] | None = None
    conditional: bool = False
    expects: frozenset[str] = frozenset()
    looped: bool = False
    batched: bool = False
    open: bool = False
    by_instance: bool = False
    outside: str | None = None
    constants: tuple[tuple[str, Any], ...] = ()
    compared: tuple[tuple[str, Any], ...] = ()
    asked_for: bool = False
    unbounded: str | None = None
    creates: bool = False
    once: bool = False
    named_by: frozenset[str] = frozenset()
    must_exist: bool = False
    lowered: frozenset[str] = frozenset()

    @property
    def moving(self) -> frozenset[str]:
        """The fields that each call changes further: by adding, or by what was read."""
        return self.from_read | {name for name, change in self.changes.items() if change == "Add"}


@dataclass(frozen=True)
class Ask:
    """A read within a write: the pattern's name. ``looped``: in a loop through more than a few things at hand."""

    name: str
    line: int
    looped: bool = False


class FieldNeed(NamedTuple):
    """A field of an item that must be (``equal``) or must not be one of some values: the body raises otherwise."""

    entity: str
    field: str
    values: tuple[Any, ...]
    equal: bool


@dataclass
class WrittenCode:
    """A write pattern's code. ``known``: whether its source could be read. ``mentioned``: the kinds of action that it
    names, ``Batch`` among them; ``loops``: whether it makes actions in a loop; ``repeats``: whether a function that
    makes some is called several times; ``folded``: the names of what it folds by case.
    """

    pattern: WritePattern
    known: bool = False
    actions: list[Action] = field(default_factory=list[Action])
    asks: list[Ask] = field(default_factory=list[Ask])
    mentioned: dict[str, None] = field(default_factory=dict[str, None])
    entities: dict[str, None] = field(default_factory=dict[str, None])
    loops: bool = False
    repeats: bool = False
    folded: set[str] = field(default_factory=set[str])
    counted: set[str] = field(default_factory=set[str])
    """The reads that say how many items there are, and by which it decides."""
    decided: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    """By read, the actions that its result decides between: those in the branches of an ``if`` that tests it."""
    direct_calls: dict[str, int] = field(default_factory=dict[str, int])
    """The patterns and verbs of the design that it calls, which a write can't, each with its line."""
    outside: dict[str, None] = field(default_factory=dict[str, None])
    """What its calls do outside the process, in words: ``opens a file``."""
    not_followed: dict[str, None] = field(default_factory=dict[str, None])
    """The functions that it calls and that can't be followed."""
    needs: dict[str, bool | None] = field(default_factory=dict[str, bool | None])
    """By read, whether it must find an item, since the body raises otherwise; None where both are needed."""
    field_needs: list[FieldNeed] = field(default_factory=list[FieldNeed])

    @property
    def open(self) -> list[Action]:
        """The actions whose entity or changes the code doesn't say."""
        return [action for action in self.actions if action.open or (action.entity is None and action.outside is None)]
