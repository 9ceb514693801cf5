"""What a write yields: Put, Create, Update, Delete, Check, and Batch; and the changes an update can make.

They say what is wanted. The requests that do it, with index keys, claims, versions and conditions, are made by the one
write compiler in the client.
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

__all__ = [
    "Action",
    "Add",
    "Append",
    "Ask",
    "At",
    "Batch",
    "Change",
    "Check",
    "Condition",
    "Create",
    "Delete",
    "IfNotExists",
    "Previous",
    "Put",
    "Remove",
    "SetAdd",
    "SetRemove",
    "Steps",
    "Update",
    "Within",
    "Writes",
    "steps_of",
]

R = TypeVar("R", default=None)
E_co = TypeVar("E_co", bound=Entity, covariant=True, default=Any)


T = TypeVar("T")
V = TypeVar("V")


def several(given: Iterable[T], what: str) -> Iterable[T]:
    """What is given as several, if it is. Raises ArgumentError."""
    anything: Any = given  # whatever the caller's checker let pass
    if not isinstance(anything, Iterable):
        raise ArgumentError(f"several {what} must be a list, not {shown(given)}")
    return given


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition in DynamoDB's grammar over fields, with the values of its ``:placeholders``."""

    text: str
    values: Mapping[str, Any]


class _Action:
    """The common part: the conditions under which an action is carried out, and what becomes of its failure."""

    conditions: tuple[Condition, ...] = ()
    equals: Mapping[str, Any] = MappingProxyType({})
    is_final: bool = False
    missing: KeyplanError | None = None
    """What is raised where the action finds nothing under its key."""
    is_wanted: bool = False
    """Whether what it leaves is asked for, by ``yield from``: then it is given, or the write is refused."""
    gives_previous: bool = False
    """Whether what is asked for is the item as it was before."""

    def only_if(self, condition: str | None = None, /, **values: Any) -> Self:
        """The action, carried out only if fields have these values: ``.only_if(status="draft")``; or only if a
        condition in DynamoDB's grammar holds: ``.only_if("views < :most", most=10)``.
        """
        changed = copy(self)
        if condition is not None:
            anything: Any = condition
            if not isinstance(anything, str):
                raise ArgumentError(f"a condition must be a string, not {shown(condition)}", place="only_if")
            changed.conditions = (*self.conditions, Condition(condition, values))
        else:
            changed.equals = {**self.equals, **values}
        return changed

    def final(self) -> Self:
        """The action, whose failed condition ends the write: ``attempts=`` doesn't try it again."""
        changed = copy(self)
        changed.is_final = True
        return changed

    def if_missing(self, error: KeyplanError) -> Self:
        """The action, which ends the write with ``error``, and not with ConditionFailed, where nothing is stored under
        its key: ``Update(User, user_id=name).set(name="Ann").if_missing(ItemNotFound("there is no such user"))``.
        """
        changed = copy(self)
        changed.missing = error
        return changed

    def _wanted(self) -> Self:
        changed = copy(self)
        changed.is_wanted = True
        return changed

    def _asked_for_previous(self) -> Self:
        changed = self._wanted()
        changed.gives_previous = True
        return changed


class Previous(Generic[E_co]):
    """An action that gives the item as it was before it. Made by ``Put.previous`` and ``Update.previous``."""

    def __init__(self, action: Put[E_co] | Update[E_co]) -> None:
        self.action = action

    def __iter__(self) -> Generator[Put[E_co] | Update[E_co], Any, E_co | None]:
        """``before = yield from Update(...).previous()``: the item that was there, or None. Raises RequestError in the
        write where that can't be known (see ``Writes``).
        """
        return (yield self.action._asked_for_previous())  # type: ignore[no-any-return]  # noqa: SLF001

    def __repr__(self) -> str:
        return f"{self.action!r}.previous()"


class Put(_Action, Generic[E_co]):
    """Write the whole item, whatever stood there before."""

    def __init__(self, item: E_co) -> None:
        self.item = item

    def __iter__(self) -> Generator[Self, Any, E_co]:
        """``written = yield from Put(item)``: the item as it is stored."""
        return (yield self._wanted())  # type: ignore[no-any-return]

    def previous(self) -> Previous[E_co]:
        """``before = yield from Put(item).previous()``: the item that stood there, or None."""
        return Previous(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.item!r})"


class Create(_Action, Generic[E_co]):
    """Write the item, which must not exist yet: otherwise ItemExists."""

    def __init__(self, item: E_co) -> None:
        self.item = item

    def __iter__(self) -> Generator[Self, Any, E_co]:
        """``created = yield from Create(item)``: the item as it is stored."""
        return (yield self._wanted())  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"Create({self.item!r})"


class _ByKey(_Action, Generic[E_co]):
    """An action on an item named by an instance, or by its class and key fields."""

    def __init__(self, target: E_co | type[E_co], /, **key: Any) -> None:
        self.target = target
        self.key: Mapping[str, Any] = key

    def __repr__(self) -> str:
        if isinstance(self.target, type):
            fields = "".join(f", {name}={value!r}" for name, value in self.key.items())
            return f"{type(self).__name__}({self.target.__name__}{fields})"
        return f"{type(self).__name__}({self.target!r})"


class Update(_ByKey[E_co]):
    """Change fields of an item that exists: ``Update(article, title="New")`` or ``Update(Article,
    article_id=…).set(title="New")``.

    With an instance, its key fields name the item, and keys that the change touches are made anew from the instance;
    the update fails with ConditionFailed if the fields they are made of have changed meanwhile. With the class and
    key fields, changes that touch a key are refused. A change is a value, None (removes the field), or one of
    ``Add(1)``, ``Append([...])``, ``SetAdd({...})``, ``SetRemove({...})``, ``IfNotExists(...)``, ``Remove()``.
    """

    def __init__(self, target: E_co | type[E_co], /, **values: Any) -> None:
        by_class = isinstance(target, type)
        super().__init__(target, **(values if by_class else {}))
        self.changes: Mapping[str, Any] = {} if by_class else values
        self.creates = False
        self.token: str | None = None

    def __iter__(self) -> Generator[Self, Any, E_co]:
        """``counter = yield from Update(...)``: the item as it is stored. Raises RequestError in the write where that
        can't be known (see ``Writes``).
        """
        return (yield self._wanted())  # type: ignore[no-any-return]

    def set(self, /, **changes: Any) -> Self:
        """The update with further changes."""
        changed = copy(self)
        changed.changes = {**self.changes, **changes}
        return changed

    def at(self, path: Callable[[E_co], V], /) -> At[Update[E_co], V]:
        """A place within the item, where the update changes something:
        ``Update(user).at(lambda user: user.address.city).set("Porto")``,
        ``.at(lambda user: user.lines[0].count).add(1)``, ``.at(lambda user: user.settings["theme"]).remove()``.

        What the place lies in must be there, else ConditionFailed; a key of a map may be new.
        """

        def make(change: Any) -> Update[E_co]:
            name, *rest = steps_of(path)
            if not rest:
                return self.set(**{str(name): change})
            before = self.changes.get(str(name), Within(()))
            if not isinstance(before, Within):
                raise ArgumentError("it is already changed as a whole", place=str(name), hint="use one change")
            return self.set(**{str(name): Within((*before.changes, (tuple(rest), change)))})

        return At(make, (Add, Append, lambda _: Remove()))

    def or_create(self) -> Self:
        """The update, which makes the item where it is missing: ``Update(Count, name="a").set(n=Add(1)).or_create()``.

        By class and key fields only. What the changes don't say has its default, so each field without a fixed one
        must be set, and so must all that an index key takes, as values. An entity with claims or a version is refused
        (UpdateRejected): made from nothing, its item would lack them. Conditions are asked of the missing item too:
        ``"attribute_not_exists(count) OR …"``.
        """
        changed = copy(self)
        changed.creates = True
        return changed

    def idempotent(self, token: str) -> Self:
        """The update, which is carried out once for a token, however often it is sent:
        ``Update(Account, account_id=…).set(balance=Add(amount)).idempotent(payment_id)``.

        The item keeps the token in its field of type ``IdempotencyTokens``. Where it has the token already, nothing is
        written (in a transaction: nothing of it), and the call ends as it did the first time. So an update whose answer
        was lost is sent again by the client, and may be called again by you.
        """
        anything: Any = token
        if not isinstance(anything, str) or not anything or any("\ud800" <= text <= "\udfff" for text in token):
            raise ArgumentError(
                f"a token must be a nonempty string of valid Unicode, not {shown(token)}", place="idempotent"
            )
        changed = copy(self)
        changed.token = token
        return changed

    def among(self, key: Mapping[str, Any]) -> Self:
        """The update with further key fields."""
        changed = copy(self)
        changed.key = {**self.key, **key}
        return changed

    def previous(self) -> Previous[E_co]:
        """``before = yield from Update(...).previous()``: the item as it was; None where ``or_create`` made it."""
        return Previous(self)


class Delete(_ByKey[E_co]):
    """Remove an item. Removing what isn't there is no error.

    An entity with unique claims is deleted by its instance: the claims are found by it, and released with it.
    """

    def __iter__(self) -> Generator[Self, Any, E_co | None]:
        """``removed = yield from Delete(...)``: the item that was there, or None. Raises RequestError in the write
        where that can't be known (see ``Writes``).
        """
        return (yield self._wanted())  # type: ignore[no-any-return]


class Check(_ByKey[E_co]):
    """Write nothing, but let the transaction happen only if this item exists, and is as ``only_if`` says."""


class Batch:
    """Puts and deletes without conditions, in batches of 25 after the write's transaction; not all-or-nothing.

    Of several, each is done before the next one begins.
    """

    def __init__(self, actions: Iterable[Put[Entity] | Delete[Entity]]) -> None:
        self.actions = tuple(several(actions, "actions"))


@dataclass(frozen=True, slots=True)
class Ask:
    """A read within a write, strongly consistent where its key allows. Made by ``yield from pattern.read(...)``."""

    pattern: Any
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """A change that depends on what is stored."""


@dataclass(frozen=True, slots=True)
class Add(Change):
    """Add to a number. A field that isn't stored begins at its default, and at 0 where that is None."""

    amount: Any


@dataclass(frozen=True, slots=True)
class Append(Change):
    """Append to a list. One that isn't stored begins as its default, and empty where that is None."""

    items: Iterable[Any]


@dataclass(frozen=True, slots=True)
class SetAdd(Change):
    """Put elements into a set."""

    elements: Iterable[Any]


@dataclass(frozen=True, slots=True)
class SetRemove(Change):
    """Take elements out of a set."""

    elements: Iterable[Any]


@dataclass(frozen=True, slots=True)
class IfNotExists(Change):
    """Set the field only where nothing is stored: ``.set(created_at=IfNotExists(now())).or_create()``."""

    value: Any


@dataclass(frozen=True, slots=True)
class Within(Change):
    """Changes of parts of a field, each with the steps to it. Made by ``Update.at``."""

    changes: tuple[tuple[Steps, Any], ...]


@dataclass(frozen=True, slots=True)
class Remove(Change):
    """Remove the field: it is None then, or its default."""


Action: TypeAlias = Put[Entity] | Create[Entity] | Update[Entity] | Delete[Entity] | Check[Entity] | Batch
Writes: TypeAlias = Generator[Action | Ask, Any, R]
"""What a write pattern returns: ``Writes`` yields actions, ``Writes[Article]`` returns an article besides.

``yield`` gives what the action leaves in the store, or None where that can't be known before the write is carried out;
``yield from`` gives the same with its type, and raises RequestError there. A Put and a Create are always known. An
Update is known where a version or ``only_if`` says what it meets, and where it is the write's only action and its last
step: then its request goes out at once, and what the store answers is given. A Delete is known in the latter case; so
is what ``.previous()`` asks for.
"""


U = TypeVar("U")

Steps: TypeAlias = tuple[str | int, ...]


class _Recorder:
    """Stands for an item, and records the attributes, keys and positions that are asked of it."""

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
                f"{shown(key)} isn't a key of a map or an index of a list", place="at", hint="pass a string, or 0, 1, …"
            )
        return _Recorder((*self._steps, key))


def steps_of(path: Callable[[Any], Any]) -> Steps:
    """The fields, keys and positions that a path goes by. Raises ArgumentError."""
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
    """A place within an item, where an update changes something."""

    def __init__(self, make: Callable[[Any], U], changes: tuple[Callable[[Any], Any], ...]) -> None:
        self._make = make
        self._add, self._append, self._remove = changes

    def set(self, value: T) -> U:
        """The update with this value there."""
        return self._make(value)

    def add(self, amount: T) -> U:
        """The update that adds to the number there; in a map, a key that isn't there begins at 0."""
        return self._make(self._add(amount))

    def append(self: At[U, list[V]], items: Iterable[V]) -> U:
        """The update that appends to the list there; in a map, a key that isn't there begins empty."""
        return self._make(self._append(items))

    def remove(self) -> U:
        """The update that takes it away: a field that has a default, a key of a map, an element of a list."""
        return self._make(self._remove(None))
