"""Mirror items: a second item of the same thing under another key, kept by every write of the first, so that a question
is answered by the table instead of an index.

The language has no word for them: a mirror is an entity of its own, and the writes yield its actions besides. Here a
design is made that has the entity, and in which the question gives it: so its keys are found, compiled and verified as
any others are. What the writes cost is estimated from what a typical call of each changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import asdict, dataclass, replace
from functools import reduce
from operator import or_
from types import FunctionType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import create_model

from keyplan.analysis.cost.estimate import Estimate, PatternEstimate
from keyplan.analysis.cost.item_changes import lines_of
from keyplan.analysis.cost.read_facts import Facts
from keyplan.analysis.cost.simulated_writes import WriteCost
from keyplan.analysis.cost.typical_calls import estimate_write
from keyplan.analysis.cost.unit_counts import TABLE, Line, Request
from keyplan.analysis.rehearsal.account import Account, Accounts
from keyplan.analysis.rehearsal.mutations import Mutation
from keyplan.analysis.traffic.typical_items import Typical
from keyplan.dynamodb.capacity import read_units
from keyplan.dynamodb.values import Item
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.compiled.plans import GetPlan
from keyplan.model.compiled.return_types import shape_of
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import kind_of
from keyplan.model.declared.table import Table
from keyplan.model.deferral import deferred
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.planner.facts import EntityFacts, word
from keyplan.planner.needs import Need
from keyplan.planner.unplanned import Unplanned

__all__ = ["Member", "Mirror", "Mirrored", "mirrored", "with_mirror_writes"]


@dataclass(frozen=True)
class Member:
    """An action that a write must yield for a mirror, in the same transaction as the action ``beside`` it.

    ``changes``: the fields that an Update changes, to what the action beside it changes them to, or that a Put after a
    Delete has otherwise. ``batched``: it stands in the Batch, as the other does. ``reads``: the item must be read
    first, since the write has no more than its key.
    """

    write: str
    beside: str
    action: str
    changes: tuple[str, ...] = ()
    batched: bool = False
    reads: bool = False


@dataclass(frozen=True)
class Mirror:
    """What is to be added for a mirror: its entity, the questions that give it, and what each write must do besides."""

    entity: type[Entity]
    of: type[Entity]
    source: str
    """The entity's declaration, without its key."""
    questions: tuple[str, ...]
    writes: tuple[str, ...] = ()
    """What each write does, in words."""
    members: tuple[Member, ...] = ()
    """The same, action by action."""
    reader: str = ""
    """How a write reads the item by its key: ``self.job.read(job_id)``; empty where no question gives it so."""

    @property
    def code(self) -> str:
        """What is to be written: the class, and for each write the actions that it yields besides."""
        item = word(self.of.__name__).lower()
        made = f"{self.entity.__name__}.of({item})"
        copied = "cls(**{name: getattr(" + item + ", name) for name in cls.model_fields})"
        lines = [
            *self.source.splitlines(),
            "",
            "    @classmethod",
            f'    def of(cls, {item}: {self.of.__name__}) -> "{self.entity.__name__}":',
            f"        return {copied}",
            "",
            *(f"# {name} gives {self.entity.__name__} instead of {self.of.__name__}" for name in self.questions),
        ]
        for member in self.members:
            if member.reads:
                hint = self.reader or f"...  # a question that gives the {self.of.__name__} by its key"
                lines += ["", f"# {member.write}, before it yields:", f"{item} = yield from {hint}"]
            how = ", in its Batch" if member.batched else ", with its values" if member.changes else ""
            lines += ["", f"# {member.write}, beside {member.beside}{how}:", self._action(member, item, made)]
        return "\n".join(lines)

    def _action(self, member: Member, item: str, made: str) -> str:
        same = ", ".join(f"{name}={name}" for name in member.changes)
        text = f"{member.action}({made})"
        if member.action == "Update" and not same:
            text = f"Put({made})  # as it is changed"
        elif member.action == "Update":
            text = f"Update({made}, {same})"
        elif member.action == "Put" and member.changes:
            values = ", ".join(f'"{name}": {name}' for name in member.changes)
            text = f"Put({self.entity.__name__}.of({item}.model_copy(update={{{values}}})))"
        return text if member.batched else f"yield {text}"

    def as_json(self) -> dict[str, Any]:
        """The mirror as JSON data."""
        return {
            "entity": self.entity.__name__,
            "of": self.of.__name__,
            "source": self.source,
            "questions": list(self.questions),
            "writes": list(self.writes),
            "members": [{**asdict(member), "changes": list(member.changes)} for member in self.members],
            "code": self.code,
        }


@dataclass(frozen=True)
class Mirrored:
    """A design with a mirror: its class read for planning, what is known of its entities, and its needs."""

    read: Unplanned
    facts: Mapping[type[Entity], EntityFacts]
    needs: tuple[Need, ...]
    mirror: Mirror


def mirrored(
    read: Unplanned, facts: Mapping[type[Entity], EntityFacts], needs: Iterable[Need], moved: tuple[Need, ...]
) -> Mirrored | None:
    """The design in which a mirror of their entity answers the ``moved`` needs; None where no mirror could."""
    first = facts[moved[0].entity]
    names = [need.place.rpartition(".")[2] for need in moved]
    asked = dict.fromkeys(name for need in moved for name in _asked(need, first))
    if not all(_movable(need, read) for need in moved) or not asked.keys() <= first.cls.model_fields.keys():
        return None
    fields = tuple(dict.fromkeys((*asked, *first.identity)))
    kinds = {name: value for name, value in first.kinds.items() if name in first.cls.model_fields}
    kinds |= {name: _present(kinds[name]) for name in fields}
    mirror = _mirror_class(first, fields, kinds)
    patterns = {name: copy(read.patterns[name]) for name in names}
    for name, pattern in patterns.items():
        returns = _swapped(read.signatures[name].returns, first.cls, mirror)
        pattern.function = _returning(pattern.function, returns)
    table: Table = read.cls.table
    own = Table(
        table.name,
        indexes=table.indexes,
        entities=(*table.entities, *facts, mirror),
        partition=table.partition,
        sort=table.sort,
        key_style=table.key_style,
    )
    make: Any = type(read.cls)
    with deferred():
        cls = make(read.cls.__name__, (read.cls,), {"table": own, "__module__": read.cls.__module__, **patterns})
    mirror_facts = EntityFacts(mirror, fields, kinds, first.optional - set(fields))
    kept = [replace(need, entity=mirror) if need in moved else need for need in needs]
    source = _source(first, mirror, fields, kinds)
    return Mirrored(
        Unplanned(cls, read.namespace),
        {**facts, mirror: mirror_facts},
        tuple(kept),
        Mirror(mirror, first.cls, source, tuple(names)),
    )


def _asked(need: Need, entity: EntityFacts) -> list[str]:
    """The fields that its key begins with, in their natural order: what is known, then what orders."""
    known = {*need.known, *need.constants}
    return [*(name for name in entity.kinds if name in known), *([need.next] if need.next else [])]


def _movable(need: Need, read: Unplanned) -> bool:
    """Whether a mirror can answer it: several whole items of one entity, by something that is known."""
    name = need.place.rpartition(".")[2]
    options = read.patterns[name].options
    shape = shape_of(read.signatures[name].returns, options.entity)
    plain = shape.many and not shape.views and not options.complete and options.through is None
    return plain and bool(need.known) and not (need.together or need.scan_index or need.several or need.one)


def _present(annotation: Any) -> Any:
    """The type of a field that is there."""
    if get_origin(annotation) in {Union, UnionType}:
        return reduce(or_, (value for value in get_args(annotation) if value is not type(None)))
    return annotation


def _mirror_class(entity: EntityFacts, fields: Iterable[str], kinds: Mapping[str, Any]) -> type[Entity]:
    words = "".join(part.capitalize() for name in fields if name not in entity.identity for part in name.split("_")[:1])
    infos: dict[str, Any] = {name: (kinds[name], copy(entity.cls.model_fields[name])) for name in kinds}
    made: type[Entity] = create_model(
        f"{entity.name}By{words or 'Other'}", __base__=Entity, __module__=entity.cls.__module__, **infos
    )
    return made


def _swapped(annotation: Any, old: type[Entity], new: type[Entity]) -> Any:
    """A return type that gives the mirror."""
    if annotation is old:
        return new
    arguments = tuple(_swapped(value, old, new) for value in get_args(annotation))
    if not arguments or arguments == get_args(annotation):
        return annotation
    origin = get_origin(annotation)
    return reduce(or_, arguments) if origin in {Union, UnionType} else origin[arguments]


def _returning(function: Any, returns: Any) -> Any:
    made = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__annotations__ = {**function.__annotations__, "return": returns}
    made.__doc__ = function.__doc__
    return made


def _source(entity: EntityFacts, mirror: type[Entity], fields: Iterable[str], kinds: Mapping[str, Any]) -> str:
    marked = [f"    {name}: Id[{_named(kinds[name])}]" for name in fields]
    rest = [f"    {name}: {_named(kinds[name])}" for name in kinds if name not in set(fields)]
    head = [
        f"class {mirror.__name__}(Entity):",
        f'    """A copy of each {entity.name}, kept by every write of it."""',
        "",
    ]
    return "\n".join([*head, *marked, *rest])


def _named(annotation: Any) -> str:
    """A type as it is written."""
    if get_origin(annotation) is Annotated:
        return _named(get_args(annotation)[0])
    kind = kind_of(annotation)
    if annotation is kind and isinstance(kind, type):
        return kind.__name__
    return str(annotation).replace("typing.", "").replace("datetime.", "")


# What the writes must do besides, and what that costs


def with_mirror_writes(
    estimate: Estimate, mirror: Mirror, compiled: CompiledDesign, cls: type[Any]
) -> tuple[Estimate, Mirror]:
    """An estimate in which each write of the mirrored entity writes the mirror too, in one transaction; and the mirror
    with what each write does.
    """
    accounts = Accounts(compiled, cls, estimate.traffic)
    facts = Facts(Typical(compiled, estimate.traffic.entities), estimate.traffic)
    patterns: list[PatternEstimate] = []
    words: dict[str, None] = {}
    members: dict[Member, None] = {}
    for pattern in estimate.patterns:
        lines: list[Line] = []
        if pattern.name in compiled.writes:
            write = compiled.writes[pattern.name]
            account = accounts.unrun(write)
            besides = _Besides(
                compiled,
                mirror,
                pattern.name,
                words,
                members,
                _changed(account, mirror.of),
                blind=_is_blind(account, mirror.of),
            )
            for weight, call in estimate_write(accounts, write, facts).calls:
                made = besides.lines(call)
                lines.extend(replace(line, units=line.units * weight * call.times) for line in made)
        more = (Request("TransactWriteItems", tuple(lines)),) if lines else ()
        patterns.append(replace(pattern, requests=(*pattern.requests, *more)))
    reader = _reader(compiled, mirror.of)
    kept = replace(mirror, writes=tuple(words), members=tuple(members), reader=reader)
    return replace(estimate, patterns=tuple(patterns)), kept


def _reader(compiled: CompiledDesign, cls: type[Entity]) -> str:
    """How a write asks for an item by its key, by a question of the design."""
    for read in compiled.reads.values():
        if isinstance(read.plan, GetPlan) and read.plan.entity.cls is cls:
            return f"self.{read.name}.read({', '.join(read.plan.entity.key_fields)})"
    return ""


@dataclass(frozen=True)
class _Besides:
    """What one write must do besides, in ``words`` and as lines of units."""

    compiled: CompiledDesign
    mirror: Mirror
    name: str
    words: dict[str, None]
    members: dict[Member, None]
    changed: frozenset[str]
    """The fields of the item that its updates change."""
    blind: bool
    """Whether it changes or deletes an item by its key alone."""

    def lines(self, call: WriteCost) -> Iterator[Line]:
        """The mirror's actions, and the item's own that is in a transaction now."""
        table = self.compiled.table
        for mutation in call.mutations:
            made = list(self._mutations(mutation))
            for each in made:
                yield from lines_of(each, table, transactional=True)
            if made and len(call.mutations) == 1:
                yield from (line for line in lines_of(mutation, table, transactional=False) if line.target == TABLE)
            if made and self.blind:
                units = read_units(mutation.size_bytes, consistent=True)
                self.words[f"{self.name}: reads the item first, since its key alone names no mirror"] = None
                yield Line("read", TABLE, units, f"{mutation.what}: the item is read first = {units:g}")
        for mutation in call.batched:
            for each in self._mutations(mutation, batched=True):
                yield from lines_of(each, table, transactional=False)

    def _mutations(self, mutation: Mutation, *, batched: bool = False) -> Iterator[Mutation]:
        """What becomes of the mirror when an item is changed."""
        mirror = self.compiled.entities[self.mirror.entity]
        every = list(self._mirrored(mutation, mirror))
        for at, made in enumerate(every):
            self.words[f"{self.name}: {mutation.what}, and {made.what}{', in batches' if batched else ''}"] = None
            moved = len(every) > 1 and made.before is None
            changes = self._changes(mirror) if made.what.startswith("Update") or moved else ()
            action = made.what.partition(" ")[0]
            member = Member(self.name, mutation.what, action, changes, batched, self.blind and at == 0)
            self.members[member] = None
            yield made

    def _changes(self, mirror: CompiledEntity) -> tuple[str, ...]:
        """The fields of the mirror that the write's updates change."""
        return tuple(name for name in mirror.cls.model_fields if name in self.changed)

    def _mirrored(self, mutation: Mutation, mirror: CompiledEntity) -> Iterator[Mutation]:
        before, after = self._item(mutation.before, mirror), self._item(mutation.after, mirror)
        keys = [[item[name] for name in self.compiled.table.key_names] for item in (before, after) if item is not None]
        updated = mutation.what.startswith("Update")  # a typical update may write what stands there already
        moved = updated and not self.changed.isdisjoint(mirror.key_fields)
        if before is not None and (after is None or keys[0] != keys[1] or moved):
            yield Mutation(f"Delete {mirror.name}", before, None)
            before = None
        if after is not None and (after != before or (updated and self._changes(mirror))):
            yield Mutation(f"{'Put' if before is None else 'Update'} {mirror.name}", before, after)

    def _item(self, item: Item | None, mirror: CompiledEntity) -> Item | None:
        """The mirror of an item; None where there is no item of the entity, or it lacks a field of the mirror's key."""
        entity = self.compiled.entities[self.mirror.of]
        if item is None or not entity.primary.matches(item):
            return None
        instance = entity.from_item(item)
        values = {name: getattr(instance, name) for name in mirror.cls.model_fields}
        if any(values[name] is None for name in mirror.key_fields):
            return None
        return mirror.to_item(mirror.cls.model_construct(**values))


def _changed(account: Account, cls: type[Entity]) -> frozenset[str]:
    """The fields that a write's updates of an entity change."""
    actions = (action for action in account.actions if action.entity is not None and action.entity.cls is cls)
    return frozenset(name for action in actions if action.kind == "Update" for name in action.changes)


def _is_blind(account: Account, cls: type[Entity]) -> bool:
    """Whether a write changes or deletes an item by its key alone."""
    actions = (action for action in account.actions if action.entity is not None and action.entity.cls is cls)
    return any(action.kind in {"Update", "Delete"} and not action.by_instance for action in actions)
