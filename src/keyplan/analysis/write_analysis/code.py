"""The possible effects of a write's code, as data: the actions with their changes, and the reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from keyplan.model.compiled.compiled_design import WritePattern
from keyplan.model.stored.stored_entity import CompiledEntity


@dataclass(eq=False)
class Action:
    """One action in a write's code. ``entity`` is None if the code doesn't determine the entity.

    ``outside``: an entity class that isn't in the design. ``by_instance``: the action updates an instance, not a key.
    ``changes``: the changed fields, with the kind of change (``set``, ``Add``, ...). ``open``: the code doesn't name
    all changes. ``built``: the fields of an instance that the write constructs. ``constants``: fields with a literal
    value, in a change or in ``only_if``. ``lowered``: fields with ``Add(-amount)`` of a variable.

    ``from_read``: fields whose new value is computed from a read. ``grown``: fields whose previous contents are
    extended. ``keyed``: maps in which a nonliteral key is set. ``checked``: fields that the code tests before the
    action. ``asked_for``: the write has read the item.

    ``conditional``: the action has ``only_if``, on the fields in ``expects``. ``creates``, ``must_exist``, ``once``:
    the code calls ``or_create``, ``if_missing`` or ``idempotent``, whose token contains the fields in ``named_by``.
    ``looped``: it is in a loop. ``unbounded``: the loop's iterable, if it is unbounded. ``batched``: it is in a Batch.
    """

    kind: str
    entity: CompiledEntity | None
    line: int
    changes: dict[str, str] = field(default_factory=dict[str, str])
    from_read: set[str] = field(default_factory=set[str])
    grown: set[str] = field(default_factory=set[str])
    keyed: set[str] = field(default_factory=set[str])
    checked: frozenset[str] = frozenset()
    built: frozenset[str] | None = None
    conditional: bool = False
    expects: set[str] = field(default_factory=set[str])
    looped: bool = False
    batched: bool = False
    open: bool = False
    by_instance: bool = False
    outside: str | None = None
    constants: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    asked_for: bool = False
    unbounded: str | None = None
    creates: bool = False
    once: bool = False
    named_by: set[str] = field(default_factory=set[str])
    must_exist: bool = False
    lowered: set[str] = field(default_factory=set[str])

    @property
    def moving(self) -> frozenset[str]:
        """The fields that each call changes, by ``Add`` or with a value computed from a read."""
        return frozenset(self.from_read | {name for name, change in self.changes.items() if change == "Add"})


@dataclass(frozen=True)
class Ask:
    """A read within a write, by pattern name. ``looped``: the read is in a loop that isn't over a literal."""

    name: str
    line: int
    looped: bool = False


@dataclass
class WrittenCode:
    """The code of a write. ``known``: the source is readable. ``loops``: an action is in a loop."""

    pattern: WritePattern
    known: bool = False
    actions: list[Action] = field(default_factory=list[Action])
    asks: list[Ask] = field(default_factory=list[Ask])
    mentioned: dict[str, None] = field(default_factory=dict[str, None])
    entities: dict[str, None] = field(default_factory=dict[str, None])
    loops: bool = False
    endless: bool = False
    """Whether the code has an endless ``while True`` loop."""
    folded: set[str] = field(default_factory=set[str])
    """The names of values that the code converts to one letter case."""
    counted: set[str] = field(default_factory=set[str])
    """The reads whose number or sum of items the code tests."""
    decided: dict[str, list[Action]] = field(default_factory=dict[str, list[Action]])
    """By read, the actions in the branches of an ``if`` that tests the result of the read."""
    compared: list[tuple[str, str, Any]] = field(default_factory=list[tuple[str, str, Any]])
    """Entity, field and value: literals that tests and conditions compare a field with."""
    direct_calls: dict[str, int] = field(default_factory=dict[str, int])
    """The patterns and CRUD methods of the design that the code calls, which isn't allowed, with their lines."""
    outside: dict[str, None] = field(default_factory=dict[str, None])
    """The side effects of the code in words, such as ``opens a file``."""
    not_followed: dict[str, None] = field(default_factory=dict[str, None])
    """The called functions that can't be followed."""

    @property
    def not_run(self) -> str | None:
        """The reason why the body isn't run; None if it can run."""
        if not self.known:
            return "the body isn't run: the source can't be read"
        calls = (f"calls {name}, whose code can't be analyzed" for name in self.not_followed)
        direct = (f"calls self.{name}" for name in self.direct_calls)
        why = next(iter([*self.outside, *["has an endless loop"] * self.endless, *calls, *direct]), None)
        return None if why is None else f"the body isn't run: it {why}"
