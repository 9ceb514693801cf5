"""Signatures of patterns: names, parameters and result types. A signature validates the arguments of calls."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from keyplan.errors import ArgumentError, ErrorDetail, shown
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.fields import is_optional, kind_of, unaliased
from keyplan.model.declared.parameters import EACH, PREFIX, Cursor, Range
from keyplan.model.stored.stored_entity import error_details_of

LIMIT_MAX = 1000
REQUIRED = inspect.Parameter.empty


class ParameterKind(Enum):
    """The role of a parameter: a condition on its field, or a setting of the read."""

    VALUE = "value"
    RANGE = "range"
    PREFIX = "prefix"
    EACH = "each"
    LIMIT = "limit"
    CURSOR = "cursor"
    DIRECTION = "direction"


@dataclass(frozen=True)
class Parameter:
    """One parameter of a pattern: ``annotation`` is the whole type, and ``value_type`` the type of a field value."""

    name: str
    kind: ParameterKind
    annotation: Any
    value_type: Any
    default: Any = REQUIRED

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    @property
    def condition(self) -> bool:
        """Whether the parameter restricts a field (limit, cursor and newest_first don't)."""
        return self.kind not in {ParameterKind.LIMIT, ParameterKind.CURSOR, ParameterKind.DIRECTION}

    def __str__(self) -> str:
        return self.name


@dataclass
class Signature:
    """The parameters and the return type of a pattern. Binds the arguments of calls."""

    place: str
    parameters: tuple[Parameter, ...]
    returns: Any
    is_async: bool
    doc: str
    by_name: dict[str, Parameter] = field(init=False)

    def __post_init__(self) -> None:
        self.by_name = {parameter.name: parameter for parameter in self.parameters}
        self._names = tuple(self.by_name)
        self._defaults = {parameter.name: parameter.default for parameter in self.parameters if not parameter.required}
        self._texts = frozenset(parameter.name for parameter in self.parameters if parameter.annotation is str)
        self._adapters: dict[str, Callable[..., Any]] = {}
        self._required = frozenset(parameter.name for parameter in self.parameters if parameter.required)

    def _validator(self, name: str) -> Callable[..., Any]:
        result = self._adapters.get(name)
        if result is None:
            parameter = self.by_name[name]
            if parameter.kind is ParameterKind.RANGE:
                result = _range_validator(parameter)
            else:
                result = _validator_of(adapted(parameter))
            self._adapters[name] = result
        return result

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any], *, strict: bool = True) -> dict[str, Any]:
        """The validated arguments of a call. ``strict`` disables conversion from strings. Raises ArgumentError."""
        given = dict(zip(self._names, args, strict=False))
        if kwargs:
            given.update(kwargs)
        faults: list[ErrorDetail] = []
        if len(given) != len(args) + len(kwargs) or not (self._required <= given.keys() <= self.by_name.keys()):
            faults = self._misfits(args, kwargs)
        bound = dict(self._defaults)
        for name, value in given.items():
            if name in self._texts and value.__class__ is str and value.isascii():
                bound[name] = value
                continue
            try:
                if name in self.by_name:
                    bound[name] = self._validator(name)(value, strict=strict)
            except ValidationError as error:
                faults.extend(error_details_of(error, name))
            except ArgumentError as error:
                faults.append(ErrorDetail(name, error.message, error.hint))
            except ArithmeticError as error:  # raised by a validator of the design; pydantic handles only ValueError
                faults.append(_uncountable(name, value, error))
        if faults:
            what = "wrong arguments" if len(faults) > 1 else "wrong argument"
            raise ArgumentError(what, place=self.place, errors=faults, hint=f"the signature is {self}")
        return bound

    def some(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Some arguments of a typical call, converted to their types. Raises ArgumentError."""
        result: dict[str, Any] = {}
        for name in given.keys() & self.by_name.keys():
            try:
                result[name] = self._validator(name)(given[name], strict=False)
            except ValidationError as error:
                raise ArgumentError("wrong argument", place=self.place, errors=error_details_of(error, name)) from None
            except ArithmeticError as error:
                faults = [_uncountable(name, given[name], error)]
                raise ArgumentError("wrong argument", place=self.place, errors=faults) from None
        return result

    def _misfits(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[ErrorDetail]:
        given = dict(zip(self._names, args, strict=False))
        faults = [
            ErrorDetail(name, "unknown parameter", _closest(name, self._names))
            for name in kwargs
            if name not in self.by_name
        ]
        faults += [ErrorDetail(name, "duplicate") for name in given if name in kwargs]
        if len(args) > len(self._names):
            faults.append(ErrorDetail("", f"the pattern takes {len(self._names)} arguments, but got {len(args)}"))
        return faults + [
            ErrorDetail(parameter.name, "missing", f"pass a value of type {type_name(parameter.annotation)}")
            for parameter in self.parameters
            if parameter.required and parameter.name not in given and parameter.name not in kwargs
        ]

    @property
    def result(self) -> Any:
        """The result type: the return type of a read, or the type that a write's generator returns (None: nothing)."""
        if get_origin(self.returns) is not Generator:
            return self.returns
        result = get_args(self.returns)[2]
        return None if isinstance(result, TypeVar) or result is type(None) else result

    def __str__(self) -> str:
        texts = [
            f"{parameter.name}: {type_name(parameter.annotation)}"
            + ("" if parameter.required else f" = {parameter.default!r}")
            for parameter in self.parameters
        ]
        return f"{self.place.rpartition('.')[2]}({', '.join(texts)}) -> {type_name(self.result)}"


def adapted(parameter: Parameter) -> Any:
    if parameter.kind is ParameterKind.LIMIT:
        limit = Annotated[int, Field(ge=1, le=LIMIT_MAX)]
        return Union[limit, None] if is_optional(parameter.annotation) else limit  # noqa: UP007 - a value, not a type
    if parameter.kind is ParameterKind.CURSOR:
        return str | None
    return parameter.annotation


def _validator_of(annotation: Any) -> Callable[..., Any]:
    own = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    adapter: TypeAdapter[Any] = TypeAdapter(annotation, config=None if own else _JSON_BYTES)
    validate = adapter.validator.validate_python

    def validated(value: Any, *, strict: bool) -> Any:
        if strict:
            return validate(value, strict=True)
        try:
            text = orjson.dumps(value)
        except TypeError:
            return validate(value)
        return adapter.validator.validate_json(text)

    return validated


def _range_validator(parameter: Parameter) -> Callable[..., Any]:
    validate_bound = _validator_of(parameter.value_type)
    optional = is_optional(parameter.annotation)

    def validate(value: Any, *, strict: bool) -> Any:
        if value is None and optional:
            return None
        if isinstance(value, Range):
            given = {name: getattr(value, name) for name in _BOUNDS}
        elif isinstance(value, Mapping) and not strict:
            given = dict(value)
        else:
            raise ArgumentError(f"the value must be a Range, not {shown(value)}", hint="pass Range(ge=..., lt=...)")
        unknown = [name for name in given if name not in _BOUNDS]
        if unknown:
            raise ArgumentError(f"a range has no bound {unknown[0]!r}", hint=f"the bounds are {', '.join(_BOUNDS)}")
        bounds = {name: bound for name, bound in given.items() if bound is not None}
        return Range(**{name: validate_bound(bound, strict=strict) for name, bound in bounds.items()})

    return validate


_JSON_BYTES = ConfigDict(val_json_bytes="base64")
_BOUNDS = ("ge", "gt", "le", "lt")


def _uncountable(name: str, value: Any, error: ArithmeticError) -> ErrorDetail:
    return ErrorDetail(name, f"invalid value ({error}); given: {shown(value)}")


def _closest(name: str, names: Sequence[str]) -> str:
    import difflib  # noqa: PLC0415 - needed only for wrong names

    near = difflib.get_close_matches(name, names)
    return f"did you mean {near[0]}?" if near else f"the pattern takes {', '.join(names) or 'no arguments'}"


def type_name(annotation: Any) -> str:
    if annotation is None or annotation is type(None):
        return "None"
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        if PREFIX in arguments:
            return "Prefix"
        if EACH in arguments:
            return f"Each[{type_name(get_args(arguments[0])[0])}]"
        return type_name(arguments[0])
    if origin in {Union, types.UnionType}:
        return " | ".join(type_name(argument) for argument in arguments)
    if origin is not None and arguments:
        name = getattr(origin, "__name__", str(origin).replace("typing.", ""))
        return f"{name}[{', '.join(_argument_name(argument) for argument in arguments)}]"
    return getattr(annotation, "__name__", None) or str(annotation).replace("typing.", "")


def _argument_name(value: Any) -> str:
    if value is Ellipsis:
        return "..."
    is_type = isinstance(value, type) or get_origin(value) is not None or hasattr(value, "__supertype__")
    return type_name(value) if is_type or value is Any else repr(value)


def signature_of(function: Callable[..., Any], place: str, namespace: Mapping[str, Any]) -> Signature:
    """The signature of a function. ``namespace`` has the local names that annotations can use. Raises Problem."""
    try:
        hints = get_type_hints(function, localns=dict(namespace), include_extras=True)
        for annotation in (hints.get("return"), *get_args(hints.get("return"))):
            if isinstance(annotation, type) and hasattr(annotation, "_fields"):  # a NamedTuple of the local scope
                annotation.__annotations__ = get_type_hints(annotation, localns=dict(namespace), include_extras=True)
    except NameError as error:
        raise Problem(f"{error} in an annotation", "import the name at run time, not only for type checking") from None
    is_read = get_origin(hints.get("return")) is not Generator
    parameters: list[Parameter] = []
    for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
        if parameter.kind in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}:
            raise Problem(f"{parameter} isn't supported: parameters must be named", "name each parameter")
        if name not in hints:
            raise Problem(f"the parameter {name} has no type", "annotate the parameter")
        parameters.append(_parameter(name, hints[name], parameter.default, is_read=is_read))
    if "return" not in hints:
        raise Problem("the return type is missing", "add a return type, such as -> Page[Article]")
    doc = inspect.getdoc(function) or ""
    return Signature(place, tuple(parameters), hints["return"], inspect.iscoroutinefunction(function), doc)


def _parameter(name: str, annotation: Any, default: Any, *, is_read: bool) -> Parameter:
    inner = _without_none(unaliased(annotation))
    origin = get_origin(inner)
    if inner is Cursor or (inner is str and name == "cursor" and is_read):
        return Parameter(name, ParameterKind.CURSOR, annotation, str, default)
    if name == "limit" and kind_of(inner) is int and is_read:
        if default is not REQUIRED and default is not None and default not in range(1, LIMIT_MAX + 1):
            raise Problem(f"the default of limit is {shown(default)}", f"use a default from 1 to {LIMIT_MAX:,}")
        return Parameter(name, ParameterKind.LIMIT, annotation, int, default)
    if name == "newest_first" and annotation is bool and is_read:
        return Parameter(name, ParameterKind.DIRECTION, annotation, bool, default)
    if origin is Range:
        return Parameter(name, ParameterKind.RANGE, annotation, get_args(inner)[0], default)
    if origin is Annotated and PREFIX in get_args(inner):
        return Parameter(name, ParameterKind.PREFIX, annotation, str, default)
    if origin is Annotated and EACH in get_args(inner):
        return Parameter(name, ParameterKind.EACH, annotation, get_args(get_args(inner)[0])[0], default)
    return Parameter(name, ParameterKind.VALUE, annotation, annotation, default)


def _without_none(annotation: Any) -> Any:
    if get_origin(annotation) in {Union, types.UnionType}:
        kinds = [value for value in get_args(annotation) if value is not type(None)]
        if len(kinds) == 1:
            return unaliased(kinds[0])
    return annotation
