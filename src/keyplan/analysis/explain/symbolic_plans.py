"""Symbolic plans: without arguments, keys contain names in braces, such as ``{author_id}``, instead of values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

from keyplan.client.conversations import Request
from keyplan.model.compiled import plans
from keyplan.model.compiled.signatures import Parameter, ParameterKind, Signature
from keyplan.model.compiled.time_bucket_keys import BUCKET, Buckets
from keyplan.model.declared.parameters import Range
from keyplan.model.stored.key_templates import Literal_, Template, Variable, split_template
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey

LIMIT_ASSUMED = 10
"""The limit in an explanation, if the limit parameter has no default."""

_BELOW, _ABOVE = "\ue000", "\ue001"
"""Prefixes of the bounds of a range, so that the lower bound sorts before the upper; removed from the result."""
_NUMBER_BASE = 10**39
"""Numbers from 10**39 have 40 digits, so they're also valid base64, in the same order."""

PlanT = TypeVar("PlanT", bound=plans.Plan)


class Symbol(str):
    """An unknown value, shown as its name in braces. ``end``: ``low`` or ``high`` for the bounds of a range."""

    __slots__ = ("end", "name")

    def __new__(cls, name: str, end: str = "") -> Symbol:
        made = super().__new__(cls, f"{{{name}}}")
        made.name = name
        made.end = end
        return made

    name: str
    end: str


def symbolic_arguments(signature: Signature) -> dict[str, Any]:
    """A symbol for each parameter, except for the limit, which has its default, and the cursor, which is None."""
    return {parameter.name: _symbolic(parameter) for parameter in signature.parameters}


def _symbolic(parameter: Parameter) -> Any:
    name = parameter.name
    match parameter.kind:
        case ParameterKind.LIMIT:
            return parameter.default if isinstance(parameter.default, int) else LIMIT_ASSUMED
        case ParameterKind.CURSOR:
            return None
        case ParameterKind.DIRECTION:
            return plans.newest_by_default(parameter)
        case ParameterKind.RANGE:
            return Range(ge=Symbol(f"{name}.ge", "low"), le=Symbol(f"{name}.le", "high"))
        case ParameterKind.EACH:
            return [Symbol(f"{name}.1"), Symbol(f"{name}.2")]
        case _:
            return Symbol(name)


@dataclass(frozen=True, slots=True)
class _SymbolicVariable(Variable):
    """A variable that writes symbols unchanged, and other values as usual."""

    spec: str = ""
    symbols: Symbols | None = None

    def text(self, value: Any) -> str:
        if not isinstance(value, Symbol):
            return Variable.text(self, value)
        shown = f"{{{value.name}{':' if self.spec else ''}{self.spec}}}"
        if self.symbols is not None:
            return self.symbols.number(shown)
        if not value.end:
            return shown
        return f"{_BELOW if (value.end == 'low') is not self.format.descending else _ABOVE}{shown}"

    def prefix_text(self, value: str) -> str:
        return str(value) if isinstance(value, Symbol) else Variable.prefix_text(self, value)


@dataclass(frozen=True, eq=False)
class _SymbolicKey(CompiledKey):
    """A key whose shard is unknown if its fields are symbols."""

    def shard_suffix(self, values: Mapping[str, Any]) -> str:
        inputs = [values[name] for template in self.hash_input for name in template.fields]
        if any(isinstance(value, Symbol) for value in inputs):
            return "#{shard}"
        return CompiledKey.shard_suffix(self, values)


class _SymbolicBuckets(Buckets):
    """Time buckets, in which one symbolic bucket represents an unknown range."""

    def sets(self, values: Mapping[str, Any], *, ascending: bool = True) -> Sequence[tuple[str, Mapping[str, Any]]]:
        """The buckets of a known range; one symbolic bucket for an unknown range."""
        asked: Range[Any] | None = values[self.field]
        if asked is None or not any(isinstance(bound, Symbol) for bound in (asked.lower, asked.upper)):
            return Buckets.sets(self, values, ascending=ascending)
        return [("", {**values, BUCKET: Symbol(f"each {self.field}")})]


class Symbols:
    """Converts plans and requests to symbolic form. Each explanation needs its own instance."""

    def __init__(self) -> None:
        self.values: Mapping[str, Any] = {}
        """The arguments of the explained call; unknown ones are symbols."""
        self._numbers: dict[str, str] = {}
        self._entities: dict[int, CompiledEntity] = {}

    def number(self, shown: str) -> str:
        """A number that represents a symbol in a Number or Binary attribute. Later calls return higher numbers."""
        token = str(_NUMBER_BASE + len(self._numbers))
        self._numbers[token] = shown
        return token

    # Plans

    def plan(self, plan: PlanT) -> PlanT:
        made: plans.Plan = plan
        match plan:
            case plans.GetPlan() | plans.BatchGetPlan():
                made = replace(plan, entity=self.entity(plan.entity))
            case plans.ClaimPlan():
                made = replace(plan, entity=self.entity(plan.entity), claim=self.key(plan.claim))
            case plans.QueryPlan():
                matches, apart = tuple(map(self._match, plan.matches)), tuple(map(self.plan, plan.apart))
                made = replace(plan, matches=matches, apart=apart, filter=self._filter(plan.filter))
                made = replace(made, completed=tuple(map(self.entity, plan.completed)))
            case plans.ThroughPlan():
                also = tuple(map(self.plan, plan.also))
                made = replace(plan, junction=self.plan(plan.junction), end=self.plan(plan.end), also=also)
            case plans.ScanPlan():
                completed = tuple(map(self.entity, plan.completed))
                made = replace(plan, filter=self._filter(plan.filter), completed=completed)
        return cast("PlanT", made)

    def _filter(self, condition: plans.Filter | None) -> plans.Filter | None:
        """The filter, with symbols for its parameters, and conditions for absent attributes."""
        if condition is None:
            return None
        given = [self.values.get(value.parameter) for value in condition.parameters.values()]
        if any(isinstance(part, Symbol) for value in given for part in (value if isinstance(value, list) else [value])):
            condition = condition.shown or condition
        parameters = {
            placeholder: replace(value, encode=_encoder(value)) for placeholder, value in condition.parameters.items()
        }
        return replace(condition, parameters=parameters)

    def entity(self, entity: CompiledEntity) -> CompiledEntity:
        made = self._entities.get(id(entity))
        if made is None:
            made = self._entities[id(entity)] = copy(entity)
            vars(made).pop("keys", None)
            made.primary = self.key(entity.primary)
            made.index_keys = tuple(self.key(key) for key in entity.index_keys)
        return made

    def key(self, key: CompiledKey) -> CompiledKey:
        partition, sort = (
            tuple((attribute, self._template(template)) for attribute, template in part)
            for part in (key.partition, key.sort)
        )
        return _SymbolicKey(key.name, key.index, partition, sort, key.when, key.shards, key.hash_input, key.is_claim)

    def _template(self, template: Template) -> Template:
        return replace(template, parts=tuple(self._part(template, number) for number in range(len(template.parts))))

    def _part(self, template: Template, number: int) -> Literal_ | Variable:
        part = template.parts[number]
        if isinstance(part, Literal_):
            return part
        piece = split_template(template.source, raw=part.style.raw)[number]
        spec = piece[1] if isinstance(piece, tuple) else ""
        symbols = self if template.attribute_type != "S" else None
        return _SymbolicVariable(
            part.field, part.format, part.last, part.bare, part.style, part.ends, spec=spec, symbols=symbols
        )

    def _match(self, match: plans.KeyMatch) -> plans.KeyMatch:
        buckets = match.buckets
        if buckets is not None:
            buckets = _SymbolicBuckets(buckets.field, buckets.unit, buckets.days, buckets.default)
        return replace(
            match,
            entity=self.entity(match.entity),
            key=self.key(match.key),
            sort=tuple(self._sort_part(part) for part in match.sort),
            buckets=buckets,
        )

    def _sort_part(self, part: plans.SortPart) -> plans.SortPart:
        template = self._template(part.template)
        at = None if part.condition is None else part.template.parts.index(part.condition)
        condition = None if at is None else template.parts[at]
        return replace(
            part,
            template=template,
            known=template.parts[: len(part.known)],
            condition=condition if isinstance(condition, Variable) else None,
        )

    # Requests

    def shown(self, request: Request) -> Request:
        parameters: dict[str, Any] = self._shown(request.parameters)
        return Request(request.operation, parameters)

    def _shown(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._shown(element) for name, element in value.items()}
        if isinstance(value, list):
            return [self._shown(element) for element in value]
        if isinstance(value, str):
            return self._numbers.get(value, value.replace(f"{_BELOW}{{", "{").replace(f"{_ABOVE}{{", "{"))
        return value


def _encoder(filter_value: plans.FilterValue) -> Callable[[Any], dict[str, Any]]:
    return lambda value: {filter_value.tag: str(value)} if isinstance(value, Symbol) else filter_value.encode(value)
