# mypy: disable-error-code="empty-body"
"""String annotations can name local classes of the function that declares the access pattern."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from keyplan import Design, Entity, Key, Table, read
from keyplan.errors import DesignError

TABLE = Table("notes")


class Note(Entity):
    note_id: str

    primary = Key("NOTE#{note_id}", "HEAD")


Wanted = Note
"""What a module's patterns name, whatever is called so where the class is made."""


class Numbered(Design):
    """A base class that adds an attribute to its subclasses before they are compiled, and has unrelated local names."""

    table = TABLE

    def __init_subclass__(cls, **options: Any) -> None:
        Wanted = Local = int  # noqa: F841
        super().__init_subclass__(**options)


def entity_of(design: type[Design]) -> str:
    return next(iter(design.compiled.entities.values())).name


def local_entity() -> type[Entity]:
    class Local(Entity):
        local_id: str

        primary = Key("LOCAL#{local_id}", "HEAD")

    return Local


@pytest.mark.parametrize("base", [Design, Numbered])
def test_local_names_of_the_declaring_function_are_resolved(base: type[Design]) -> None:
    Local = local_entity()

    class Locals(base):  # type: ignore[misc, valid-type]
        table = TABLE

        @read("L1")
        def local(self, local_id: str) -> Local: ...  # type: ignore[valid-type]

    assert entity_of(Locals) == "Local"


def test_local_classes_inside_a_local_named_tuple_are_resolved() -> None:
    Local = local_entity()

    class Whole(NamedTuple):
        local: Local  # type: ignore[valid-type]

    class Locals(Design):
        table = TABLE

        @read("L1")
        def local(self, local_id: str) -> Whole | None: ...

    assert [entity.__name__ for entity in Locals.compiled.entities] == ["Local"]


def made(function: Callable[..., Any]) -> type[Design]:
    Wanted = Local = int  # noqa: F841 - of this function, and not of the one that declares
    return type("Made", (Design,), {"table": TABLE, "asked": read("M1")(function)})


def test_local_names_of_class_factories_are_not_resolved() -> None:
    Local = local_entity()

    def asked(self: Any, local_id: str) -> Local: ...  # type: ignore[valid-type]

    def wanted(self: Any, note_id: str) -> Wanted: ...

    @functools.wraps(asked)
    def wrapped(*args: Any, **kwargs: Any) -> Any: ...

    assert entity_of(made(asked)) == "Local"
    assert entity_of(made(wrapped)) == "Local"
    assert entity_of(made(wanted)) == "Note"
    assert entity_of(made(lone)) == "Note"


def lone(self: Any, note_id: str) -> Wanted: ...


def test_names_in_recursive_functions_are_resolved_in_the_innermost_frame() -> None:
    def declared(depth: int) -> list[type[Design]]:
        Local = local_entity() if depth else Note
        deeper = declared(depth - 1) if depth else []
        if depth:

            class Deep(Design):
                table = TABLE

                @read("D1")
                def asked(self, local_id: str) -> Local: ...  # type: ignore[valid-type]
        else:

            class Deep(Design):  # type: ignore[no-redef]
                table = TABLE

                @read("D1")
                def asked(self, note_id: str) -> Local: ...  # type: ignore[valid-type]

        return [Deep, *deeper]

    assert [entity_of(design) for design in declared(1)] == ["Local", "Note"]


def test_an_unknown_name_in_an_annotation_is_rejected_with_its_place() -> None:
    class Answer(NamedTuple):
        note: Note

    def asked(self: Any, note_id: str) -> Nowhere: ...  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(DesignError, match="name 'Nowhere' is not defined in an annotation"):
        made(asked)
