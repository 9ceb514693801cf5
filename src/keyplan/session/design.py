"""The base class of designs, with the methods of an opened design.

An opened design combines a compiled design (``keyplan.model``) with a store (``stores``); ``keyplan.client`` runs the
design's calls.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast, overload

from keyplan.client.call_records import RunningCall
from keyplan.client.conversations import Conversation, converse, converse_async
from keyplan.client.item_iterators import Part, stream, stream_async
from keyplan.errors import DesignError, RequestError, StoreError, shown
from keyplan.model.declared.actions import Action, Delete, Previous, Put, Update
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.table import Table
from keyplan.model.deferral import is_deferred
from keyplan.model.source_code import local_names

if TYPE_CHECKING:
    from keyplan.client.crud import Verbs
    from keyplan.model.compiled.compiled_design import CompiledDesign
    from keyplan.session.multi_design import Joining
    from keyplan.session.stores import Store


E = TypeVar("E", bound=Entity)
T = TypeVar("T")


class Design:
    """A single-table design: its table, and its access patterns as typed methods.

    ::

        class Cms(Design):
            table = Table("cms", indexes=[GSI1])

            @read("AP1")
            def article(self, article_id: str) -> Article | None: ...

    The class is compiled when it is defined: a pattern that no key supports, colliding keys and all other errors are
    reported together in a DesignError. ``Cms.open("cms.db")`` opens the design on a store; the opened design has its
    patterns as methods. An opened design also has CRUD methods (get, put, create, update, delete, batch, transact), and
    ``aio`` has the same methods as coroutines.

    The class argument ``ignore`` suppresses findings of ``keyplan check``. It maps a rule's code (``"KP303"``), or a
    code and a place (``"KP303 article_history"``), to the reason for ignoring these findings.
    """

    table: ClassVar[Table]
    compiled: ClassVar[CompiledDesign]
    uncompiled: ClassVar[Mapping[str, Any]]
    """For a class that is only planned: the names local to where its patterns were declared."""

    def __init_subclass__(cls, *, ignore: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Only modules that declare a design import the compiler.
        from keyplan.model.compiled.compiled_design import compile_design  # noqa: PLC0415
        from keyplan.model.declared.patterns import Pattern  # noqa: PLC0415

        # In a class that is created without a class statement, patterns are declared in another scope
        namespace = local_names(var.function for var in vars(cls).values() if isinstance(var, Pattern))
        if is_deferred():
            cls.uncompiled = namespace
        else:
            cls.compiled = compile_design(cls, namespace, ignore)

    def __init__(self, store: Store, *, secret: bytes | str | None = None) -> None:
        # Only programs that open a design import the code that executes plans.
        from keyplan.client.conversations import Target  # noqa: PLC0415
        from keyplan.client.crud import Verbs  # noqa: PLC0415
        from keyplan.client.results import Answer  # noqa: PLC0415
        from keyplan.client.write_compiler import WriteCompiler  # noqa: PLC0415

        self._store = store
        key = secret.encode() if isinstance(secret, str) else secret or b""
        target = Target(store.table_name, self.compiled.table)
        self._answers = {name: Answer(read, target, key) for name, read in self.compiled.reads.items()}
        self._verbs = Verbs(WriteCompiler(self.compiled.entities, target), target, self._answers)
        self.aio = AsyncVerbs(self._verbs, self._run_async)

    @classmethod
    def open(cls, url: str | Path | Store, *, secret: bytes | str | None = None, create: bool | None = None) -> Self:
        """Open the design on a store.

        ``url`` is a file path or ``":memory:"`` (the embedded store), ``dynamodb://REGION/TABLE`` (Amazon DynamoDB),
        ``dynamodb+http://HOST:PORT/TABLE`` or ``dynamodb+https://…`` (another endpoint of the DynamoDB API), or another
        open design's store (``shop.store``), which is closed when that design is closed. ``create``: whether to create
        a missing table; the default is True for stores on this machine (embedded, or an endpoint at localhost) and
        False for other stores. ``secret`` signs cursors. Raises StoreError.
        """
        from keyplan.session.stores import open_store  # noqa: PLC0415 - imported when a store is opened

        store = open_store(_address(url, secret, cls.__name__), cls._compiled(), create=create)
        return cls(store, secret=secret)

    @classmethod
    async def aopen(
        cls, url: str | Path | Store, *, secret: bytes | str | None = None, create: bool | None = None
    ) -> Self:
        """Open the design from asynchronous code: like ``open``, without blocking the event loop.

        ``async with await Cms.aopen("dynamodb://eu-west-1/cms") as cms: ...``. Raises StoreError.
        """
        from keyplan.session.stores import aopen_store  # noqa: PLC0415 - imported when a store is opened

        store = await aopen_store(_address(url, secret, cls.__name__), cls._compiled(), create=create)
        return cls(store, secret=secret)

    @classmethod
    def _compiled(cls) -> CompiledDesign:
        if not hasattr(cls, "compiled"):
            raise DesignError(
                "Design itself can't be opened", hint="define a subclass with a table and access patterns"
            )
        return cls.compiled

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._store.aclose()

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    @property
    def store(self) -> Store:
        """The store on which the design is opened."""
        return self._store

    def __repr__(self) -> str:
        return f"<{type(self).__name__} on {self._store.url}>"

    # CRUD methods

    def get(self, entity: type[E], /, *, consistent: bool = False, **key: Any) -> E | None:
        """One item by its key fields, or None if it doesn't exist, as in ``cms.get(Article, article_id="1")``."""
        return self._run("get", self._verbs.get(entity, key, consistent=consistent))

    def get_many(
        self, entity: type[E], keys: Iterable[Mapping[str, Any]], *, consistent: bool = False
    ) -> list[E | None]:
        """Several items by their key fields, in the order of ``keys``; None for each missing item."""
        return self._run("get_many", self._verbs.get_many(entity, keys, consistent=consistent))

    @overload
    def put(self, item: E) -> E: ...
    @overload
    def put(self, item: Previous[E]) -> E | None: ...
    def put(self, item: E | Previous[E]) -> E | None:
        """Write the whole item, replacing an existing one. If the entity has a version field, the put replaces only the
        version that was read. ``put(Put(item).previous())`` returns the previous item.
        """
        return self._run("put", self._verbs.put(item))

    def create(self, item: E) -> E:
        """Write an item that must not exist. Raises ItemExists, UniqueValueTaken."""
        return self._run("create", self._verbs.create(item))

    @overload
    def update(self, item: E | type[E] | Update[E], /, **changes: Any) -> E: ...
    @overload
    def update(self, item: Previous[E], /) -> E | None: ...
    def update(self, item: E | type[E] | Update[E] | Previous[E], /, **changes: Any) -> E | None:
        """Change fields of an item and return the updated item, in one request, for example, ``cms.update(article,
        title="New")``, ``cms.update(Counter, name="a", value=Add(1))`` by class and key fields, or an ``Update(...)``
        with conditions; ``Update(...).previous()`` returns the previous item. Raises ConditionFailed, UpdateRejected.
        """
        return cast("E | None", self._run("update", self._verbs.update(item, changes)))

    def delete(self, item: E | type[E], /, **key: Any) -> E | None:
        """Delete an item, by instance or by class and key fields, and return it. Returns None if the item doesn't
        exist, or if the entity has unique claims, because a transaction returns no items.
        """
        return self._run("delete", self._verbs.delete(Delete(item, **key)))

    def batch(self, actions: Iterable[Put[Entity] | Delete[Entity]]) -> None:
        """Execute puts and deletes without conditions, 25 per request. All are executed, but the batch isn't atomic."""
        self._run("batch", self._verbs.batch(actions))

    def transact(self, actions: Iterable[Action]) -> None:
        """Execute up to 100 actions in one transaction. Raises WriteFailed and its subclasses."""
        self._run("transact", self._verbs.transact(actions))

    # Calls of patterns by name, for servers and command-line programs

    def call(self, pattern: str, arguments: Mapping[str, Any]) -> Any:
        """Call a pattern by name, with arguments as strings or JSON, which are converted to the declared types.

        Raises UnknownPattern, ArgumentError, and the pattern's errors; a value error (ValueError, ArithmeticError) in a
        write's body becomes an ArgumentError, with the original error as its cause.
        """
        return self._run(pattern, self.conversation(pattern, arguments))

    async def call_async(self, pattern: str, arguments: Mapping[str, Any]) -> Any:
        """Like ``call``, from asynchronous code. Raises the same errors."""
        return await self._run_async(pattern, self.conversation(pattern, arguments))

    def conversation(self, pattern: str, arguments: Mapping[str, Any]) -> Conversation[Any]:
        """The conversation that runs the named pattern. No request is sent until the conversation runs."""
        from keyplan.client.write_attempts import by_name  # noqa: PLC0415 - imported when a design is opened

        result = self.compiled.pattern(pattern)
        bound = result.signature.bind((), arguments, strict=False)
        if pattern in self._answers:
            return self._answers[pattern].converse(bound)
        write = self.compiled.writes[pattern]
        return by_name(self._verbs.write(self, write, bound), write.function, write.place)

    # The following methods implement keyplan.model.declared.patterns.Runner

    def run_read(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Run a read by its name."""
        answer = self._answers[name]
        return self._run(name, answer.converse(answer.pattern.signature.bind(args, kwargs)))

    async def run_read_async(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Run a read by its name, from asynchronous code."""
        answer = self._answers[name]
        return await self._run_async(name, answer.converse(answer.pattern.signature.bind(args, kwargs)))

    def stream(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[Any]:
        """The items of a read, fetched in parts."""
        answer = self._answers[name]
        bound = answer.pattern.signature.bind(args, kwargs)
        return self._stream(name, partial(answer.part, bound))

    def _stream(self, name: str, part: Part) -> Iterator[Any]:
        store = self._store
        if not store.watched:
            yield from stream(part, lambda element: converse(element, store.transport), store.backend.ahead)
            return
        running = RunningCall(self._place(name))

        def run(conversation: Conversation[Any]) -> Any:
            with running.counting():
                return converse(conversation, store.transport)

        with store.telling(running):
            yield from stream(part, run, store.backend.ahead)

    def stream_async(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> AsyncIterator[Any]:
        """The items of a read, fetched in parts, from asynchronous code."""
        answer = self._answers[name]
        bound = answer.pattern.signature.bind(args, kwargs)
        return self._stream_async(name, partial(answer.part, bound))

    async def _stream_async(self, name: str, part: Part) -> AsyncIterator[Any]:
        store = self._store
        running = RunningCall(self._place(name)) if store.watched else None

        async def run(conversation: Conversation[Any]) -> Any:
            with nullcontext() if running is None else running.counting():
                return await converse_async(conversation, store.async_transport)

        with nullcontext() if running is None else store.telling(running):
            async with aclosing(stream_async(part, run, ahead=store.backend.ahead is not None)) as items:
                async for item in items:
                    yield item

    def run_write(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Run a write by its name."""
        pattern = self.compiled.writes[name]
        return self._run(name, self._verbs.write(self, pattern, pattern.signature.bind(args, kwargs)))

    async def run_write_async(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Run a write by its name, from asynchronous code."""
        pattern = self.compiled.writes[name]
        return await self._run_async(name, self._verbs.write(self, pattern, pattern.signature.bind(args, kwargs)))

    def run_joined(self, name: str, bound: Mapping[str, Any]) -> Joining:
        """A write as part of a multi-design transaction."""
        from keyplan.session.multi_design import Joining  # noqa: PLC0415 - only for multi-design transactions

        pattern = self.compiled.writes[name]
        make: Callable[[], Any] = partial(pattern.function, self, **bound)
        return Joining(self._verbs.compiler, self._answers, make, pattern.place, pattern.attempts)

    def _place(self, name: str) -> str:
        return f"{type(self).__name__}.{name}"

    def _run(self, name: str, conversation: Conversation[T]) -> T:
        store = self._store
        if not store.watched:
            return converse(conversation, store.transport)
        with store.counting(self._place(name)):
            return converse(conversation, store.transport)

    async def _run_async(self, name: str, conversation: Conversation[T]) -> T:
        store = self._store
        if not store.watched:
            return await converse_async(conversation, store.async_transport)
        with store.counting(self._place(name)):
            return await converse_async(conversation, store.async_transport)


def _address(url: Any, secret: object, design: str) -> str | Store:
    """The path or URL of a store as a string, or another design's store. Raises StoreError, RequestError."""
    from keyplan.session.stores import Store  # noqa: PLC0415 - imported when a store is opened

    if isinstance(url, Store):
        _check_secret(secret)
        return url
    if not isinstance(url, str | Path):
        raise StoreError(f"the store must be a path or a URL, not {shown(url)}", place=f"{design}.open")
    _check_secret(secret)
    return str(url)


def _check_secret(secret: object) -> None:
    if secret is not None and not isinstance(secret, str | bytes):
        raise RequestError(f"the secret must be str or bytes, not {type(secret).__name__}", place="open")
    if isinstance(secret, str) and any("\ud800" <= text <= "\udfff" for text in secret):
        raise RequestError("the secret isn't valid Unicode", place="open")


class AsyncVerbs:
    """The CRUD methods of an opened design as coroutines, such as ``await cms.aio.get(Article, article_id="1")``."""

    def __init__(self, verbs: Verbs, run: Callable[[str, Conversation[Any]], Awaitable[Any]]) -> None:
        self._verbs = verbs
        self._run_any = run

    async def get(self, entity: type[E], /, *, consistent: bool = False, **key: Any) -> E | None:
        """See Design.get."""
        return await self._run("get", self._verbs.get(entity, key, consistent=consistent))

    async def get_many(
        self, entity: type[E], keys: Iterable[Mapping[str, Any]], *, consistent: bool = False
    ) -> list[E | None]:
        """See Design.get_many."""
        return await self._run("get_many", self._verbs.get_many(entity, keys, consistent=consistent))

    @overload
    async def put(self, item: E) -> E: ...
    @overload
    async def put(self, item: Previous[E]) -> E | None: ...
    async def put(self, item: E | Previous[E]) -> E | None:
        """See Design.put."""
        return await self._run("put", self._verbs.put(item))

    async def create(self, item: E) -> E:
        """See Design.create."""
        return await self._run("create", self._verbs.create(item))

    @overload
    async def update(self, item: E | type[E] | Update[E], /, **changes: Any) -> E: ...
    @overload
    async def update(self, item: Previous[E], /) -> E | None: ...
    async def update(self, item: E | type[E] | Update[E] | Previous[E], /, **changes: Any) -> E | None:
        """See Design.update."""
        return cast("E | None", await self._run("update", self._verbs.update(item, changes)))

    async def delete(self, item: E | type[E], /, **key: Any) -> E | None:
        """See Design.delete."""
        return await self._run("delete", self._verbs.delete(Delete(item, **key)))

    async def batch(self, actions: Iterable[Put[Entity] | Delete[Entity]]) -> None:
        """See Design.batch."""
        await self._run("batch", self._verbs.batch(actions))

    async def transact(self, actions: Iterable[Action]) -> None:
        """See Design.transact."""
        await self._run("transact", self._verbs.transact(actions))

    async def _run(self, name: str, conversation: Conversation[T]) -> T:
        return cast("T", await self._run_any(name, conversation))
