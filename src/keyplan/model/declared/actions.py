"""Actions of a write: Put, Create, Update, Delete, Check and Batch; and the changes of an update.

The write compiler of the client turns actions into requests with index keys, claims, versions and conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, Self, TypeAlias

from typing_extensions import TypeVar

from keyplan.errors import ArgumentError, KeyplanError, shown
from keyplan.model.declared.entity import Entity

R = TypeVar("R", default=None)
E_co = TypeVar("E_co", bound=Entity, covariant=True, default=Any)


T = TypeVar("T")
V = TypeVar("V")


def several(given: Iterable[T], what: str) -> Iterable[T]:
    """Return the values. Raises ArgumentError if they aren't iterable."""
    anything: Any = given  # calls that aren't type-checked can pass other types
    if not isinstance(anything, Iterable):
        raise ArgumentError(f"the {what} must be a list, not {shown(given)}")
    return given


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition in DynamoDB's syntax on fields, with the values of its ``:placeholders``."""

    text: str
    values: Mapping[str, Any]


class _Action:
    """The base of actions: the conditions of an action, and the handling of its failure."""

    conditions: tuple[Condition, ...] = ()
    equals: Mapping[str, Any] = MappingProxyType({})
    is_final: bool = False
    missing: KeyplanError | None = None
    """The error to raise if the item doesn't exist."""
    is_wanted: bool = False
    """Whether ``yield from`` needs the resulting item; if it can't be returned, the write is rejected."""
    gives_previous: bool = False
    """Whether the previous item is requested."""

    def only_if(self, condition: str | None = None, /, **values: Any) -> Self:
        """Execute the action only if fields have these values, ``.only_if(status="draft")``, or if a condition in
        DynamoDB's syntax is true: ``.only_if("views < :most", most=10)``.

        Raises ArgumentError for an invalid condition. At run time, a false condition raises ConditionFailed.
        """
        if condition is None:
            return self._with(equals={**self.equals, **values})
        anything: Any = condition
        if not isinstance(anything, str):
            raise ArgumentError(f"a condition must be a string, not {shown(condition)}", place="only_if")
        return self._with(conditions=(*self.conditions, Condition(condition, values)))

    def final(self) -> Self:
        """If the condition of this action is false, don't retry the write, despite ``attempts=``."""
        return self._with(is_final=True)

    def if_missing(self, error: KeyplanError) -> Self:
        """Raise ``error`` instead of ConditionFailed if the item doesn't exist: ``Update(User,
        user_id=name).set(name="Ann").if_missing(ItemNotFound("user not found"))``.
        """
        return self._with(missing=error)

    def _with(self, **changes: Any) -> Self:
        changed = copy(self)
        vars(changed).update(changes)
        return changed

    def _wanted(self) -> Self:
        return self._with(is_wanted=True)


class Previous(Generic[E_co]):
    """An action that returns the previous item. Created by ``Put.previous`` and ``Update.previous``."""

    def __init__(self, action: Put[E_co] | Update[E_co]) -> None:
        self.action = action

    def __iter__(self) -> Generator[Put[E_co] | Update[E_co], Any, E_co | None]:
        """``before = yield from Update(...).previous()``: the previous item, or None. Raises RequestError in the write
        if it can't be known (see ``Writes``).
        """
        return (yield self.action._with(is_wanted=True, gives_previous=True))  # type: ignore[no-any-return]  # noqa: SLF001

    def __repr__(self) -> str:
        return f"{self.action!r}.previous()"


class Put(_Action, Generic[E_co]):
    """Write a whole item. An existing item with the same key is replaced."""

    def __init__(self, item: E_co) -> None:
        self.item = item

    def __iter__(self) -> Generator[Self, Any, E_co]:
        """``written = yield from Put(item)``: the stored item."""
        return (yield self._wanted())  # type: ignore[no-any-return]

    def previous(self) -> Previous[E_co]:
        """``before = yield from Put(item).previous()``: the replaced item, or None."""
        return Previous(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.item!r})"


class Create(_Action, Generic[E_co]):
    """Write a new item. If the item exists, the write raises ItemExists."""

    def __init__(self, item: E_co) -> None:
        self.item = item

    def __iter__(self) -> Generator[Self, Any, E_co]:
        """``created = yield from Create(item)``: the stored item."""
        return (yield self._wanted())  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"Create({self.item!r})"


class _ByKey(_Action, Generic[E_co]):
    """An action on an item, identified by an instance, or by its class and key fields."""

    def __init__(self, target: E_co | type[E_co], /, **key: Any) -> None:
        self.target = target
        self.key: Mapping[str, Any] = key

    def among(self, key: Mapping[str, Any]) -> Self:
        """The action with these key fields, which replace or complete its own."""
        return self._with(key={**self.key, **key})

    def __repr__(self) -> str:
        if isinstance(self.target, type):
            fields = "".join(f", {name}={value!r}" for name, value in self.key.items())
            return f"{type(self).__name__}({self.target.__name__}{fields})"
        return f"{type(self).__name__}({self.target!r})"


class Update(_ByKey[E_co]):
    """Change fields of an existing item: ``Update(article, title="New")`` or ``Update(Article,
    article_id=…).set(title="New")``.

    With an instance, its key fields identify the item, and affected keys are recomputed from the instance; the update
    raises ConditionFailed if fields of these keys changed in the meantime. With the class and key fields, changes that
    affect an index key are rejected (UpdateRejected). A change is a value, None (removes the field), or one of
    ``Add(1)``, ``Append([...])``, ``SetAdd({...})``, ``SetRemove({...})``, ``IfNotExists(...)``, ``Remove()``.
    """

    def __init__(self, target: E_co | type[E_co], /, **values: Any) -> None:
        by_class = isinstance(target, type)
        super().__init__(target, **(values if by_class else {}))
        self.changes: Mapping[str, Any] = {} if by_class else values
        self.creates = False
        self.token: str | None = None

    def __iter__(self) -> Generator[Self, Any, E_co]:
        """``counter = yield from Update(...)``: the updated item. Raises RequestError in the write if it can't be known
        (see ``Writes``).
        """
        return (yield self._wanted())  # type: ignore[no-any-return]

    def set(self, /, **changes: Any) -> Self:
        """The update with additional changes."""
        return self._with(changes={**self.changes, **changes})

    def at(self, path: Callable[[E_co], V], /) -> At[Update[E_co], V]:
        """A nested path to change: ``Update(user).at(lambda user: user.address.city).set("Porto")``, ``.at(lambda user:
        user.lines[0].count).add(1)``, ``.at(lambda user: user.settings["theme"]).remove()``.

        The parent of the path must exist, otherwise the write raises ConditionFailed; a map key can be new.
        """

        def make(change: Any) -> Update[E_co]:
            name, *rest = steps_of(path)
            if not rest:
                return self.set(**{str(name): change})
            before = self.changes.get(str(name), Within(()))
            if not isinstance(before, Within):
                raise ArgumentError("the update changes the field and a part of it", place=str(name), hint="omit one")
            return self.set(**{str(name): Within((*before.changes, (tuple(rest), change)))})

        return At(make, (Add, Append, lambda _: Remove()))

    def or_create(self) -> Self:
        """Create the item if it doesn't exist: ``Update(Count, name="a").set(n=Add(1)).or_create()``.

        The update must identify the item by class and key fields. Other fields get their defaults, so the update must
        set each field without a constant default, and all fields of index keys, to values. Entities with claims or a
        version are rejected (UpdateRejected), because the created item would lack the claims or the version. Conditions
        are also evaluated for a missing item: ``"attribute_not_exists(count) OR …"``.
        """
        return self._with(creates=True)

    def idempotent(self, token: str) -> Self:
        """Make the update idempotent: with one token, it is executed once, even if it is sent repeatedly:
        ``Update(Account, account_id=…).set(balance=Add(amount)).idempotent(payment_id)``.

        The item stores the token in its field of type ``IdempotencyTokens``. If the item already has the token, the
        update or its whole transaction writes nothing, and the call returns as it did the first time. Therefore, the
        client repeats an update whose response was lost, and you can repeat the call.
        """
        anything: Any = token
        if not isinstance(anything, str) or not anything or any("\ud800" <= text <= "\udfff" for text in token):
            raise ArgumentError(
                f"a token must be a nonempty string of valid Unicode, not {shown(token)}", place="idempotent"
            )
        return self._with(token=token)

    def previous(self) -> Previous[E_co]:
        """``before = yield from Update(...).previous()``: the previous item; None if ``or_create`` created it."""
        return Previous(self)


class Delete(_ByKey[E_co]):
    """Delete an item. Deleting a missing item isn't an error.

    Pass an instance to delete an item of an entity with unique claims, which are deleted with the item.
    """

    def __iter__(self) -> Generator[Self, Any, E_co | None]:
        """``removed = yield from Delete(...)``: the deleted item, or None. Raises RequestError in the write if it can't
        be known (see ``Writes``).
        """
        return (yield self._wanted())  # type: ignore[no-any-return]


class Check(_ByKey[E_co]):
    """Require that the item exists and that ``only_if`` is true, without writing the item."""


class Batch:
    """Puts and deletes without conditions, sent after the write's transaction in batches of 25, which aren't atomic.

    Several Batch actions are executed one after the other.
    """

    def __init__(self, actions: Iterable[Put[Entity] | Delete[Entity]]) -> None:
        self.actions = tuple(several(actions, "actions"))


@dataclass(frozen=True, slots=True)
class Ask:
    """A read within a write, strongly consistent if the key allows. Created by ``yield from pattern.read(...)``."""

    pattern: Any
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """A change that depends on the stored value."""


@dataclass(frozen=True, slots=True)
class Add(Change):
    """Add to a number. An absent attribute counts as the field's default, or as 0 if the default is None."""

    amount: Any


@dataclass(frozen=True, slots=True)
class Append(Change):
    """Append to a list. An absent attribute counts as the field's default, or as empty if the default is None."""

    items: Iterable[Any]


@dataclass(frozen=True, slots=True)
class SetAdd(Change):
    """Add elements to a set."""

    elements: Iterable[Any]


@dataclass(frozen=True, slots=True)
class SetRemove(Change):
    """Remove elements from a set."""

    elements: Iterable[Any]


@dataclass(frozen=True, slots=True)
class IfNotExists(Change):
    """Set the field only if it is absent: ``.set(created_at=IfNotExists(now())).or_create()``."""

    value: Any


@dataclass(frozen=True, slots=True)
class Within(Change):
    """Changes of nested parts of a field, each with its path. Created by ``Update.at``."""

    changes: tuple[tuple[Steps, Any], ...]


@dataclass(frozen=True, slots=True)
class Remove(Change):
    """Remove the field, so that a read returns None or the field's default."""


Action: TypeAlias = Put[Entity] | Create[Entity] | Update[Entity] | Delete[Entity] | Check[Entity] | Batch
Writes: TypeAlias = Generator[Action | Ask, Any, R]
"""The return type of a write pattern: ``Writes`` yields actions, ``Writes[Article]`` also returns an article.

``yield`` returns what the action leaves in the store, or None if that can't be known before the write is executed;
``yield from`` returns the same with its type, and raises RequestError in that case. The result of Put and Create is
always known. That of an Update is known if a version or ``only_if`` determines the previous item, or if it is the only
action and the last step: then its request is sent immediately, and the result is the store's response. That of a
Delete, and of ``.previous()``, is known in the latter case.
"""


U = TypeVar("U")

Steps: TypeAlias = tuple[str | int, ...]


class _Recorder:
    """A placeholder for an item that records accessed attributes, keys and indexes."""

    __slots__ = ("_steps",)

    def __init__(self, steps: Steps) -> None:
        self._steps = steps

    def __getattr__(self, name: str) -> _Recorder:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Recorder((*self._steps, name))

    def __getitem__(self, key: Any) -> _Recorder:
        if isinstance(key, bool) or not isinstance(key, str | int) or (isinstance(key, int) and key < 0):
            raise ArgumentError(
                f"{shown(key)} isn't a map key or list index", place="at", hint="pass a string or a nonnegative integer"
            )
        return _Recorder((*self._steps, key))


def steps_of(path: Callable[[Any], Any]) -> Steps:
    """The fields, keys and indexes of a path. Raises ArgumentError."""
    anything: Any = path
    result: Any = anything(_Recorder(())) if callable(anything) else None
    steps: Steps = object.__getattribute__(result, "_steps") if isinstance(result, _Recorder) else ()
    if not steps or not isinstance(steps[0], str):
        raise ArgumentError(
            "a path must lead from the item to a nested field",
            place="at",
            hint="write .at(lambda user: user.address.city)",
        )
    return steps


class At(Generic[U, T]):
    """A nested path that an update changes."""

    def __init__(self, make: Callable[[Any], U], changes: tuple[Callable[[Any], Any], ...]) -> None:
        self._make = make
        self._add, self._append, self._remove = changes

    def set(self, value: T) -> U:
        """Set the value."""
        return self._make(value)

    def add(self, amount: T) -> U:
        """Add to the number; a missing map key counts as 0."""
        return self._make(self._add(amount))

    def append(self: At[U, list[V]], items: Iterable[V]) -> U:
        """Append to the list; a missing map key counts as empty."""
        return self._make(self._append(items))

    def remove(self) -> U:
        """Remove the nested part: a field with a default, a map key, or a list element."""
        return self._make(self._remove(None))
