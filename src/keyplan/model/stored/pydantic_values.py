"""Which fields are stored by rules of our own, and which as pydantic dumps them in JSON mode; and how the latter are.

Texts, numbers, moments, days, UUIDs, enums, and lists, sets, maps and models of them have a form of their own in
DynamoDB (``codec.py``), which filters, keys and updates know. Everything else is what pydantic says: time spans,
addresses, paths and URLs, ``PlainSerializer`` and ``field_serializer``, values of any type. That these values read back
equal is checked by ``keyplan.testing.verify``.
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

__all__ = [
    "Form",
    "aliased_models",
    "annotated",
    "dumper_of",
    "field_at",
    "form_of",
    "form_of_field",
    "holds",
    "holds_anything",
    "json_of",
    "members_of",
    "plain_of",
    "stored_name",
    "undeclared",
    "unwritable",
]


class Form(enum.IntEnum):
    """Who says how a value is stored."""

    OURS = 0
    DUMPED = 1
    """Pydantic, by its type."""
    CUSTOM = 2
    """A serializer of the entity's."""
    STORED = 3
    """Its type's ``StoredAs(...)``."""
    KEYED = 4
    """The key whose attribute it is."""


_PLAIN = frozenset({str, int, float, Decimal, bool, bytes, datetime, date, UUID})
_ELEMENTS = _PLAIN - {bool}
_MEMBERS = frozenset({str, int, UUID})
"""What may name the members of a map."""
_SERIALIZERS = frozenset({"PlainSerializer", "WrapSerializer", "SerializeAsAny", "EncodedBytes", "EncodedStr"})
"""Marks by their names: some of them are no classes for type checkers."""


def form_of_field(cls: type[BaseModel], name: str, annotation: Any) -> Form:
    """The form of one field of an entity."""
    decorators = cls.__pydantic_decorators__.field_serializers.values()
    if any(name in decorator.info.fields or "*" in decorator.info.fields for decorator in decorators):
        return Form.CUSTOM
    return form_of(annotation)


def form_of(annotation: Any) -> Form:
    """The form of values of a type."""
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
    """Whether a mark of pydantic's own checks values, and leaves their form as it is."""
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
    """Whether a type is one of these, or an enum or a choice of texts."""
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
    """The type of a field with its marks."""
    annotation: Any = info.annotation
    for mark in info.metadata:
        annotation = Annotated[annotation, mark]
    return annotation


def takes_nothing(annotation: Any) -> bool:
    """Whether None is one of the values."""
    try:
        return TypeAdapter(annotation).validate_python(None) is None
    except (PydanticUserError, ValueError, TypeError, AttributeError):
        return False


def unwritable(annotation: Any, form: Form) -> Problem | None:
    """Why values of a type can't be stored as pydantic writes them: it masks, decodes or doesn't know them."""
    hint = "store it in another type, or give it a serializer and a validator that read it back"
    if any(layer is Json or type(layer) in _DECODED for layer in layers(annotation)):
        return Problem("its validator doesn't take the values that it returns: an instance is validated again", hint)
    if form is not Form.DUMPED:
        return None
    if holds(annotation, lambda part: _is_subclass(get_origin(part) or part, _SECRETS)):
        return Problem("pydantic masks secrets when it writes them", hint)
    try:
        _adapter_of(annotation).json_schema(mode="serialization")
    except PydanticInvalidForJsonSchema as error:
        return Problem(f"pydantic has no JSON form for it: {error.message.splitlines()[0]}", hint)
    except (PydanticUserError, TypeError, NameError):
        pass
    return None


_SECRETS = (Secret, SecretStr, SecretBytes)
_DECODED = frozenset({EncodedBytes, EncodedStr, Json})


def _is_subclass(value: Any, classes: tuple[type[Any], ...]) -> bool:
    return isinstance(value, type) and issubclass(value, classes)


def _adapter_of(annotation: Any) -> TypeAdapter[Any]:
    try:
        return TypeAdapter(annotation, config={"arbitrary_types_allowed": True})
    except PydanticUserError:  # the type has a configuration of its own
        return TypeAdapter(annotation)


def stored_name(name: str, info: FieldInfo) -> str:
    """What a field of a model is stored under: its alias, where it has one."""
    return info.serialization_alias or info.alias or name


def field_at(model: type[BaseModel], step: str) -> tuple[str, FieldInfo] | None:
    """The field of a nested model at a step of a path: by its name, or by what it is stored under."""
    info = model.model_fields.get(step)
    if info is not None:
        return stored_name(step, info), info
    return next(((step, each) for name, each in model.model_fields.items() if stored_name(name, each) == step), None)


def aliased_models(annotation: Any) -> list[type[BaseModel]]:
    """The models within a type that store a field under another name than its own."""
    found: list[type[BaseModel]] = []

    def collect(part: Any) -> bool:
        is_model = isinstance(part, type) and issubclass(part, BaseModel)
        if is_model and any(stored_name(name, info) != name for name, info in part.model_fields.items()):
            found.append(part)
        return False

    holds(annotation, collect)
    return found


# Writing


def dumper_of(cls: type[BaseModel], name: str, annotation: Any) -> Callable[[Any], AttributeValue]:
    """The function that turns values of a field into what pydantic dumps of them.

    It raises ValueFault for a value that pydantic can't dump, or that wouldn't be read back as it is.
    """
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
            raise values.ValueFault(f"it can't be stored: {_first_line(error)}") from None
        if check is not None:
            _check(check, value, result)
        return result

    return dump


def _check(adapter: TypeAdapter[Any], value: Any, stored: AttributeValue) -> None:
    """Raises ValueFault where a value of any type comes back as another."""
    try:
        result = adapter.validate_json(json.dumps(json_of(stored)))
    except ValidationError as error:
        raise values.ValueFault(f"it can't be read back: {error.errors()[0]['msg']}") from None
    numbers = isinstance(result, int | float) and isinstance(value, int | float)
    if result != value or (type(result) is not type(value) and not numbers):
        raise values.ValueFault(f"it would be read back as {result!r}: JSON has no form for it, declare its type")


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def holds_anything(annotation: Any) -> bool:
    """Whether values of no declared type stand in it."""
    return holds(annotation, lambda value: value in _UNTYPED)


_UNTYPED = frozenset({Any, object, list, dict, tuple, set, frozenset})


def holds(annotation: Any, sought: Callable[[Any], bool]) -> bool:
    """Whether a type, or one that it is made of, is one of those sought."""
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


# Reading


def json_of(stored: Mapping[str, Any]) -> Any:
    """An attribute value as JSON: whole numbers as int, others as float where that is exact, and as text where not."""
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
    """An attribute value as plain Python that is stored as the same again: sets stay sets, and bytes are bytes."""
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
    """A value that no field declares, if it is the same when it comes back.

    Raises:
        ArgumentError: it isn't.
    """
    try:
        result = plain_of(values.encode(value))
    except (values.ValueFault, values.NumberError, TypeError, RecursionError, UnicodeEncodeError):
        result = to_jsonable_python(value, fallback=repr)
    if result != value:
        raise ArgumentError(f"{value!r} would be read back as {result!r}", hint="declare a field of its type")
    return value
