"""Check that a read's options, parameters and return type are consistent, independently of keys."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

from keyplan.errors import shown
from keyplan.model.compiled.return_types import WORDS, Shape, ShapeKind
from keyplan.model.compiled.signatures import Parameter, ParameterKind, Signature, type_name
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import is_entity
from keyplan.model.declared.fields import kind_of
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.keys import Key
from keyplan.model.declared.parameters import Through
from keyplan.model.declared.patterns import Example, Options
from keyplan.model.stored.stored_entity import CompiledEntity

_KINDS: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "newest_first": (bool, "True or False"),
    "consistent": (bool, "True or False"),
    "scan": (bool, "True or False"),
    "complete": (bool, "True or False"),
    "key": (Key, "the key of an entity, such as Ticket.by_project"),
    "order_by": (str, "the name of a field"),
    "where": ((Mapping, str), "a mapping of fields to values, or a filter expression"),
    "scan_index": (Index, "an index"),
    "total": (str, "the name of a field"),
}


def kind_problems(options: Options) -> Iterator[Problem]:
    own_id: Any = options.id
    if not isinstance(own_id, str) or not own_id:
        message = f"the id is {shown(own_id)}, not a string" if own_id else "the access pattern has no id"
        yield Problem(message, 'pass a string id, as in @read("R1") or @write("W1")')
    for name, (kind, words) in _KINDS.items():
        given = getattr(options, name)
        if given is not None and not isinstance(given, kind):
            yield Problem(f"{name}= takes {words}, not {shown(given)}")
    for name, given in (("entity", options.entity), ("through", () if options.through is None else options.through)):
        several = given if isinstance(given, Sequence) else (given,)
        wrong = [each for each in several if not is_entity(each.entity if isinstance(each, Through) else each)]
        if wrong:
            yield Problem(f"{name}= takes an entity class or a list of entity classes, not {shown(wrong[0])}")


def attempts_problems(attempts: Any) -> Iterator[Problem]:
    if not isinstance(attempts, int) or attempts < 1:
        yield Problem(f"attempts= must be an integer of at least 1, not {shown(attempts)}")


def example_problems(
    examples: Iterable[Any], signature: Signature, entities: Mapping[type[Any], CompiledEntity], reads: Container[str]
) -> Iterator[Problem]:
    for example in examples:
        if not isinstance(example, Example):
            yield Problem(f"example= takes an Example or a list of Examples, not {shown(example)}")
            continue
        for name in example.arguments.keys() - signature.by_name.keys():
            yield Problem(f"example= has an unknown parameter {name!r}", f"use one of {', '.join(signature.by_name)}")
        for name in example.reads_missing:
            if name not in reads:
                yield Problem(f"example= names the read {name!r}, which the design doesn't have")
        for cls, fields in example.fields.items():
            entity = entities.get(cls)
            if entity is None:
                yield Problem(f"example= names {shown(cls)}, which isn't an entity of this design")
            else:
                for name in fields.keys() - cls.model_fields.keys():
                    yield Problem(
                        f"example=: {entity.name} has no field {name!r}", f"use one of {', '.join(cls.model_fields)}"
                    )


def check_options(
    signature: Signature,
    options: Options,
    shape: Shape,
    targets: Sequence[CompiledEntity],
    junctions: Sequence[tuple[CompiledEntity, Any]],
) -> None:
    """Raises Problem for inconsistent options. ``junctions`` are the junctions of ``through=``."""
    owners = [*targets, *(junction for junction, _ in junctions)]
    _check_shape(signature, options, shape)
    _check_segments(signature, options, shape)
    _check_direction(signature, options)
    _check_total(options, shape, owners)
    _check_key(options, owners)
    _check_where(signature, options, owners)


def check_read_whole(options: Options, shape: Shape, conditions: Sequence[Parameter]) -> str:
    """Reject conditions and junctions in a read of a whole table or index. Returns the read's name for errors."""
    word = "a scan" if options.scan else "a read of a whole index"
    if options.scan and options.scan_index is not None:
        raise Problem("scan= and scan_index= are mutually exclusive", "omit scan= or scan_index=")
    if not shape.many and not shape.told:
        raise Problem(f"{word} must return a Page, a list, an Iterator, an int or a bool")
    if options.through is not None:
        raise Problem(f"{word} doesn't support junctions", "omit through=")
    if conditions:
        raise Problem(f"{word} doesn't support key conditions", "use where= with :parameters to filter")
    return word


def _check_shape(signature: Signature, options: Options, shape: Shape) -> None:
    kinds = [parameter.kind for parameter in signature.parameters]
    if ParameterKind.CURSOR in kinds and shape.kind is not ShapeKind.PAGE:
        raise Problem("a cursor requires a Page", "return Page[...], or remove the cursor")
    if shape.kind is ShapeKind.PAGE and ParameterKind.LIMIT not in kinds:
        raise Problem("a Page requires a limit", "add limit: int = 10 and cursor: Cursor | None = None")
    if shape.lenient and options.through is not None:
        raise Problem(
            "InvalidItem isn't supported with through=", "remove InvalidItem, or read the items without through="
        )
    if ParameterKind.LIMIT in kinds and not shape.many:
        raise Problem(f"a limit has no effect on {WORDS[shape.kind]}", "return a Page or a list, or remove the limit")
    each = [parameter.name for parameter in signature.parameters if parameter.kind is ParameterKind.EACH]
    if each and not (shape.many or shape.told):
        raise Problem(
            f"{each[0]} has several values, but the result is a single item", "return a Page or a list, or omit Each"
        )


def check_field(entity: CompiledEntity, parameter: Parameter) -> None:
    field = entity.fields.get(parameter.name)
    if field is None:
        raise Problem(
            f"{entity.name} has no field {parameter.name!r}",
            "to set the sort direction, declare newest_first: bool = True"
            if parameter.name == "newest_first"
            else f"give the parameter the name of a field: {', '.join(entity.fields)}",
        )
    given, wanted = kind_of(parameter.value_type), kind_of(field.annotation)
    if object not in {given, wanted} and given is not wanted:
        raise Problem(
            f"the parameter {parameter.name} is of type {type_name(parameter.value_type)}, but the field "
            f"{entity.name}.{parameter.name} is of type {type_name(field.annotation)}",
            f"write Each[{type_name(field.annotation)}] to pass several values"
            if wanted in {kind_of(inner) for inner in get_args(parameter.value_type)}
            else "give the parameter and the field the same type",
        )


SEGMENTS_MAX = 100
"""Maximum number of segments read in parallel: each is a request. DynamoDB allows a million."""


def _check_segments(signature: Signature, options: Options, shape: Shape) -> None:
    """A parallel scan reads everything, in no order."""
    given: Any = options.segments
    if not isinstance(given, int) or isinstance(given, bool) or not 1 <= given <= SEGMENTS_MAX:
        raise Problem(f"segments={given!r} isn't an integer from 1 to {SEGMENTS_MAX}", "for most jobs, use 8")
    if given == 1:
        return
    if not options.scan and options.scan_index is None:
        raise Problem("segments= requires scan=True or scan_index=", "omit segments=, or set scan=True or scan_index=")
    if options.complete:
        raise Problem("segments= doesn't support complete=", "omit segments= or complete=")
    if shape.kind not in {ShapeKind.LIST, ShapeKind.ITERATOR, ShapeKind.PAGE, ShapeKind.COUNT}:
        raise Problem("segments= doesn't support this return type", "return an Iterator, a list, a Page or an int")
    limited = any(parameter.kind is ParameterKind.LIMIT for parameter in signature.parameters)
    if limited and shape.kind is not ShapeKind.PAGE:
        raise Problem("segments= supports a limit only with a Page", "return a Page, or omit the limit")


def _check_direction(signature: Signature, options: Options) -> None:
    directed = any(parameter.kind is ParameterKind.DIRECTION for parameter in signature.parameters)
    if directed and (options.newest_first is not None or (options.order_by or "").startswith("-")):
        raise Problem(
            "the decorator and the parameter newest_first both set the sort direction",
            "keep either the decorator's option or the parameter, which can have a default",
        )


def _check_total(options: Options, shape: Shape, owners: Sequence[CompiledEntity]) -> None:
    name = options.total
    if name is None:
        return
    if shape.kind is not ShapeKind.COUNT:
        raise Problem("total= requires the return type int", "return int, and pass entity=")
    for entity in owners[: len(shape.entities)]:
        if name not in entity.fields:
            raise Problem(
                f"total= names {name!r}, which isn't a field of {entity.name}", f"use one of {', '.join(entity.fields)}"
            )
        kind = kind_of(entity.fields[name].annotation)
        if not isinstance(kind, type) or not issubclass(kind, int) or kind is bool:
            raise Problem(
                f"total= requires an integer field, and {entity.name}.{name} isn't one",
                "return a list, and add up the values",
            )


def _check_key(options: Options, owners: Sequence[CompiledEntity]) -> None:
    chosen = options.key
    if chosen is None:
        return
    if options.scan or options.scan_index is not None:
        raise Problem("key= has no effect on a scan", "omit key=")
    if not any(own.declared == chosen for owner in owners for own in owner.keys):
        named = ", ".join((*chosen.partition, *chosen.sort))
        raise Problem(
            f"key= is {named}, which isn't a key of {' or '.join(owner.name for owner in owners)}",
            f"use one of {', '.join(f'{owner.name}.{own.name}' for owner in owners for own in owner.keys)}",
        )


def _check_where(signature: Signature, options: Options, owners: Sequence[CompiledEntity]) -> None:
    where = options.where if isinstance(options.where, Mapping) else {}
    known = {name for entity in owners for name in entity.fields}
    unknown = [name for name in where if name not in known]
    if unknown:
        raise Problem(f"where= names {', '.join(map(repr, unknown))}, which isn't a field of any entity that is read")
    twice = [parameter.name for parameter in signature.parameters if parameter.condition and parameter.name in where]
    if twice:
        raise Problem(
            f"{', '.join(twice)} is set by both where= and a parameter",
            "omit the parameter, or its field in where=; to limit a parameter's values, give it a Literal type",
        )
