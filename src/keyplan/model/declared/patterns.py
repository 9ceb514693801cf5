"""``@read`` and ``@write``: a method's signature becomes an access pattern of its design.

Call a pattern like a method: ``cms.article("1")``. In asynchronous code, use ``await cms.article.aio("1")``; within a
write, use ``yield from self.article.read("1")``. A pattern declared with ``async def`` is awaitable.
``keyplan.model.compiled`` compiles patterns; the opened design runs them.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast, overload

from keyplan.model.declared.actions import Action, Ask
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.keys import Key
from keyplan.model.declared.parameters import Through
from keyplan.model.declared.pattern_load import Load

if TYPE_CHECKING:
    from typing import Self

__all__ = [
    "Bound",
    "BoundRead",
    "BoundStream",
    "BoundWrite",
    "Example",
    "Options",
    "Pattern",
    "ReadMethod",
    "Runner",
    "WriteMethod",
    "read",
    "write",
]

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
R = TypeVar("R")
T = TypeVar("T")


class Runner(Protocol):
    """The interface of an opened design for its patterns."""

    def run_read(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The result of a read."""
        ...

    async def run_read_async(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The result of a read, awaited."""
        ...

    def stream(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[Any]:
        """The items of a read, fetched page by page."""
        ...

    def stream_async(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> AsyncIterator[Any]:
        """The items of a read, fetched page by page, from asynchronous code."""
        ...

    def run_write(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The result of a write."""
        ...

    async def run_write_async(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The result of a write, awaited."""
        ...


class Pattern:
    """The base of reads and writes: the method, its name, and the decorator's options."""

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        self.function = function
        self.options = options
        self.name = function.__name__
        self.owner: type[Any] | None = None
        """The class that declares it, or the design through which it was accessed."""
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.owner = owner
        self.name = name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.options.id} {self.name}>"

    def _of(self, design: type[Any]) -> Self:
        """The pattern as that of a design, which can inherit it from a class of patterns."""
        if design is self.owner or not hasattr(design, "compiled"):
            return self
        made = copy(self)
        made.owner = design
        return made


class Bound:
    """A pattern of an opened design."""

    __slots__ = ("_name", "_runner")

    def __init__(self, runner: Runner, name: str) -> None:
        self._runner = runner
        self._name = name

    @property
    def name(self) -> str:
        """The pattern's name."""
        return self._name

    @property
    def runner(self) -> Runner:
        """The opened design."""
        return self._runner

    def __repr__(self) -> str:
        return f"<pattern {self._name} of {self._runner!r}>"


class BoundRead(Bound, Generic[P, R]):
    """A read of an opened design, which you call like a method."""

    __slots__ = ()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The result."""
        return cast("R", self._runner.run_read(self._name, args, kwargs))

    async def aio(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The result, awaited."""
        return cast("R", await self._runner.run_read_async(self._name, args, kwargs))

    def read(self, *args: P.args, **kwargs: P.kwargs) -> Generator[Ask, Any, R]:
        """The result within a write: ``article = yield from self.article.read(article_id)``."""
        answer = yield Ask(self._name, {"args": args, "kwargs": kwargs})
        return cast("R", answer)


class BoundStream(Bound, Generic[P, T]):
    """A read that returns an iterator. Call the read, and take as many items as you need."""

    __slots__ = ()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        """The items, fetched page by page."""
        return self._runner.stream(self._name, args, kwargs)

    def aio(self, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        """The items, from asynchronous code: ``async for item in cms.all_tags.aio()``."""
        return self._runner.stream_async(self._name, args, kwargs)

    def read(self, *args: P.args, **kwargs: P.kwargs) -> Generator[Ask, Any, list[T]]:
        """All items, read within a write."""
        answer = yield Ask(self._name, {"args": args, "kwargs": kwargs})
        return cast("list[T]", answer)


class BoundWrite(Bound, Generic[P, R]):
    """A write of an opened design, which you call like a method."""

    __slots__ = ()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Execute the write. If a condition is false, nothing is written, and WriteFailed is raised."""
        return cast("R", self._runner.run_write(self._name, args, kwargs))

    async def aio(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Execute the write from asynchronous code."""
        return cast("R", await self._runner.run_write_async(self._name, args, kwargs))

    def in_transaction(self, *args: P.args, **kwargs: P.kwargs) -> Joined[R]:
        """Execute the write in another write's transaction, ``yield from self.add_line.in_transaction(order)``, or with
        writes of other designs: ``transact(shop.place.in_transaction(order), ledger.book.in_transaction(entry))``.
        Raises ArgumentError.
        """
        runner: Any = self._runner
        return Joined(runner, self._name, runner.compiled.writes[self._name].signature.bind(args, kwargs))


class Joined(Generic[R_co]):
    """A write with its arguments, as part of a transaction. Created by ``in_transaction``."""

    __slots__ = ("arguments", "name", "runner")

    def __init__(self, runner: Any, name: str, arguments: Mapping[str, Any]) -> None:
        self.runner = runner
        self.name = name
        self.arguments = arguments

    def __iter__(self) -> Generator[Action | Ask, Any, R_co]:
        """Its actions, within another write. Returns its result."""
        pattern = self.runner.compiled.writes[self.name]
        return (yield from pattern.function(self.runner, **self.arguments))  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"<{self.runner!r}: {self.name}({given})>"


class BoundAsyncRead(Bound, Generic[P, R]):
    """A read declared with ``async def``. Await the call."""

    __slots__ = ()

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The result."""
        return cast("R", await self._runner.run_read_async(self._name, args, kwargs))

    def read(self, *args: P.args, **kwargs: P.kwargs) -> Generator[Ask, Any, R]:
        """The result within a write."""
        answer = yield Ask(self._name, {"args": args, "kwargs": kwargs})
        return cast("R", answer)


class BoundAsyncStream(Bound, Generic[P, T]):
    """A read that returns an AsyncIterator. Iterate with ``async for``."""

    __slots__ = ()

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        """The items, fetched page by page."""
        return self._runner.stream_async(self._name, args, kwargs)


BoundT_co = TypeVar("BoundT_co", bound=Bound, covariant=True)


class ReadMethod(Pattern, Generic[BoundT_co]):
    """A read in a design's class."""

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        super().__init__(function, options)
        self._is_awaited = inspect.iscoroutinefunction(function)
        self._bound: type[Any] = BoundAsyncRead if self._is_awaited else BoundRead

    def answers_in_parts(self, *, awaited: bool) -> None:
        """Mark the result as an iterator, or an async iterator if ``awaited``. Called by the design's compiler."""
        if not self._is_awaited:
            self._bound = BoundAsyncStream if awaited else BoundStream

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any]) -> BoundT_co: ...
    def __get__(self, instance: object | None, owner: type[Any]) -> Self | BoundT_co:
        if instance is None:
            return self._of(owner)
        return cast("BoundT_co", self._bound(instance, self.name))


class WriteMethod(Pattern, Generic[P, R]):
    """A write in a design's class. ``attempts``: the maximum number of attempts if a condition is false."""

    def __init__(self, function: Callable[..., Any], options: Options, attempts: int) -> None:
        super().__init__(function, options)
        self.attempts = attempts

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any]) -> BoundWrite[P, R]: ...
    def __get__(self, instance: object | None, owner: type[Any]) -> Self | BoundWrite[P, R]:
        if instance is None:
            return self._of(owner)
        return BoundWrite(cast("Runner", instance), self.name)


class ReadDecorator:
    """The result of ``@read(...)``: it turns a method into a read, and keeps its parameter and result types for type
    checkers.
    """

    def __init__(self, options: Options) -> None:
        self._options = options

    # The overloads overlap intentionally: a type checker uses the first that matches, and the last one always matches.
    @overload
    def __call__(  # type: ignore[overload-overlap] # pyright: ignore[reportOverlappingOverload]
        self, function: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]], /
    ) -> ReadMethod[BoundAsyncRead[P, R]]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, function: Callable[Concatenate[Any, P], Iterator[T]], /
    ) -> ReadMethod[BoundStream[P, T]]: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, function: Callable[Concatenate[Any, P], AsyncIterator[T]], /
    ) -> ReadMethod[BoundAsyncStream[P, T]]: ...
    @overload
    def __call__(self, function: Callable[Concatenate[Any, P], R], /) -> ReadMethod[BoundRead[P, R]]: ...
    def __call__(self, function: Callable[..., Any], /) -> ReadMethod[Any]:
        return ReadMethod(function, self._options)


def read(
    id: str,  # noqa: A002 - an access pattern's id is called id
    *,
    newest_first: bool | None = None,
    order_by: str | None = None,
    key: Key | None = None,
    consistent: bool = False,
    where: Mapping[str, Any] | str | None = None,
    through: type[Entity] | Through | Sequence[type[Entity] | Through] | None = None,
    scan: bool = False,
    scan_index: Index | None = None,
    segments: int = 1,
    entity: type[Entity] | Sequence[type[Entity]] = (),
    total: str | None = None,
    complete: bool = False,
    per_second: float | None = None,
    items: float | None = None,
    item_bytes: int | None = None,
) -> ReadDecorator:
    """Declare an access pattern that reads. The method's parameters are the known fields, and its return type is the
    result type.

    ``id`` is the pattern's id in the list of access patterns (``"AP1"``). ``newest_first=True`` reads in descending
    order of the first sort key field that isn't fixed; ``order_by="rating"`` (``"-rating"``: descending) selects a key
    by its order, and ``key=Ticket.by_project`` selects that key. ``consistent=True`` uses strongly consistent reads at
    twice the price; global secondary indexes don't support them. ``where`` restricts fields to constants (by a key if
    possible, otherwise by a filter), or is a filter in DynamoDB's syntax with field names and ``:parameters``.
    ``through`` is a junction, or several junctions whose union is the result. ``scan=True`` allows a scan.
    ``scan_index=OPEN_ORDERS`` reads a whole index; ``segments=8`` reads a table or an index in 8 parallel segments.
    ``entity=Order`` is the entity that an ``int`` counts or a ``bool`` looks for; with ``total="amount"``, the ``int``
    is the sum of that field. ``complete=True`` reads unprojected attributes with BatchGetItem from the table.

    ``per_second`` (average calls), ``items`` (matched by the key, before limit and filter) and ``item_bytes`` are the
    expected load, used only by ``keyplan check`` and ``keyplan cost``.

    If no key supports the pattern, the definition of the design's class raises DesignError. Example::

        @read("AP5", newest_first=True)
        def articles_by_author(self, author_id: str, limit: int = 10) -> list[Article]: ...
    """
    bare: Any = id
    if callable(bare):  # @read without an id: reported as an error of the design
        result: Any = ReadMethod(bare, Options(""))
        return result  # type: ignore[no-any-return] # unreachable for type checkers
    load = Load(per_second=per_second, items=items, item_bytes=item_bytes)
    given: Any = entity  # an invalid value is reported as an error of the design
    told_of = (given,) if isinstance(given, type) or not isinstance(given, Iterable) else tuple(given)
    return ReadDecorator(
        Options(
            id,
            newest_first=newest_first,
            order_by=order_by,
            key=key,
            consistent=consistent,
            where=where,
            through=through,
            scan=scan,
            scan_index=scan_index,
            segments=segments,
            entity=told_of,
            total=total,
            complete=complete,
            load=load,
        )
    )


def write(
    id: str,  # noqa: A002 - an access pattern's id is called id
    *,
    attempts: int = 1,
    per_second: float | None = None,
    items: float | None = None,
    item_bytes: int | None = None,
    in_transaction: bool = False,
    example: Example | Sequence[Example] = (),
) -> Callable[[Callable[Concatenate[Any, P], Generator[Action | Ask, Any, R]]], WriteMethod[P, R]]:
    """Declare an access pattern that writes, as a generator of actions. One action is sent as one request,
    several actions are sent as one transaction; the generator's return value is the result.

    If a condition is false, ``attempts`` above 1 reruns the generator after a short random pause. This is for writes
    that read first (``yield from self.article.read(...)``) and require that no other write interferes. ``per_second``
    (average calls), ``items`` (written by one call) and ``item_bytes`` are the expected load for ``keyplan check`` and
    ``keyplan cost``. With ``in_transaction``, these commands assume that ``transact`` executes the write together with
    writes of other designs, so that its actions are always part of a transaction.

    ``example`` is a typical call, or one for each branch of the write, for commands that analyze writes: see
    :class:`Example`. The default example is generated. Raises DesignError for an invalid argument. Example::

        @write("AP8", attempts=3)
        def publish(self, article_id: str) -> Writes[Article]:
            article = yield from self.article.read(article_id)
            return (yield from Update(article, status="published").only_if(status="draft"))
    """
    bare: Any = id
    if callable(bare):  # @write without an id: reported as an error of the design
        result: Any = WriteMethod(bare, Options(""), attempts)
        return result  # type: ignore[no-any-return] # unreachable for type checkers
    load = Load(per_second=per_second, items=items, item_bytes=item_bytes, in_transaction=in_transaction or None)
    options = Options(id, load=load, examples=(example,) if isinstance(example, Example) else tuple(example))

    def decorate(function: Callable[Concatenate[Any, P], Generator[Action | Ask, Any, R]]) -> WriteMethod[P, R]:
        return WriteMethod(function, options, attempts)

    return decorate


class Example:
    """A typical call of a write pattern: ``@write("W4", example=Example(quantity=2).found(Order, status="paid"))``.

    The keyword arguments are arguments of the write, by parameter name, as values or as JSON. The analysis generates
    other arguments. :meth:`found` gives field values of the items that exist before the call, and :meth:`missing` names
    reads that find nothing. ``keyplan check``, ``cost``, ``export iam``, ``verify`` and ``plan`` run the write's body
    with the example, without a store. The example has no effect on calls of the write.

    For an unknown argument, field or read, the class definition of the design raises DesignError.
    """

    def __init__(self, **arguments: Any) -> None:
        self.arguments: Mapping[str, Any] = arguments
        self.fields: Mapping[type[Entity], Mapping[str, Any]] = {}
        self.reads_missing: frozenset[str] = frozenset()

    def found(self, entity: type[Entity], /, **fields: Any) -> Self:
        """The example in which items of the entity that the write finds or changes have these field values."""
        return self._with(fields={**self.fields, entity: {**self.fields.get(entity, {}), **fields}})

    def missing(self, *reads: str) -> Self:
        """The example in which these reads, by pattern name, find nothing."""
        return self._with(reads_missing=self.reads_missing.union(reads))

    def _with(self, **changes: Any) -> Self:
        result = type(self)(**self.arguments)
        vars(result).update({**vars(self), **changes})
        return result

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        found = (
            f".found({', '.join([entity.__name__, *(f'{name}={value!r}' for name, value in fields.items())])})"
            for entity, fields in self.fields.items()
        )
        missing = f".missing({', '.join(map(repr, sorted(self.reads_missing)))})" if self.reads_missing else ""
        return f"Example({given}){''.join(found)}{missing}"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a pattern's decorator."""

    id: str
    newest_first: bool | None = None
    order_by: str | None = None
    key: Key | None = None
    consistent: bool = False
    where: Mapping[str, Any] | str | None = None
    through: type[Entity] | Through | Sequence[type[Entity] | Through] | None = None
    scan: bool = False
    scan_index: Index | None = None
    segments: int = 1
    entity: tuple[type[Entity], ...] = ()
    total: str | None = None
    complete: bool = False
    load: Load = field(default_factory=Load)
    examples: tuple[Example, ...] = ()
