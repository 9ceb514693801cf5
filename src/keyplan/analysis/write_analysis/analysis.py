"""The effects of a write: its reads and actions, the required IAM actions, and the reason if it always fails."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from keyplan.analysis.traffic.traffic_file import Traffic, traffic_of
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.analysis.write_analysis.body_reader import code_of
from keyplan.analysis.write_analysis.code import Action, Ask, WrittenCode
from keyplan.analysis.write_analysis.dry_run import ActionShape, DryRuns, Refused, dry_runs, is_type_error, shape_of
from keyplan.analysis.write_analysis.sources import Sources
from keyplan.errors import ArgumentError
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern
from keyplan.model.declared.fields import kind_of
from keyplan.model.stored.stored_entity import CompiledEntity, error_details_of

_RIGHTS = {
    "Put": "PutItem",
    "Create": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "Check": "ConditionCheckItem",
    "Batch": "BatchWriteItem",
}
"""The IAM action for each kind of action. A transaction requires the IAM actions of its actions."""
_SINGLE = {**_RIGHTS, "Check": "TransactWriteItems"}

_PLAIN = {str, bool, bytes, UUID, datetime, date}
"""Types of arguments that don't determine the number of iterations of a loop."""


@dataclass(frozen=True, slots=True)
class BodyFault:
    """The reason why an action, or a whole write, always fails. ``line``: the line of the action, if known."""

    message: str
    hint: str
    line: int | None = None


@dataclass
class WriteAnalysis:
    """The analysis of one write. ``runs``: the dry runs, if any. ``joined``: other writes are in its transaction."""

    design: CompiledDesign
    pattern: WritePattern
    code: WrittenCode
    runs: DryRuns = field(default_factory=DryRuns)
    joined: bool = False

    @property
    def known(self) -> bool:
        return self.code.known

    @property
    def actions(self) -> list[Action]:
        return self.code.actions

    @property
    def asks(self) -> list[Ask]:
        return self.code.asks

    @cached_property
    def unknown(self) -> tuple[str, ...]:
        if self.runs.unknown is not None:
            return (self.runs.unknown,)
        result = dict.fromkeys(
            f"no dry run reaches the {action.kind}{'' if action.entity is None else ' ' + action.entity.name} in line "
            f"{action.line} (add an example= to the write)"
            for action in self.actions
            if not any(_is_of(shape, action) for shape in self._shapes)
        )
        return (*(() if self.known else ("the source code of the write can't be read",)), *result)

    @cached_property
    def asked(self) -> tuple[str, ...]:
        run = (asked.pattern.name for run in self.runs.finished for asked in run.asked)
        return tuple(dict.fromkeys([*(ask.name for ask in self.asks), *run]))

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self.code.mentioned, *(shape.kind for shape in self._shapes)]))

    @cached_property
    def entities(self) -> tuple[CompiledEntity, ...]:
        names = dict.fromkeys([*self.code.entities, *(shape.entity for shape in self._shapes)])
        return tuple(self.design.by_name[name] for name in names if name in self.design.by_name)

    @property
    def _shapes(self) -> Iterator[ActionShape]:
        return (shape for run in self.runs.finished for shape in run.shapes)

    @property
    def rights(self) -> tuple[str, ...]:
        """The IAM actions that the actions of the write require, without the IAM actions for its reads."""
        result = {_RIGHTS[kind] for kind in self.kinds}
        if "Update" in self.kinds and any(entity.claims for entity in self.entities):
            # An update can change a claim: the old claim item is deleted, and a new claim item is put
            result |= {"PutItem", "DeleteItem"}
        return tuple(sorted(result))

    @property
    def rights_known(self) -> bool:
        return self.known and (bool(self.code.mentioned) or bool(self.runs.finished))

    @property
    def operation(self) -> str:
        """The operation that sends the actions: a request for a single action, or a transaction for several actions."""
        kinds = [kind for kind in self.kinds if kind != "Batch"]
        batch = ["BatchWriteItem"] if "Batch" in self.kinds else []
        most = max((len(run.mutations) for run in self.runs.finished), default=0)
        several = len([action for action in self.actions if not action.batched]) > 1 or most > 1
        several |= self.code.loops or self.joined
        if self.actions and all(action.batched for action in self.actions) and not most:
            kinds = []
        # An update writes claim items only if it changes a unique value
        claims = any(map(self._claims, self.actions)) if self.actions else any(each.claims for each in self.entities)
        if len(kinds) == 1 and not several and not claims:
            return ", ".join([_SINGLE[kinds[0]], *batch])
        return ", ".join([*["TransactWriteItems"] * bool(kinds), *batch]) or "none"

    def _claims(self, action: Action) -> bool:
        entities = self.entities if action.entity is None else (action.entity,)
        claimed = {name for entity in entities for claim in entity.claims for name in entity.inputs_of(claim)}
        if action.kind == "Update" and not action.open:
            return not claimed.isdisjoint(action.changes)
        return action.kind != "Check" and bool(claimed)

    # Errors

    def faults(self) -> tuple[BodyFault, ...]:
        result = list(self._of_the_code())
        for fault in self._of_the_runs():
            if not any(fault.message.rpartition(": ")[2] in other.message for other in result):
                result.append(fault)
        return tuple(dict.fromkeys(result))

    def _of_the_code(self) -> Iterator[BodyFault]:
        for name, line in self.code.direct_calls.items():
            if name in self.design.reads:
                hint = f"read with `yield from self.{name}.read(...)`, so that the write fails if the item has changed"
            elif name in self.design.writes:
                hint = f"use `yield from self.{name}.in_transaction(...)`, which runs in the same transaction"
            else:
                hint = "yield actions, such as `yield Put(...)`, and read with the access patterns of the design"
            yield BodyFault(f"the body calls self.{name}(...), which sends requests outside the write", hint, line)
        for action in self.actions:
            if action.outside is not None:
                message = f"{action.outside} isn't an entity of this design"
                yield BodyFault(message, "add it to Table(..., entities=[...])", action.line)
            if action.entity is None:
                continue
            known = action.entity.fields.keys() | action.entity.cls.model_computed_fields.keys()
            for name in (name for name in action.changes if name not in known):
                near = difflib.get_close_matches(name, action.entity.fields, n=1)
                hint = f"did you mean {near[0]}?" if near else f"valid fields: {', '.join(action.entity.fields)}"
                yield BodyFault(f"{action.entity.name} has no field {name!r}", hint, action.line)
            if action.kind == "Update":
                yield from _unchangeable(action)
            yield from _wrong_values(action)

    def _of_the_runs(self) -> Iterator[BodyFault]:
        """Actions that the client rejects for any values, and errors in the code that end every dry run."""
        for refused in self.runs.refused:
            own = [action for action in self.actions if _is_of(shape_of(refused.action), action)]
            certain = refused.always or (refused.action is None and self._is_certain)
            if certain and not any(action.open for action in own):
                yield _fault(refused, own[0].line if own else None)
        if not self.runs.finished and not self.runs.refused:
            mistakes = [text for text in map(_mistake, self.runs.errors) if text is not None]
            if mistakes and len(mistakes) == len(self.runs.errors):
                yield BodyFault(mistakes[0], "correct the body of the write, which raises this error in every dry run")

    @property
    def _is_certain(self) -> bool:
        """Whether the number of the write's actions depends only on the code."""
        kinds = {kind_of(parameter.annotation) for parameter in self.pattern.signature.parameters}
        return not self.runs.finished and (not self.code.loops or (not self.asked and kinds <= _PLAIN))


def _is_of(shape: ActionShape, action: Action) -> bool:
    if shape.kind != action.kind or (action.entity is not None and action.entity.name != shape.entity):
        return False
    return action.open or not action.changes or shape.changes == frozenset(action.changes)


def _unchangeable(action: Action) -> Iterator[BodyFault]:
    """Changes that the client rejects for any values."""
    entity = action.entity
    for name in action.changes if entity is not None else ():
        if entity is None or name not in entity.fields:
            continue
        if name in entity.key_fields:
            message = f"{entity.name}.{name}: a primary key can't be changed"
            hint = "create a new item and delete the old one, in one transaction"
            yield BodyFault(message, hint, action.line)
        elif not action.by_instance:
            known = {*entity.key_fields, *(text for text, change in action.changes.items() if change == "set")}
            made = {key for key in entity.index_keys if action.creates and (action.open or key.fields <= known)}
            every = (*entity.index_keys, *entity.claims)
            keys = (key for key in every if name in entity.inputs_of(key) and not entity.writes_itself(key, name))
            for key in [compiled_key for compiled_key in keys if compiled_key not in made][:1]:
                yield BodyFault(
                    f"{entity.name}.{name}: the field is part of the key {key.name}, which can't be recomputed without "
                    "the whole item",
                    f"read the item and update the instance: Update(item, {name}=...)",
                    action.line,
                )


def _wrong_values(action: Action) -> Iterator[BodyFault]:
    """Literals that their fields don't accept, as a change or in ``only_if``."""
    entity = action.entity
    for name, value in () if entity is None else action.constants:
        if entity is None or name not in entity.fields or value is None:
            continue
        try:
            entity.check_fields({name: value})
        except ArgumentError as error:
            yield BodyFault("; ".join(map(str, error.errors)), "use a value of the field's type", action.line)
        else:
            if value == "" and name in entity.key_fields:
                yield BodyFault(
                    f"{entity.name}.{name} is part of the primary key, and can't be empty", "set a value", action.line
                )


def _fault(refused: Refused, line: int | None) -> BodyFault:
    error = refused.error
    inner = "; ".join(map(str, error.errors))
    where = f"{error.place}: " if error.place and "." in error.place else ""
    return BodyFault(f"{where}{error.message}" + (f": {inner}" if inner else ""), error.hint or "", line)


def _mistake(error: Exception) -> str | None:
    """The error in the code; None for one that the body raises on purpose, or that depends on the values."""
    if isinstance(error, AttributeError | NameError | TypeError):
        return f"{type(error).__name__}: {error}"
    if isinstance(error, ValidationError) and any(
        is_type_error(fault["type"]) for fault in error.errors(include_url=False)
    ):
        return f"the body creates an invalid {error.title}: {'; '.join(map(str, error_details_of(error, error.title)))}"
    return None


@dataclass
class WriteAnalyzer:
    """Analyzes each write of a design once. ``owner``: the design class; if it is None, there are no dry runs."""

    design: CompiledDesign
    owner: type[Any] | None
    traffic: Traffic | None = None
    sources: Sources = field(default_factory=Sources)
    _analyses: dict[str, WriteAnalysis] = field(default_factory=dict[str, WriteAnalysis])
    _codes: dict[str, WrittenCode] = field(default_factory=dict[str, WrittenCode])

    def analysis(self, pattern: WritePattern) -> WriteAnalysis:
        result = self._analyses.get(pattern.name)
        if result is None:
            result = self._from_code(pattern)
            result.runs = self.dry_runs(pattern, self._typical)
            self._analyses[pattern.name] = result
        return result

    def from_code(self, pattern: WritePattern) -> WriteAnalysis:
        """Analyze a write from its code only, or also with dry runs if the code can't be read or contains no action."""
        result = self._from_code(pattern)
        return result if result.known and result.code.mentioned else self.analysis(pattern)

    def dry_runs(self, pattern: WritePattern, typical: Typical) -> DryRuns:
        if self.owner is None:
            return DryRuns(unknown="a dry run requires the design class, which wasn't passed")
        return dry_runs(self.design, self.owner, pattern, self._code(pattern), typical, self._traffic)

    def faults(self) -> Mapping[str, tuple[BodyFault, ...]]:
        result = {name: self.analysis(pattern).faults() for name, pattern in self.design.writes.items()}
        return {name: faults for name, faults in result.items() if faults}

    def _from_code(self, pattern: WritePattern) -> WriteAnalysis:
        joined = bool(self._traffic.patterns.get(pattern.name, pattern.load).in_transaction)
        return WriteAnalysis(self.design, pattern, self._code(pattern), joined=joined)

    def _code(self, pattern: WritePattern) -> WrittenCode:
        result = self._codes.get(pattern.name)
        if result is None:
            result = self._codes[pattern.name] = code_of(pattern, self.design, self.owner, self.sources)
        return result

    @cached_property
    def _typical(self) -> Typical:
        return Typical(self.design, self._traffic.entities)

    @cached_property
    def _traffic(self) -> Traffic:
        return self.traffic or traffic_of(self.design)
