"""The account of a write: what it asks, which actions it makes, which rights it needs, and why it can't work.

Put together from what its code can do, in every branch (``following.py``), and what its runs did (``trials.py``).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from keyplan.analysis.rehearsal.code import Action, Ask, WrittenCode
from keyplan.analysis.rehearsal.following import code_of
from keyplan.analysis.rehearsal.running import Refused, is_of_type
from keyplan.analysis.rehearsal.sources import Sources
from keyplan.analysis.rehearsal.trials import CalledWithinError, Tried, try_write
from keyplan.analysis.traffic.traffic_file import Traffic, traffic_of
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.errors import ArgumentError, KeyFieldError
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern
from keyplan.model.declared.fields import kind_of
from keyplan.model.stored.stored_entity import CompiledEntity, error_details_of

__all__ = ["Account", "Accounts", "BodyFault"]

_RIGHTS = {
    "Put": "PutItem",
    "Create": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "Check": "ConditionCheckItem",
    "Batch": "BatchWriteItem",
}
"""What each action needs to be allowed. A transaction needs what its parts need."""
_SINGLE = {**_RIGHTS, "Check": "TransactWriteItems"}
_PLAIN = {str, bool, bytes, UUID, datetime, date}
"""Types of arguments of which no loop takes a number of rounds."""


@dataclass
class Account:
    """What is known of one write. ``tried`` is None where it isn't run. ``in_transaction``: whether its actions go out
    with those of other designs' writes.
    """

    design: CompiledDesign
    pattern: WritePattern
    code: WrittenCode
    tried: Tried | None = None
    joined: bool = False

    @property
    def known(self) -> bool:
        """Whether its code could be read."""
        return self.code.known

    @property
    def actions(self) -> list[Action]:
        """The actions in its code."""
        return self.code.actions

    @property
    def asks(self) -> list[Ask]:
        """The reads in its code, in their order."""
        return self.code.asks

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The names of the reads that it asks, by its code and by its runs."""
        rehearsal = None if self.tried is None else self.tried.rehearsal
        run = () if rehearsal is None else (element.pattern.name for element in rehearsal.asked)
        return tuple(dict.fromkeys([*(ask.name for ask in self.asks), *run]))

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its actions, ``Batch`` among them, by its code and by its runs."""
        rehearsal = None if self.tried is None else self.tried.rehearsal
        run = () if rehearsal is None else (kind for kind, _ in rehearsal.kinds)
        return tuple(dict.fromkeys([*self.code.mentioned, *run]))

    @cached_property
    def entities(self) -> tuple[CompiledEntity, ...]:
        """The entities that it may write."""
        rehearsal = None if self.tried is None else self.tried.rehearsal
        run = () if rehearsal is None else (name for _, name in rehearsal.kinds)
        names = dict.fromkeys([*self.code.entities, *run])
        return tuple(self.design.by_name[name] for name in names if name in self.design.by_name)

    @property
    def rights(self) -> tuple[str, ...]:
        """The operations that its actions need to be allowed, by IAM's names. What it asks is in ``asked``."""
        result = {_RIGHTS[kind] for kind in self.kinds}
        if "Update" in self.kinds and any(entity.claims for entity in self.entities):
            # An update may move a claim: it is deleted under the old value, and put under the new one
            result |= {"PutItem", "DeleteItem"}
        return tuple(sorted(result))

    @property
    def operation(self) -> str:
        """The operation of the write itself: one action is a single request, several are one transaction."""
        kinds = [kind for kind in self.kinds if kind != "Batch"]
        batch = ["BatchWriteItem"] if "Batch" in self.kinds else []
        several = len([action for action in self.actions if not action.batched]) > 1
        several |= self.code.loops or self.code.repeats or self.joined
        rehearsal = None if self.tried is None else self.tried.rehearsal
        if self.actions and all(action.batched for action in self.actions) and not (rehearsal and rehearsal.mutations):
            kinds = []  # nothing goes out but the batch
        several |= rehearsal is not None and len(rehearsal.mutations) > 1
        if len(kinds) == 1 and not several and not self._may_claim:
            return ", ".join([_SINGLE[kinds[0]], *batch])
        return ", ".join([*["TransactWriteItems"] * bool(kinds), *batch]) or "none"

    @property
    def _may_claim(self) -> bool:
        """Whether an action may take or give up a unique value, which is another item: an update of other fields
        doesn't.
        """
        if not self.actions:
            return any(entity.claims for entity in self.entities)
        return any(map(self._claims, self.actions))

    def _claims(self, action: Action) -> bool:
        entities = self.entities if action.entity is None else (action.entity,)
        claimed = {name for entity in entities for claim in entity.claims for name in entity.inputs_of(claim)}
        if action.kind == "Update" and not action.open:
            return not claimed.isdisjoint(action.changes)
        return action.kind != "Check" and bool(claimed)

    # What is wrong

    def faults(self) -> tuple[BodyFault, ...]:
        """Why the write, or an action of it, can never work."""
        body_faults = list(self._of_the_code())
        for run in self._of_the_runs():
            if not any(run.message.rpartition(": ")[2] in other.message for other in body_faults):
                body_faults.append(run)
        return tuple(dict.fromkeys(body_faults))

    def _of_the_code(self) -> Iterator[BodyFault]:
        for action in self.actions:
            if action.outside is not None:
                yield BodyFault(
                    f"{action.outside} is no entity of this design",
                    "name it in Table(..., entities=[...])",
                    action.line,
                )
            if action.entity is None:
                continue
            for name in _unknown_names(action.entity, action.changes):
                near = difflib.get_close_matches(name, action.entity.fields, n=1)
                hint = f"did you mean {near[0]}?" if near else f"its fields are {', '.join(action.entity.fields)}"
                yield BodyFault(f"{action.entity.name} has no field {name!r}", hint, action.line)
            if action.kind == "Update":
                yield from _unchangeable(action)
            yield from _wrong_values(action)

    def _of_the_runs(self) -> Iterator[BodyFault]:
        if self.tried is None:
            return
        for refused in self.tried.refused:
            if (refused.always or self._is_certain(refused)) and not self._is_open(refused.action):
                yield _fault(refused)
        if self.tried.rehearsal is None and self.tried.refused and not self.tried.errors:
            first, *others = self.tried.refused
            if not first.always and isinstance(first.error, ArgumentError | KeyFieldError) and _are_one(first, others):
                yield _fault(first)
        if self.tried.rehearsal is None and not self.tried.refused:
            mistakes = [text for text in map(_mistake, self.tried.errors) if text is not None]
            if mistakes and len(mistakes) == len(self.tried.errors):
                yield BodyFault(mistakes[0], "no run of it goes through: correct its code")

    def _is_certain(self, refused: Refused) -> bool:
        """Whether all runs failed since their actions can't be one transaction, and nothing that was made up decides
        how many these are.
        """
        if self.tried is None or self.tried.rehearsal is not None or self.tried.errors or len(self.tried.refused) > 1:
            return False
        kinds = {kind_of(parameter.annotation) for parameter in self.pattern.signature.parameters}
        return refused.action is None and (not self.code.loops or (not self.asked and kinds <= _PLAIN))

    def _is_open(self, action: Any) -> bool:
        """Whether an action's changes are handed on, so that those of a run are made up."""
        target = getattr(action, "target", None)
        cls = target if isinstance(target, type) else type(target)
        opened = (element.entity for element in self.actions if element.open and element.kind == type(action).__name__)
        return any(entity is None or entity.cls is cls for entity in opened)


@dataclass(frozen=True, slots=True)
class BodyFault:
    """Why an action, or a whole write, can never work. ``line``: in the write's code, where it is known."""

    message: str
    hint: str
    line: int | None = None


def _unknown_names(entity: CompiledEntity, names: Iterable[str]) -> list[str]:
    return [name for name in names if name not in entity.fields and name not in entity.cls.model_computed_fields]


def _unchangeable(action: Action) -> Iterator[BodyFault]:
    """Changes that the client refuses whatever their values are."""
    entity = action.entity
    for name in action.changes if entity is not None else ():
        if entity is None or name not in entity.fields:
            continue
        if name in entity.key_fields:
            yield BodyFault(
                f"{entity.name}.{name}: it names the item: DynamoDB can't change a primary key",
                "create a new item and delete the old one, in one transaction",
                action.line,
            )
        elif not action.by_instance:
            known = {*entity.key_fields, *(text for text, change in action.changes.items() if change == "set")}
            made = {key for key in entity.index_keys if action.creates and (action.open or key.fields <= known)}
            every = (*entity.index_keys, *entity.claims)
            keys = (key for key in every if name in entity.inputs_of(key) and not entity.writes_itself(key, name))
            for key in [compiled_key for compiled_key in keys if compiled_key not in made][:1]:
                yield BodyFault(
                    f"{entity.name}.{name}: it is part of the key {key.name}, which can't be made anew without the "
                    "whole item",
                    f"read the item and update the instance: Update(item, {name}=...)",
                    action.line,
                )


def _wrong_values(action: Action) -> Iterator[BodyFault]:
    """Constants that their fields don't take, as a change or as what is expected."""
    entity = action.entity
    for name, value in () if entity is None else action.constants:
        if entity is None or name not in entity.fields or value is None:
            continue
        try:
            entity.check_fields({name: value})
        except ArgumentError as error:
            yield BodyFault("; ".join(map(str, error.errors)), "give it a value of the field's type", action.line)


def _are_one(first: Refused, others: Iterable[Refused]) -> bool:
    """Whether all runs were refused at one place for one field: by what the code says, not by what it is given."""
    wanted = (first.line, type(first.error), first.error.place)
    return all((other.line, type(other.error), other.error.place) == wanted for other in others)


def _fault(refused: Refused) -> BodyFault:
    error = refused.error
    inner = "; ".join(map(str, error.errors))
    where = f"{error.place}: " if error.place and "." in error.place else ""
    return BodyFault(f"{where}{error.message}" + (f": {inner}" if inner else ""), error.hint or "", refused.line)


def _mistake(error: Exception) -> str | None:
    """What is wrong with the code itself, where an error says so; None for one that its author raises on purpose, or
    that comes of the values it was run with.
    """
    if isinstance(error, CalledWithinError):
        return str(error)
    if isinstance(error, AttributeError | NameError | TypeError):
        return f"{type(error).__name__}: {error}"
    if isinstance(error, ValidationError) and any(
        is_of_type(element["type"]) for element in error.errors(include_url=False)
    ):
        return f"it makes no valid {error.title}: {'; '.join(map(str, error_details_of(error, error.title)))}"
    return None


@dataclass
class Accounts:
    """The accounts of a design's writes, each made once. ``owner``: the design's class; without it nothing is run."""

    design: CompiledDesign
    owner: type[Any] | None
    traffic: Traffic | None = None
    sources: Sources = field(default_factory=Sources)
    _made: dict[str, Account] = field(default_factory=dict[str, Account])

    def of(self, pattern: WritePattern) -> Account:
        """The account of one write, which is run for it."""
        account = self._made.get(pattern.name)
        if account is None:
            account = Account(self.design, pattern, self.code(pattern), self._tried(pattern), self._joined(pattern))
            self._made[pattern.name] = account
        return account

    def unrun(self, pattern: WritePattern) -> Account:
        """What its code says; it is run only where that can't be read."""
        code = self.code(pattern)
        if not code.known or not code.mentioned:
            return self.of(pattern)
        return Account(self.design, pattern, code, joined=self._joined(pattern))

    def code(self, pattern: WritePattern) -> WrittenCode:
        """What its code can do."""
        return code_of(pattern, self.design, self.owner, self.sources)

    @cached_property
    def _typical(self) -> Typical:
        return Typical(self.design, self._traffic.entities)

    @cached_property
    def _traffic(self) -> Traffic:
        return self.traffic or traffic_of(self.design)

    def _joined(self, pattern: WritePattern) -> bool:
        return bool(self._traffic.patterns.get(pattern.name, pattern.load).in_transaction)

    def _tried(self, pattern: WritePattern) -> Tried | None:
        return None if self.owner is None else try_write(self.design, self.owner, pattern, self._typical, self._traffic)

    def faults(self) -> Mapping[str, tuple[BodyFault, ...]]:
        """By the name of each write, why it can never work."""
        result = {name: self.of(pattern).faults() for name, pattern in self.design.writes.items()}
        return {name: faults for name, faults in result.items() if faults}
