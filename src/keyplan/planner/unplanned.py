"""A design's class read for planning, whether it compiles or not: its patterns, signatures and entities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from keyplan.errors import ErrorDetail
from keyplan.model.compiled.compiled_design import entities_in
from keyplan.model.compiled.compiler import junctions_of
from keyplan.model.compiled.return_types import ShapeKind, shape_of
from keyplan.model.compiled.signatures import ParameterKind, Signature, signature_of
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.patterns import Pattern, ReadMethod

__all__ = ["Unplanned"]


@dataclass
class Unplanned:
    """A design's class read for planning, whether it compiles or not."""

    cls: type[Any]
    namespace: Mapping[str, Any]
    patterns: dict[str, Pattern] = field(default_factory=dict[str, Pattern])
    signatures: dict[str, Signature] = field(default_factory=dict[str, Signature])
    faults: list[ErrorDetail] = field(default_factory=list[ErrorDetail])

    def __post_init__(self) -> None:
        members = [pair for base in reversed(self.cls.__mro__) for pair in vars(base).items()]
        self.patterns = {name: value for name, value in members if isinstance(value, Pattern)}
        for name, pattern in self.patterns.items():
            place = f"{self.cls.__name__}.{name}"
            try:
                signature = signature_of(pattern.function, place, self.namespace)
                if isinstance(pattern, ReadMethod):
                    shape_of(signature.returns, pattern.options.entity)
                self.signatures[name] = signature
            except Problem as problem:
                self.faults.append(ErrorDetail(place, str(problem), problem.hint))

    @property
    def entities(self) -> list[type[Entity]]:
        """Every entity of the design, in the order in which they are met."""
        result = dict.fromkeys(self.cls.table.entities)
        for name, signature in self.signatures.items():
            mentioned = [*entities_in(signature.returns), *self.patterns[name].options.entity]
            mentioned += [
                entity_class for each in signature.parameters for entity_class in entities_in(each.annotation)
            ]
            mentioned += self.about(name)
            result.update(dict.fromkeys(mentioned))
        return list(result)

    def about(self, name: str) -> list[type[Entity]]:
        """The entities that a pattern's answer, or the way to it, is made of."""
        options = self.patterns[name].options
        junctions = (element.entity for element in junctions_of(options.through))
        return [*entities_in(self.signatures[name].returns), *options.entity, *junctions]

    @property
    def whole(self) -> set[str]:
        """The names of the indexes that questions read whole."""
        wanted = (pattern.options.scan_index for pattern in self.patterns.values())
        return {index.name for index in wanted if index is not None}

    @property
    def completed(self) -> set[str]:
        """The names of the questions that read from the table what their index lacks."""
        return {name for name, pattern in self.patterns.items() if pattern.options.complete}

    def asked_singly(self, cls: type[Entity]) -> list[frozenset[str]]:
        """The fields by which single items of an entity are asked for."""
        result: list[frozenset[str]] = []
        for name, signature in self.signatures.items():
            pattern = self.patterns[name]
            if not isinstance(pattern, ReadMethod) or pattern.options.through is not None:
                continue
            shape = shape_of(signature.returns, pattern.options.entity)
            directed = any(parameter.kind is ParameterKind.DIRECTION for parameter in signature.parameters)
            ordered = directed or pattern.options.newest_first is not None or pattern.options.order_by is not None
            if shape.kind is ShapeKind.ONE and shape.entities == (cls,) and not ordered and not pattern.options.where:
                result.append(frozenset(parameter.name for parameter in signature.parameters if parameter.condition))
        return result
