"""Compile the keys, claims and discriminators of an entity for its table, and collect all errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any, get_args, get_origin

from keyplan.dynamodb.limits import PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX
from keyplan.errors import ErrorDetail
from keyplan.model.compiled.collisions import can_collide
from keyplan.model.compiled.constants import constant_of, domain_of, values_asked
from keyplan.model.compiled.reserved_names import attribute_problems
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import TOKENS, kind_of, marks_of, slots_of
from keyplan.model.declared.indexes import Index, KeyAttribute
from keyplan.model.declared.keys import OURS, Discriminator, Key, KeyStyle, Unique
from keyplan.model.declared.table import Table
from keyplan.model.stored.key_formats import Format, format_for
from keyplan.model.stored.key_templates import DELIMITER, Literal_, Template, Variable, split_template
from keyplan.model.stored.pydantic_values import Form, unwritable
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_fields import StoredField, held_in_key, stored_fields
from keyplan.model.stored.stored_keys import CompiledKey, IndexedAttribute


def compile_entity(cls: type[Entity], table: Table, faults: list[ErrorDetail]) -> CompiledEntity | None:
    """The compiled entity; None if the entity has errors, which are added to ``faults``."""
    return _EntityCompiler(cls, table).compile(faults)


class _EntityCompiler:
    def __init__(self, cls: type[Entity], table: Table) -> None:
        self.cls = cls
        self.table = table
        self.stored = {field.name: field for field in stored_fields(cls)}
        self.faults: list[ErrorDetail] = []

    def fault(self, name: str, message: str, hint: str | None = None) -> None:
        place = f"{self.cls.__name__}.{name}" if name else self.cls.__name__
        self.faults.append(ErrorDetail(place, message, hint))

    def report(self, name: str, problem: Problem) -> None:
        self.fault(name, str(problem), problem.hint)

    def compile(self, faults: list[ErrorDetail]) -> CompiledEntity | None:
        declared = {name: value for base in reversed(self.cls.__mro__) for name, value in vars(base).items()}
        keys = {name: value for name, value in declared.items() if isinstance(value, Key)}
        primaries = [name for name, key in keys.items() if key.index is None]
        if len(primaries) != 1:
            names = ", ".join(primaries)
            self.fault(
                "",
                f"the entity has several primary keys: {names}" if primaries else "the entity has no primary key",
                "declare exactly one Key without index=; declare other keys with index= or as Unique; `keyplan plan` "
                "generates keys from access patterns",
            )
            faults.extend(self.faults)
            return None
        primary = self._key(primaries[0], keys[primaries[0]], ())
        index_keys: list[CompiledKey] = []
        if primary is not None:
            templates = tuple(template for _, template in primary.attributes)
            compiled = [self._key(name, key, templates) for name, key in keys.items() if key.index is not None]
            index_keys = [compiled_key for compiled_key in compiled if compiled_key is not None]
        claims = [self._claim(name, value) for name, value in declared.items() if isinstance(value, Unique)]
        for key in (*([primary] if primary is not None else []), *claims):
            if key is not None:
                self._check_whole(key)
        self._check_tokens()
        if primary is not None:
            self._check_slots(primary)
        self._check_shared([*([primary] if primary is not None else []), *index_keys])
        for name, problem in attribute_problems(self.stored.values(), self.table):
            if not any(fault.place == f"{self.cls.__name__}.{name}" for fault in self.faults):
                self.report(name, problem)
        faults.extend(self.faults)
        if self.faults or primary is None:
            return None
        labels = tuple(value for value in declared.values() if isinstance(value, Discriminator))
        self._check_labels(labels, (primary, *index_keys))
        named = tuple(claim for claim in claims if claim is not None)
        stored = tuple(self.stored.values())
        indexed = tuple(self._indexed(primary))
        self._check_serializers()
        faults.extend(self.faults)
        return (
            None
            if self.faults
            else CompiledEntity(self.cls, primary, tuple(index_keys), named, labels, stored, indexed)
        )

    def _check_serializers(self) -> None:
        for name in self.cls.__pydantic_decorators__.model_serializers:
            self.fault(
                name,
                "a model_serializer isn't supported: an entity is stored field by field",
                "use field_serializer for single fields, or move the fields into a nested model",
            )
        for field in self.stored.values():
            problem = unwritable(field.annotation, field.form)
            if problem is not None:
                self.report(field.name, problem)

    def _indexed(self, primary: CompiledKey) -> Iterator[IndexedAttribute]:
        """Fields and other attributes that are key attributes of indexes, except those validated elsewhere."""
        fields = {field.attribute: field.name for field in self.stored.values()}
        made = {attribute.name for attribute, _ in primary.attributes}
        takes_others = self.cls.model_config.get("extra") == "allow"
        for index in self.table.indexes:
            for attributes, bytes_max in ((index.partition, PARTITION_KEY_BYTES_MAX), (index.sort, SORT_KEY_BYTES_MAX)):
                for attribute in attributes:
                    name = fields.get(attribute.name, attribute.name if takes_others else None)
                    if name is not None and attribute.name not in made:
                        yield IndexedAttribute(attribute, index.name, bytes_max, f"{self.cls.__name__}.{name}")

    def _check_tokens(self) -> None:
        """An entity has at most one token field, which is empty by default and stored as a set."""
        fields = [field for field in self.stored.values() if TOKENS.name in marks_of(field.annotation)]
        for field in fields[1:]:
            self.fault(field.name, f"{fields[0].name} already stores the idempotency tokens", "remove this field")
        for field in fields:
            if field.default or field.form is not Form.OURS or field.codec is not None:
                self.fault(field.name, "the default must be set()", f"write {field.name}: IdempotencyTokens = set()")

    def _check_slots(self, primary: CompiledKey) -> None:
        partition = {name for _, template in primary.partition for name in template.fields}
        for name, info in self.cls.model_fields.items():
            if slots_of(info) is not None and name not in partition:
                self.fault(
                    name,
                    "CounterShards has no effect: the field isn't in the partition key of the primary key",
                    f'add the field to the partition key: Key("...#{{{name}:d}}", ...), or write {name}: int',
                )

    def _check_labels(self, labels: tuple[Discriminator, ...], keys: Iterable[CompiledKey]) -> None:
        taken = {field.attribute: field.name for field in self.stored.values()}
        taken |= {attribute.name: key.name for key in keys for attribute, _ in key.attributes}
        for label in labels:
            if label.attribute in taken:
                self.fault(
                    "",
                    f"the attribute {label.attribute} of a Discriminator is also used by {taken[label.attribute]}",
                    "use a different attribute for the Discriminator",
                )
            taken[label.attribute] = "another Discriminator"

    def _check_whole(self, key: CompiledKey) -> None:
        """A primary key identifies an item only if the values of all its fields can be distinguished in it."""
        whole = {
            variable.field for _, template in key.attributes for variable in template.variables if variable.format.whole
        }
        for name in dict.fromkeys(name for _, template in key.attributes for name in template.fields):
            if name not in whole:
                self.fault(
                    key.name,
                    f"the key contains only part of {name}, so two items with different {name} could have the same key",
                    f"use the whole {{{name}}} in the key, or declare a field with only that part",
                )

    def _key(self, name: str, key: Key, primary: tuple[Template, ...]) -> CompiledKey | None:
        index = self._index(name, key)
        partition, sort = self._places(index)
        if len(key.partition) != len(partition) or len(key.sort) != len(sort):
            place = key.index.name if key.index else "the table"
            self.fault(
                name,
                f"{place} has {len(partition)} partition and {len(sort)} sort key attributes, "
                f"but the key has templates for {len(key.partition)} and {len(key.sort)}",
            )
            return None
        if key.shards > 1 and [attribute.type for attribute in partition] != ["S"]:
            self.fault(name, "shards= requires a single partition key attribute of type S")
            return None
        style = key.style or self.table.key_style
        compiled_partition = self._templates(name, partition, key.partition, style, sorts=False)
        compiled_sort = self._templates(name, sort, key.sort, style, sorts=True)
        if compiled_partition is None or compiled_sort is None:
            return None
        when = self._when(name, key)
        own = {field.attribute for field in self.stored.values()}
        if when and all(attribute.name in own for attribute, _ in (*compiled_partition, *compiled_sort)):
            self.fault(
                name,
                "when= has no effect: all attributes of the key are fields, which are always stored",
                "rename one of the key attributes, so that it isn't the attribute of a field",
            )
        sort_templates = tuple(template for _, template in compiled_sort)
        if key.shards > 1 and not primary and not any(template.variables for template in sort_templates):
            self.fault(name, "shards= requires a field in the sort key", "add a field to the sort key")
        hashed = primary or sort_templates
        return CompiledKey(name, index, compiled_partition, compiled_sort, when, key.shards, hashed, declared=key)

    def _index(self, name: str, key: Key) -> Index | None:
        if key.index is None:
            return None
        own = next((index for index in self.table.indexes if index.same_keys(key.index)), None)
        if own is None:
            self.fault(name, f"{key.index.name} isn't an index of the table", "add the index: Table(indexes=[...])")
        return own or key.index

    def _places(self, index: Index | None) -> tuple[tuple[KeyAttribute, ...], tuple[KeyAttribute, ...]]:
        if index is None:
            return (self.table.partition,), () if self.table.sort is None else (self.table.sort,)
        return index.partition, index.sort

    def _templates(
        self, name: str, attributes: tuple[KeyAttribute, ...], sources: tuple[str, ...], style: KeyStyle, *, sorts: bool
    ) -> tuple[tuple[KeyAttribute, Template], ...] | None:
        result: list[tuple[KeyAttribute, Template]] = []
        for attribute, source in zip(attributes, sources, strict=True):
            try:
                template = self._template(attribute, source, style, sorts=sorts)
                self._check_own_attribute(attribute, template)
                result.append((attribute, template))
            except Problem as problem:
                self.fault(name, f"{source!r}: {problem}", problem.hint)
        return tuple(result) if len(result) == len(sources) else None

    def _template(self, attribute: KeyAttribute, source: str, style: KeyStyle, *, sorts: bool) -> Template:
        pieces = split_template(source, raw=style.raw)
        bare = len(pieces) == 1
        if attribute.type != "S" and not (bare and isinstance(pieces[0], tuple)):
            raise Problem(f"the template of {attribute.name} (type {attribute.type}) must be one field without text")
        parts: list[Literal_ | Variable] = []
        for position, piece in enumerate(pieces):
            if isinstance(piece, str):
                parts.append(Literal_(piece))
                continue
            field_name, spec = piece
            stored = self.stored.get(field_name)
            if stored is None:
                raise Problem(
                    f"{self.cls.__name__} has no field {field_name!r}", f"the fields are {', '.join(self.stored)}"
                )
            last = position == len(pieces) - 1
            form = self._format(stored, spec, attribute, sorts=sorts)
            if kind_of(stored.annotation) is tuple and not _is_of_texts(stored.annotation):
                raise Problem(f"{{{field_name}}} isn't a tuple of strings", "use tuple[str, ...]")
            if kind_of(stored.annotation) is tuple and not last:
                raise Problem(f"{{{field_name}}} has a variable number of parts, so it must be last in the template")
            if kind_of(stored.annotation) is tuple and (style.raw or style.case):
                raise Problem(f"{{{field_name}}} is a tuple, which KeyStyle with raw=True or case= doesn't support")
            ends = DELIMITER if last else str(pieces[position + 1])
            alone = bare and kind_of(stored.annotation) is not tuple
            own = style if attribute.type == "S" else OURS
            parts.append(Variable(field_name, form, last=last, bare=alone, style=own, ends=ends))
        return Template(source, tuple(parts), attribute.type)

    def _format(self, stored: StoredField, spec: str, attribute: KeyAttribute, *, sorts: bool) -> Format:
        if stored.codec is None or spec:
            ranks = tuple(value for value in domain_of(stored.annotation) or () if value is not None)
            kind = kind_of(stored.annotation)
            return format_for(kind, spec, attribute_type=attribute.type, sorts=sorts, ranks=ranks)
        form = {"S": stored.codec.key, "N": stored.codec.number_key}.get(attribute.type)
        if form is None:
            raise Problem(
                f"a field with {stored.codec.mark} can't be stored in a key attribute of type {attribute.type}",
                f"add a format in the template, {{{stored.name}:...}}, or use another field",
            )
        return form

    def _check_own_attribute(self, attribute: KeyAttribute, template: Template) -> None:
        """A key attribute can be a field's attribute if it contains exactly that field. The field is then stored in the
        key's format, unless it has a stored form.
        """
        owner = next((field for field in self.stored.values() if field.attribute == attribute.name), None)
        if owner is None:
            return
        variable = template.variables[0] if len(template.parts) == 1 and template.variables else None
        if variable is not None and variable.field != owner.name:
            variable = None
        if owner.codec is not None and variable is not None:
            if variable.format in {owner.codec.key, owner.codec.number_key}:
                return
            variable = None
        if variable is None or not (variable.format.whole and variable.format.exact):
            raise Problem(
                f"the key attribute {attribute.name} also stores the field {owner.name} in another form",
                f"use {{{owner.name}}} alone as the template, rename the key attribute, or give the field an alias",
            )
        if owner.keeps_null and owner.optional:
            raise Problem(
                f"{owner.name} is stored as NULL if it is None, because its default is another value, and DynamoDB "
                f"rejects NULL in the key attribute {attribute.name}",
                "set the default of the field to None, or give the field an alias",
            )
        self.stored[owner.name] = held_in_key(owner, variable, attribute.type)

    def _when(self, name: str, key: Key) -> dict[str, tuple[Any, ...]]:
        result: dict[str, tuple[Any, ...]] = {}
        if key.when and key.index is None:
            self.fault(name, "a primary key can't be sparse", "use when= only with index=")
        for field_name, value in (key.when or {}).items():
            stored = self.stored.get(field_name)
            if stored is None:
                self.fault(name, f"when= names {field_name!r}, which isn't a field of {self.cls.__name__}")
                continue
            try:
                result[field_name] = values_asked(constant_of(self.cls.__name__, stored, value))
            except Problem as problem:
                self.fault(name, f"when= can never match: {problem}", problem.hint)
        return result

    def _claim(self, name: str, unique: Unique) -> CompiledKey | None:
        partition = (self.table.partition,)
        sort = () if self.table.sort is None else (self.table.sort,)
        style = unique.style or self.table.key_style
        compiled_partition = self._templates(name, partition, (unique.partition,), style, sorts=False)
        compiled_sort = self._templates(name, sort, (unique.sort,) if sort else (), style, sorts=False)
        if compiled_partition is None or compiled_sort is None:
            return None
        return CompiledKey(name, None, compiled_partition, compiled_sort, {}, 1, is_claim=True)

    def _check_shared(self, keys: Iterable[CompiledKey]) -> None:
        """Keys that share an attribute must write the same value under the same conditions, or exclude each other."""
        for key, other in combinations(keys, 2):
            if _exclude(key, other):
                if can_collide(key, other):
                    self.fault(
                        other.name,
                        f"the key can equal that of {key.name} in the same index, {key.place}: {other} and {key}",
                        "start one of the templates with a different constant",
                    )
                continue
            shared = next((pair for pair in _shared(key, other) if not _agree(key, other, *pair)), None)
            if shared is not None:
                self._sharing_fault(key, other, shared[0])

    def _sharing_fault(self, key: CompiledKey, other: CompiledKey, shared: tuple[KeyAttribute, Template]) -> None:
        attribute, held = shared
        both = key.index is not None and other.index is not None and key.index.name == other.index.name
        way = ", or give the keys mutually exclusive when= conditions" if both else ""
        self.fault(
            other.name,
            f"{other.name} and {key.name} share the attribute {attribute.name}, in which {key.name} stores {held} "
            f"(when={dict(key.when)}, shards={key.shards})",
            f"give both keys the same template, when= and shards=, or give one key a different attribute{way}",
        )


Held = tuple[KeyAttribute, Template]


def _exclude(key: CompiledKey, other: CompiledKey) -> bool:
    """Whether no item can have both keys of an index, because their ``when=`` conditions exclude each other."""
    if key.index is None or other.index is None or key.index.name != other.index.name:
        return False
    fields = key.when.keys() & other.when.keys()
    return any(not any(value in other.when[name] for value in key.when[name]) for name in fields)


def _shared(key: CompiledKey, other: CompiledKey) -> Iterator[tuple[Held, Held]]:
    held = {attribute.name: (attribute, template) for attribute, template in key.attributes}
    for attribute, template in other.attributes:
        if attribute.name in held:
            yield held[attribute.name], (attribute, template)


def _agree(key: CompiledKey, other: CompiledKey, held: Held, wanted: Held) -> bool:
    """Whether two keys write the same value to an attribute under the same conditions."""
    same = held[1].source == wanted[1].source and _style(held[1]) == _style(wanted[1])
    if key.index is not None and key.when != other.when:
        return False  # the attributes of the primary key are always written
    return same and (other.shards == key.shards or wanted not in other.partition)


def _style(template: Template) -> KeyStyle:
    return next((variable.style for variable in template.variables), OURS)


def _is_of_texts(annotation: Any) -> bool:
    if get_origin(annotation) is tuple:
        return all(part is Ellipsis or kind_of(part) is str for part in get_args(annotation))
    return any(_is_of_texts(part) for part in get_args(annotation))
