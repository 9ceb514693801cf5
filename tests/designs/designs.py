"""Generates a design as data: entities, keys, reads and writes, all determined by a number.

Reads are derived from keys, so that a key supports each read. Expected results are computed from this data and never
taken from the compiler. ``source.py`` writes the design as source code, and ``running.py`` checks its results.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from random import Random
from typing import Any

from tests.designs.fields import KEY_KINDS, NATIVE_KINDS, STATUSES, VALUE_KINDS, FieldSpec, values_of


@dataclass(frozen=True)
class Variable:
    """A field in a key, with its format."""

    name: str
    written: str
    turned: bool = False


@dataclass(frozen=True)
class Text:
    """A constant string in a key."""

    written: str


Attribute = tuple[Variable | Text, ...]


@dataclass(frozen=True)
class IndexSpec:
    """An index. ``several`` means that the index keys have several attributes."""

    name: str
    partition: tuple[str, ...]
    sort: tuple[tuple[str, bool], ...]
    several: bool = False
    local: bool = False


@dataclass(frozen=True)
class KeySpec:
    """A key of an entity, with its attributes in order."""

    name: str
    index: IndexSpec | None
    partition: tuple[Attribute, ...]
    sort: tuple[Attribute, ...]
    when: tuple[str, tuple[str, ...]] | None = None
    shards: int = 0

    @property
    def partition_fields(self) -> list[str]:
        return [part.name for attribute in self.partition for part in attribute if isinstance(part, Variable)]

    @property
    def sort_variables(self) -> list[Variable]:
        return [part for attribute in self.sort for part in attribute if isinstance(part, Variable)]


@dataclass(frozen=True)
class EntitySpec:
    """An entity, whose first key is the primary key."""

    name: str
    fields: dict[str, FieldSpec]
    keys: tuple[KeySpec, ...]
    unique: str = ""
    version: bool = False
    group: str = ""

    @property
    def identity(self) -> list[str]:
        primary = self.keys[0]
        return [*primary.partition_fields, *(variable.name for variable in primary.sort_variables)]


@dataclass(frozen=True)
class ReadSpec:
    """A read. ``equal`` are fields fixed by equality; the other members are named after options of ``read``."""

    name: str
    entities: tuple[EntitySpec, ...]
    key: KeySpec | None
    shape: str
    equal: tuple[str, ...] = ()
    each: str = ""
    range: str = ""
    range_optional: bool = False
    prefix: str = ""
    constants: tuple[tuple[str, Any], ...] = ()
    members: tuple[tuple[str, tuple[str, ...]], ...] = ()
    filter: tuple[str, str, str] | None = None
    newest_first: bool = False
    order_by: str = ""
    consistent: bool = False
    literal: tuple[str, tuple[str, ...]] | None = None
    each_too: str = ""
    directed: bool = False
    """Whether each call says newest_first: the spec's own is the default."""
    named: bool = False
    """Whether it names its key."""

    @property
    def entity(self) -> EntitySpec:
        return self.entities[0]

    @property
    def fixed(self) -> frozenset[str]:
        """Return the fields with the same value in all items of a result, which don't affect the order."""
        single = (name for name, values in self.members if len(values) == 1)
        return frozenset({*self.equal, *(name for name, _ in self.constants), *single})


@dataclass(frozen=True)
class WriteSpec:
    """A write of an entity, which may change a field."""

    name: str
    kind: str
    entity: EntitySpec
    field: str = ""
    other: EntitySpec | None = None
    get: str = ""


@dataclass(frozen=True)
class DesignSpec:
    number: int
    indexes: tuple[IndexSpec, ...]
    entities: tuple[EntitySpec, ...]
    reads: tuple[ReadSpec, ...]
    writes: tuple[WriteSpec, ...]


def design_of(number: int) -> DesignSpec:
    """Return the design that the number determines."""
    return _Maker(Random(f"design {number}"), Random(f"words {number}")).design(number)


@dataclass
class _Maker:
    chance: Random
    words: Random
    names: count[int] = field(default_factory=lambda: count(1))

    def design(self, number: int) -> DesignSpec:
        chance = self.chance
        indexes = tuple(self._index(position) for position in range(chance.randint(0, 3)))
        groups = {f"g{position}": chance.choice(KEY_KINDS) for position in range(chance.randint(1, 2))}
        domains = {name: values_of(kind, chance) for name, kind in groups.items()}
        entities = tuple(
            self._entity(position, indexes, groups, domains) for position in range(chance.choice((1, 2, 2, 3, 4)))
        )
        reads = [read for entity in entities for read in self._reads(entity)]
        reads += self._collections(entities)
        gets = {read.entity.name: read.name for read in reads if read.shape == "one" and read.key is not None}
        writes = [
            replace(write, get=gets[entity.name]) for entity in entities for write in self._writes(entity, entities)
        ]
        used = {key.index.name for entity in entities for key in entity.keys if key.index}
        return DesignSpec(
            number, tuple(index for index in indexes if index.name in used), entities, tuple(reads), tuple(writes)
        )

    # Indexes, entities, keys

    def _index(self, position: int) -> IndexSpec:
        name = f"GSI{position + 1}"
        lower = name.lower()
        if self.chance.random() < 0.25:
            partition = tuple(f"{lower}p{at}" for at in range(self.chance.randint(1, 3)))
            sort = tuple((f"{lower}s{at}", self.chance.random() < 0.4) for at in range(self.chance.randint(0, 3)))
            return IndexSpec(name, partition, sort, several=True)
        native = self.chance.random() < 0.2
        return IndexSpec(name, (f"{lower}pk",), ((f"{lower}sk", native),))

    def _entity(
        self, position: int, indexes: tuple[IndexSpec, ...], groups: dict[str, str], domains: dict[str, Any]
    ) -> EntitySpec:
        chance, name = self.chance, f"E{position}"
        fields: dict[str, FieldSpec] = {}
        group = chance.choice(list(groups)) if chance.random() < 0.6 else ""
        if group:
            fields[group] = FieldSpec(group, groups[group], optional=False, domain=domains[group])
            head = Variable(group, f"{{{group}}}")
            partition: Attribute = (Text(f"{group.upper()}#"), head)
            sort: list[Variable | Text] = [Text(name)]
            for _ in range(chance.randint(0, 2)):
                sort += [Text("#"), self._variable(fields, sort=True)]
        else:
            partition = (Text(f"{name}#"), self._variable(fields, sort=False))
            sort = [Text("HEAD")]
            if chance.random() < 0.5:
                sort = [Text("H#"), self._variable(fields, sort=True)]
        primary = KeySpec("primary", None, (partition,), (tuple(sort),))
        for _ in range(chance.randint(1, 4)):
            self._field(fields, chance.choice(VALUE_KINDS), optional=chance.random() < 0.4)
        if chance.random() < 0.6:
            fields["status"] = FieldSpec("status", "literal", optional=False, domain=STATUSES)
        keys = [primary]
        for index in indexes:
            if chance.random() < 0.7:
                keys.append(self._index_key(name, index, fields))
                keys += self._excluded(name, keys[-1], fields)
        unique = ""
        texts = [spec.name for spec in fields.values() if spec.kind == "str" and spec.name != group]
        if texts and chance.random() < 0.15:
            unique = chance.choice(texts)
        return EntitySpec(name, fields, tuple(keys), unique, version=chance.random() < 0.15, group=group)

    def _variable(self, fields: dict[str, FieldSpec], *, sort: bool) -> Variable:
        spec = self._field(fields, self.chance.choice(KEY_KINDS), optional=False)
        written, turned = spec.template(self.chance, sort=sort)
        return Variable(spec.name, written, turned)

    def _field(self, fields: dict[str, FieldSpec], kind: str, *, optional: bool) -> FieldSpec:
        name = f"f{next(self.names)}"
        fields[name] = FieldSpec(name, kind, optional, values_of(kind, self.chance))
        return fields[name]

    def _excluded(self, entity: str, key: KeySpec, fields: dict[str, FieldSpec]) -> list[KeySpec]:
        """Return another key on the same index, for the other values of the first key's ``when=``."""
        if key.when is None or key.index is None or self.words.random() < 0.4:
            return []
        others = tuple(text for text in STATUSES if text not in key.when[1])
        made = replace(self, chance=self.words)._index_key(f"{entity}ALSO", key.index, fields)
        return [replace(made, name=f"also_{key.index.name.lower()}", when=(key.when[0], others))] if others else []

    def _index_key(self, entity: str, index: IndexSpec, fields: dict[str, FieldSpec]) -> KeySpec:
        chance = self.chance
        when = None
        if "status" in fields and chance.random() < 0.4:
            when = ("status", tuple(sorted(chance.sample(STATUSES, chance.randint(1, 2)))))
        used: set[str] = set()
        partition: list[Attribute] = [(Text(f"{entity}{index.name}#"), self._key_field(fields, used, sort=False))]
        partition += [(self._key_field(fields, used, sort=False),) for _ in index.partition[1:]]
        sort: list[Attribute] = []
        for position, (_, native) in enumerate(index.sort):
            if native:
                sort.append((self._native(fields, used),))
            elif index.several or chance.random() < 0.5:
                sort.append((self._key_field(fields, used, sort=True),))
            else:
                parts: list[Variable | Text] = [Text(f"S{position}#"), self._key_field(fields, used, sort=True)]
                if chance.random() < 0.5:
                    parts += [Text("#"), self._key_field(fields, used, sort=True)]
                sort.append(tuple(parts))
        shards = chance.choice((2, 3, 5)) if not index.several and chance.random() < 0.2 else 0
        return KeySpec(f"by_{index.name.lower()}", index, tuple(partition), tuple(sort), when, shards)

    def _key_field(self, fields: dict[str, FieldSpec], used: set[str], *, sort: bool) -> Variable:
        """Return an existing or a new field for a key."""
        known = [spec for spec in fields.values() if spec.kind in KEY_KINDS and spec.name not in used]
        if known and self.chance.random() < 0.6:
            chosen = self.chance.choice(known)
        else:
            chosen = self._field(fields, self.chance.choice(KEY_KINDS), optional=self.chance.random() < 0.3)
        used.add(chosen.name)
        written, turned = chosen.template(self.chance, sort=sort)
        return Variable(chosen.name, written, turned)

    def _native(self, fields: dict[str, FieldSpec], used: set[str]) -> Variable:
        spec = self._field(fields, self.chance.choice(NATIVE_KINDS), optional=self.chance.random() < 0.3)
        used.add(spec.name)
        return Variable(spec.name, f"{{{spec.name}}}")

    # Reads

    def _reads(self, entity: EntitySpec) -> list[ReadSpec]:
        reads = [self._get(entity)]
        if self.chance.random() < 0.3:
            reads.append(self._batch(entity))
        for key in entity.keys:
            reads += [self._query(entity, key) for _ in range(self.chance.randint(1, 2))]
        if entity.unique:
            reads.append(ReadSpec(self._name("claim"), (entity,), None, "one", equal=(entity.unique,)))
        if self.chance.random() < 0.2:
            reads.append(self._filtered(ReadSpec(self._name("scan"), (entity,), None, "scan")))
        return reads

    def _name(self, what: str) -> str:
        return f"{what}_{next(self.names)}"

    def _get(self, entity: EntitySpec) -> ReadSpec:
        consistent = self.chance.random() < 0.3
        return ReadSpec(
            self._name("get"), (entity,), entity.keys[0], "one", tuple(entity.identity), consistent=consistent
        )

    def _batch(self, entity: EntitySpec) -> ReadSpec:
        each = self.chance.choice(entity.identity)
        equal = tuple(name for name in entity.identity if name != each)
        also = self.words.choice(equal) if equal and self.words.random() < 0.5 else ""
        rest = tuple(name for name in equal if name != also)
        return ReadSpec(self._name("batch"), (entity,), entity.keys[0], "batch", rest, each=each, each_too=also)

    def _query(self, entity: EntitySpec, key: KeySpec) -> ReadSpec:
        chance = self.chance
        shape = chance.choice(("page", "page", "list", "limited", "iterator"))
        read = ReadSpec(self._name("query"), (entity,), key, shape, tuple(key.partition_fields))
        known = list(key.partition_fields)
        if not key.shards and len(key.partition) == 1 and chance.random() < 0.15:
            each = chance.choice(known)
            read = replace(read, each=each, equal=tuple(text for text in known if text != each))
        if not key.shards and len(key.partition) > 1 and self.words.random() < 0.4:
            each, also = self.words.sample(known, 2)
            equal = tuple(text for text in known if text not in {each, also})
            read = replace(read, each=each, each_too=also, equal=equal)
        rest = [variable for variable in key.sort_variables if variable.name not in known]
        depth = chance.randint(0, len(rest)) if chance.random() < 0.6 else 0
        read = replace(read, equal=(*read.equal, *(variable.name for variable in rest[:depth])))
        following = rest[depth : depth + 1]
        if following and following == key.sort_variables[-len(rest) + depth :][:1] and chance.random() < 0.5:
            name = following[0].name
            if entity.fields[name].kind == "str" and chance.random() < 0.4:
                read = replace(read, prefix=name)
            elif entity.fields[name].kind != "bool":
                read = replace(read, range=name, range_optional=chance.random() < 0.5)
        read = self._sparse(read, key)
        if chance.random() < 0.25:
            read = self._filtered(read)
        consistent = key.index is None and chance.random() < 0.2
        directed = self.words.random() < 0.3
        return replace(read, newest_first=chance.random() < 0.5, consistent=consistent, directed=directed)

    def _sparse(self, read: ReadSpec, key: KeySpec) -> ReadSpec:
        """Return the read with the field of the key's ``when=`` fixed by one or more constants or by a parameter."""
        if key.when is None:
            return read
        name, values = key.when
        if name in (read.range, read.prefix):
            read = replace(read, range="", range_optional=False, prefix="")
        if name in (*read.equal, read.each, read.each_too):
            return replace(read, literal=(name, values))
        choice = self.chance.random()
        if choice < 0.5:
            return replace(read, constants=((name, self.chance.choice(values)),))
        if choice < 0.75:
            return replace(read, equal=(*read.equal, name), literal=(name, values))
        return replace(read, members=((name, values),))

    def _filtered(self, read: ReadSpec) -> ReadSpec:
        """Return the read with a filter that no key supports."""
        taken = {
            *read.equal,
            read.each,
            read.each_too,
            read.range,
            read.prefix,
            *(name for name, _ in (*read.constants, *read.members)),
        }
        free = [spec for spec in read.entity.fields.values() if spec.name not in taken]
        compared = [spec for spec in free if spec.kind in {"int", "signed", "datetime", "date", "str", "decimal"}]
        fixed = [spec for spec in free if spec.kind in {"bool", "literal"} and not spec.optional]
        if compared and self.chance.random() < 0.6 and not read.constants and not read.members:
            spec = self.chance.choice(compared)
            return replace(read, filter=(spec.name, self.chance.choice((">", "<=", "=", "<>")), f"v{next(self.names)}"))
        if fixed and read.filter is None:
            spec = self.chance.choice(fixed)
            return replace(read, constants=(*read.constants, (spec.name, self.chance.choice(spec.domain))))
        return read

    def _collections(self, entities: tuple[EntitySpec, ...]) -> list[ReadSpec]:
        """Return reads of several entities of one partition."""
        reads: list[ReadSpec] = []
        for group in sorted({entity.group for entity in entities if entity.group}):
            members = tuple(entity for entity in entities if entity.group == group)
            if len(members) > 1 and self.chance.random() < 0.8:
                some = tuple(self.chance.sample(members, self.chance.randint(2, len(members))))
                some = tuple(sorted(some, key=lambda spec: spec.name))
                shape = self.chance.choice(("union", "union list", "named"))
                reads.append(ReadSpec(self._name("all"), some, some[0].keys[0], shape, (group,)))
        return reads

    # Writes

    def _writes(self, entity: EntitySpec, entities: tuple[EntitySpec, ...]) -> list[WriteSpec]:
        chance = self.chance
        writes: list[WriteSpec] = []
        keyed = {
            name
            for key in entity.keys
            for name in (*key.partition_fields, *(variable.name for variable in key.sort_variables))
        } | {key.when[0] for key in entity.keys if key.when}
        fields = [spec for spec in entity.fields.values() if spec.name not in {*entity.identity}]
        if fields and chance.random() < 0.6:
            writes.append(WriteSpec(self._name("change"), "change", entity, chance.choice(fields).name))
        counted = [spec for spec in fields if spec.kind == "signed" and not spec.optional and spec.name not in keyed]
        if counted and not entity.version:
            writes.append(WriteSpec(self._name("count"), "count", entity, chance.choice(counted).name))
        if chance.random() < 0.4:
            writes.append(WriteSpec(self._name("make"), "make", entity))
        if fields and chance.random() < 0.4:
            writes.append(WriteSpec(self._name("move"), "move", entity, chance.choice(fields).name))
        others = [spec for spec in entities if spec.name != entity.name]
        if others and chance.random() < 0.4:
            writes.append(WriteSpec(self._name("pair"), "pair", entity, other=chance.choice(others)))
        if chance.random() < 0.3:
            writes.append(WriteSpec(self._name("drop"), "drop", entity))
        return writes
