"""Fields with stored forms defined by Keyplan, and fields stored in pydantic's JSON serialization.

Strings, numbers, datetimes, dates, UUIDs, enums, and lists, sets, maps and models of these have a form in DynamoDB
(``field_codec``), which filters, keys and updates support. pydantic serializes everything else: durations, addresses,
paths and URLs, ``PlainSerializer`` and ``field_serializer``, values of any type. ``keyplan.testing.verify`` checks that
a read returns equal values.
"""

from __future__ import annotations

import base64
import enum
import json
import types
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from pydantic import (
    BaseModel,
    EncodedBytes,
    EncodedStr,
    Json,
    Secret,
    SecretBytes,
    SecretStr,
    TypeAdapter,
    ValidationError,
)
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticUserError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, to_jsonable_python

from keyplan.dynamodb import values
from keyplan.dynamodb.values import AttributeValue
from keyplan.errors import ArgumentError
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.fields import is_alias, kind_of, layers


class Form(enum.IntEnum):
    """The source of the stored form of a value."""

    OURS = 0
    DUMPED = 1
    """pydantic, by the type."""
    CUSTOM = 2
    """A serializer of the entity."""
    STORED = 3
    """``StoredAs(...)`` in the type."""
    KEYED = 4
    """The key whose attribute it is."""


_PLAIN = frozenset({str, int, float, Decimal, bool, bytes, datetime, date, UUID})
_ELEMENTS = _PLAIN - {bool}
_MEMBERS = frozenset({str, int, UUID})
"""Types of map keys."""
_SERIALIZERS = frozenset({"PlainSerializer", "WrapSerializer", "SerializeAsAny", "EncodedBytes", "EncodedStr"})
"""Metadata by name: some aren't classes for type checkers."""


def form_of_field(cls: type[BaseModel], name: str, annotation: Any) -> Form:
    decorators = cls.__pydantic_decorators__.field_serializers.values()
    if any(name in decorator.info.fields or "*" in decorator.info.fields for decorator in decorators):
        return Form.CUSTOM
    return form_of(annotation)


def form_of(annotation: Any) -> Form:
    return _form(annotation, set())


def _form(annotation: Any, seen: set[Any]) -> Form:
    if is_alias(annotation):
        return Form.DUMPED if annotation in seen else _form(annotation.__value__, {*seen, annotation})
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        inner, *marks = arguments
        return max(_form(inner, seen), *(_form_of_mark(mark) for mark in marks))
    if origin in {Union, types.UnionType}:
        parts = [argument for argument in arguments if argument is not type(None)]
        return _form(parts[0], seen) if len(parts) == 1 else _most(Form.DUMPED, parts, seen)
    if origin is Literal:
        kinds = {type(argument) for argument in arguments}
        return Form.OURS if len(kinds) == 1 and kinds <= {str, int, bool} else Form.DUMPED
    supertype = getattr(annotation, "__supertype__", None)
    if supertype is not None:
        return _form(supertype, seen)
    if origin in {list, tuple, set, frozenset, dict}:
        return _form_of_compound(origin, arguments, seen)
    return _form_of_class(annotation, seen)


def _most(least: Form, parts: Any, seen: set[Any]) -> Form:
    return max([least, *(_form(part, seen) for part in parts)])


def _form_of_mark(mark: Any) -> Form:
    if type(mark).__name__ in _SERIALIZERS:
        return Form.CUSTOM
    if mark is Json:
        return Form.DUMPED
    return Form.DUMPED if hasattr(mark, "__get_pydantic_core_schema__") and not _only_checks(mark) else Form.OURS


def _only_checks(mark: Any) -> bool:
    """Whether pydantic metadata only validates values, without changing their form."""
    return type(mark).__module__ in _CHECKS and type(mark).__name__ not in _OTHER_FORMS


_OTHER_FORMS = frozenset({"Json", "GetPydanticSchema"})
_CHECKS = frozenset({"pydantic.functional_validators", "pydantic.types", "pydantic.fields", "annotated_types"})


def _form_of_compound(origin: Any, arguments: tuple[Any, ...], seen: set[Any]) -> Form:
    parts = [argument for argument in arguments if argument is not Ellipsis]
    inner = _most(Form.OURS, parts, seen)
    if inner is not Form.OURS or not parts:
        return max(inner, Form.DUMPED)
    if origin is dict:
        return Form.OURS if _is_one_of(parts[0], _MEMBERS) else Form.DUMPED
    if origin in {set, frozenset}:
        return Form.OURS if _is_one_of(parts[0], _ELEMENTS) else Form.DUMPED
    return Form.OURS


def _is_one_of(annotation: Any, kinds: frozenset[Any]) -> bool:
    if is_alias(annotation):
        return _is_one_of(annotation.__value__, kinds)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _is_one_of(arguments[0], kinds)
    if origin is Literal:
        return all(isinstance(argument, str) for argument in arguments)
    supertype = getattr(annotation, "__supertype__", None)
    if supertype is not None:
        return _is_one_of(supertype, kinds)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return all(type(element.value) is str for element in annotation)
    return annotation in kinds


def _form_of_class(cls: Any, seen: set[Any]) -> Form:
    if kind_of(cls) in _PLAIN or cls is type(None):
        return Form.OURS
    if not isinstance(cls, type):
        return Form.DUMPED
    if issubclass(cls, enum.Enum):
        whole = not issubclass(cls, enum.Flag) and all(type(element.value) in {str, int} for element in cls)
        return Form.OURS if whole and "__get_pydantic_core_schema__" not in _own_names(cls) else Form.DUMPED
    if not issubclass(cls, BaseModel):
        return Form.DUMPED
    if cls in seen:
        return Form.OURS
    decorators = cls.__pydantic_decorators__
    if decorators.field_serializers or decorators.model_serializers:
        return Form.CUSTOM
    least = Form.DUMPED if cls.model_config.get("extra") == "allow" else Form.OURS
    inner = {*seen, cls}
    return max([least, *(_form(annotated(info), inner) for info in cls.model_fields.values())])


def _own_names(cls: type[Any]) -> set[str]:
    return {name for base in cls.__mro__ if base not in {enum.Enum, object} for name in vars(base)}


def annotated(info: FieldInfo) -> Any:
    annotation: Any = info.annotation
    for mark in info.metadata:
        annotation = Annotated[annotation, mark]
    return annotation


def takes_nothing(annotation: Any) -> bool:
    try:
        return TypeAdapter(annotation).validate_python(None) is None
    except (PydanticUserError, ValueError, TypeError, AttributeError):
        return False


def unwritable(annotation: Any, form: Form) -> Problem | None:
    """The reason why pydantic can't serialize values of a type without loss; None if pydantic can."""
    hint = "use another type, or a serializer and a validator that restore the value"
    if any(layer is Json or type(layer) in _DECODED for layer in layers(annotation)):
        return Problem("the type's validator rejects values that it returned, but writes validate them again", hint)
    if form is not Form.DUMPED:
        return None
    if holds(annotation, lambda part: isinstance(cls := get_origin(part) or part, type) and issubclass(cls, _SECRETS)):
        return Problem("pydantic masks secrets when it serializes them, so the value would be lost", hint)
    try:
        _adapter_of(annotation).json_schema(mode="serialization")
    except PydanticInvalidForJsonSchema as error:
        return Problem(f"pydantic can't serialize the type to JSON: {error.message.splitlines()[0]}", hint)
    except (PydanticUserError, TypeError, NameError):
        pass
    return None


_SECRETS = (Secret, SecretStr, SecretBytes)
_DECODED = frozenset({EncodedBytes, EncodedStr, Json})


def _adapter_of(annotation: Any) -> TypeAdapter[Any]:
    try:
        return TypeAdapter(annotation, config={"arbitrary_types_allowed": True})
    except PydanticUserError:  # a type with its own configuration can't have another
        return TypeAdapter(annotation)


def stored_name(name: str, info: FieldInfo) -> str:
    return info.serialization_alias or info.alias or name


def field_at(model: type[BaseModel], step: str) -> tuple[str, FieldInfo] | None:
    info = model.model_fields.get(step)
    if info is not None:
        return stored_name(step, info), info
    return next(((step, each) for name, each in model.model_fields.items() if stored_name(name, each) == step), None)


def aliased_models(annotation: Any) -> list[type[BaseModel]]:
    """The models within a type that have a field whose stored name differs from its name."""
    found: list[type[BaseModel]] = []

    def collect(part: Any) -> bool:
        is_model = isinstance(part, type) and issubclass(part, BaseModel)
        if is_model and any(stored_name(name, info) != name for name, info in part.model_fields.items()):
            found.append(part)
        return False

    holds(annotation, collect)
    return found


# Serialization


def dumper_of(cls: type[BaseModel], name: str, annotation: Any) -> Callable[[Any], AttributeValue]:
    """A function that serializes a field's values with pydantic. Raises ValueFault if a value can't be stored."""
    check = TypeAdapter(annotation) if holds_anything(annotation) else None

    def dump(value: Any) -> AttributeValue:
        try:
            instance = cls.model_construct(**{name: value})
            dumped = cls.__pydantic_serializer__.to_python(
                instance, mode="json", include={name}, by_alias=True, round_trip=True, warnings=False
            )
            (held,) = dumped.values()
            result = values.encode(held)
        except (PydanticSerializationError, ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
            raise values.ValueFault(
                f"the value can't be stored: {(str(error) or type(error).__name__).splitlines()[0]}"
            ) from None
        if check is not None:
            _check(check, value, result)
        return result

    return dump


def _check(adapter: TypeAdapter[Any], value: Any, stored: AttributeValue) -> None:
    """Raises ValueFault if a value of any type reads back as another one."""
    try:
        result = adapter.validate_json(json.dumps(json_of(stored)))
    except ValidationError as error:
        raise values.ValueFault(f"the value can't be read back: {error.errors()[0]['msg']}") from None
    numbers = isinstance(result, int | float) and isinstance(value, int | float)
    if result != value or (type(result) is not type(value) and not numbers):
        raise values.ValueFault(f"JSON can't represent the value: it would be read as {result!r}; declare its type")


def holds_anything(annotation: Any) -> bool:
    """Whether a type contains values without a declared type."""
    return holds(annotation, lambda value: value in _UNTYPED)


_UNTYPED = frozenset({Any, object, list, dict, tuple, set, frozenset})


def holds(annotation: Any, sought: Callable[[Any], bool]) -> bool:
    """Whether a type, or a type within it, satisfies a predicate."""
    return _holds(annotation, sought, set())


def _holds(annotation: Any, sought: Callable[[Any], bool], seen: set[Any]) -> bool:
    if not _is_type(annotation) or annotation in seen:
        return False
    seen.add(annotation)
    if sought(annotation):
        return True
    if is_alias(annotation):
        return _holds(annotation.__value__, sought, seen)
    parts = list(get_args(annotation)) if get_origin(annotation) is not Literal else []
    if isinstance(annotation, type):
        fields = getattr(annotation, "model_fields", None)
        if isinstance(fields, dict):
            parts += [annotated(field) for field in fields.values()]
        else:
            parts += members_of(annotation).values()
    return any(_holds(part, sought, seen) for part in parts)


def _has_members(cls: type[Any]) -> bool:
    return any(hasattr(cls, name) for name in ("__dataclass_fields__", "_fields", "__total__"))


def members_of(cls: type[Any]) -> dict[str, Any]:
    """The members of a dataclass, a named tuple or a typed dictionary, with their types."""
    try:
        return get_type_hints(cls, include_extras=True) if _has_members(cls) else {}
    except (NameError, TypeError):
        return {}


def _is_type(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


# Deserialization


def json_of(stored: Mapping[str, Any]) -> Any:
    ((tag, content),) = stored.items()
    match tag:
        case "N":
            return _number(content)
        case "M":
            return {name: json_of(value) for name, value in content.items()}
        case "L":
            return [json_of(value) for value in content]
        case "NS":
            return [_number(value) for value in content]
        case "NULL":
            return None
        case _:
            return content


def plain_of(stored: Mapping[str, Any]) -> Any:
    """The plain Python value that is stored as this attribute value: sets stay sets, and bytes stay bytes."""
    ((tag, content),) = stored.items()
    match tag:
        case "N":
            result = _number(content)
            return Decimal(content) if isinstance(result, str) else result
        case "B":
            return base64.b64decode(content)
        case "SS" | "NS" | "BS":
            return {plain_of({tag[0]: value}) for value in content}
        case "M":
            return {name: plain_of(value) for name, value in content.items()}
        case "L":
            return [plain_of(value) for value in content]
        case _:
            return json_of(stored)


def _number(text: str) -> Any:
    exact = Decimal(text)
    if exact == exact.to_integral_value() and exact.adjusted() < 40:
        return int(exact)
    near = float(text)
    return near if Decimal(repr(near)) == exact else text


def undeclared(value: Any) -> Any:
    """The value of an undeclared field. Raises ArgumentError if a read would return a different value."""
    try:
        result = plain_of(values.encode(value))
    except (values.ValueFault, values.NumberError, TypeError, RecursionError, UnicodeEncodeError):
        result = to_jsonable_python(value, fallback=repr)
    if result != value:
        raise ArgumentError(f"{value!r} would be read back as {result!r}", hint="declare a field with the value's type")
    return value
