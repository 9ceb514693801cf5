# mypy: disable-error-code="empty-body"
"""Keys in other programs' formats: unescaped, case-folded or unpadded, with discriminators that identify the entity."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from keyplan import (
    Check,
    Create,
    Delete,
    Design,
    Discriminator,
    Each,
    Entity,
    Index,
    Key,
    KeyStyle,
    Prefix,
    Put,
    Range,
    Table,
    Unique,
    Update,
    read,
)
from keyplan.errors import ConditionFailed, DesignError, ItemExists, KeyFieldError, RequestError
from keyplan.testing import verify

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class Task(Entity):
    task: str
    project: str
    employee: str
    points: int = 0

    kind = Discriminator("kind", "task")
    primary = Key("$app#task_{task}", "$task_1#project_{project}")
    by_project = Key("$app#project_{project}", "$task_1#employee_{employee}#points_{points:d}", index=GSI1)


class Person(Entity):
    employee: str
    email: str = "a@b"
    since: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    kind = Discriminator("kind", "person")
    primary = Key("$app#employee_{employee}", "$person_1")
    by_mail = Key("mail:{email}/{employee}", "{since:ms}", index=GSI1, style=KeyStyle(raw=True))


class App(Design):
    table = Table("app", indexes=[GSI1], key_style=KeyStyle(raw=True, case="lower"))

    @read("A1")
    def task(self, task: str, project: str) -> Task | None: ...

    @read("A2")
    def tasks_of(self, project: str, employee: Prefix) -> list[Task]: ...

    @read("A3")
    def worth(self, project: str, employee: str, points: int) -> list[Task]: ...

    @read("A4")
    def several(self, task: Each[str], project: str) -> list[Task]: ...

    @read("A5")
    def person_by_mail(self, email: str, employee: str) -> list[Person]: ...


@pytest.fixture
def app() -> Iterator[App]:
    with App.open(":memory:") as opened:
        yield opened


def test_keys_can_have_the_format_of_another_program(app: App) -> None:
    app.put(Task(task="Task#1", project="Web Site", employee="Ada", points=10))
    (item,) = app.store.transport.call("Scan", {"TableName": "app"})["Items"]
    keys = {name: value["S"] for name, value in item.items() if name in {"pk", "sk", "gsi1pk", "gsi1sk", "kind"}}
    assert keys == {
        "pk": "$app#task_task#1",
        "sk": "$task_1#project_web site",
        "gsi1pk": "$app#project_web site",
        "gsi1sk": "$task_1#employee_ada#points_10",
        "kind": "task",
    }
    task = app.task("TASK#1", "WEB SITE")
    assert task is not None
    assert (task.task, task.project) == ("Task#1", "Web Site")
    assert app.worth("web site", "ADA", 10) == app.tasks_of("Web site", "AD") == [task]
    assert app.worth("web site", "ada", 1) == []
    assert app.several(["task#1", "TASK#1"], "web site") == [task]
    with pytest.raises(ItemExists):
        app.create(Task(task="task#1", project="web site", employee="Bo"))


def test_a_value_that_contains_its_key_terminator_is_rejected_in_writes_but_not_in_reads(app: App) -> None:
    with pytest.raises(KeyFieldError, match="could have the same key"):
        app.put(Task(task="a", project="p", employee="x#points_1"))
    app.put(Task(task="a", project="p", employee="x#points"))
    assert app.worth("p", "x#points_1", 1) == []
    with pytest.raises(KeyFieldError):
        app.put(Person(employee="a", email="x/y"))


def test_a_prefix_condition_matches_only_the_value_and_not_the_rest_of_the_key(app: App) -> None:
    employees = ["a", "a#", "a#p", "ab", "A#points"]
    for number, employee in enumerate(employees):
        app.put(Task(task=f"t{number}", project="p", employee=employee, points=-1))
    for prefix in ("", "a", "a#", "A#P", "a#point", "a#points", "a#points_", "a#points_-1", "ab", "b"):
        expected = sorted(employee for employee in employees if employee.lower().startswith(prefix.lower()))
        assert sorted(task.employee for task in app.tasks_of("p", prefix)) == expected, prefix


def test_updates_of_keys_that_ignore_case_leave_no_stale_index_key(app: App) -> None:
    before = Person(employee="ada", email="c")
    app.put(before)
    app.put(Person(employee="Ada", email="b"))  # of the same key
    with pytest.raises(ConditionFailed, match="employee is 'Ada'"):
        app.update(before, email="d")
    (person,) = app.person_by_mail("b", "Ada")
    assert app.update(person, email="d") == Person(employee="Ada", email="d")
    assert app.person_by_mail("d", "Ada") == [Person(employee="Ada", email="d")]


def test_a_discriminator_attribute_identifies_the_entity_of_an_item(app: App) -> None:
    app.put(Task(task="a", project="p", employee="x"))
    call = app.store.transport.call
    key = {"pk": {"S": "$app#task_a"}, "sk": {"S": "$task_1#project_p"}}
    call(
        "UpdateItem",
        {
            "TableName": "app",
            "Key": key,
            "UpdateExpression": "SET kind = :k",
            "ExpressionAttributeValues": {":k": {"S": "other"}},
        },
    )
    assert app.task("a", "p") is None
    assert app.tasks_of("p", "x") == []
    assert app.several(["a"], "p") == []
    with pytest.raises(ConditionFailed):
        app.transact([Check(Task, task="a", project="p"), Create(Person(employee="b"))])


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0, 104])
def test_reads_of_other_key_formats_match_the_brute_force_results(seed: int) -> None:
    verify(App, stores=25, seed=seed)


class Cat(Entity):
    pet: str
    lives: int = 9

    kind = Discriminator("type", "cat")
    primary = Key("{pet}", "PET")


class Dog(Entity):
    pet: str
    tricks: int = 0

    kind = Discriminator("type", "dog")
    primary = Key("{pet}", "PET")


class Pets(Design):
    table = Table("pets")

    @read("P1")
    def cat(self, pet: str) -> Cat | None: ...

    @read("P2")
    def pets(self, pet: str) -> list[Cat | Dog]: ...

    @read("P3")
    def dogs(self, pet: str) -> list[Dog]: ...


def test_discriminators_distinguish_entities_with_equal_keys() -> None:
    with Pets.open(":memory:") as pets:
        pets.put(Cat(pet="tom"))
        rex = pets.put(Dog(pet="rex"))
        assert pets.cat("rex") is None
        assert pets.dogs("rex") == pets.pets("rex") == [rex]
        assert pets.dogs("tom") == []
        assert pets.get(Dog, pet="tom") is None
        for action in (Update(Dog, pet="tom").set(tricks=1), Delete(Dog, pet="tom"), Check(Dog, pet="tom")):
            with pytest.raises(ConditionFailed):
                pets.transact([action])
        assert pets.cat("tom") == Cat(pet="tom")
        with pytest.raises(RequestError):
            pets.batch([Delete(Dog, pet="tom")])
        pets.batch([Put(Dog(pet="spot"))])
        assert pets.delete(Dog, pet="spot") == Dog(pet="spot")
        assert pets.delete(Dog, pet="spot") is None


def test_equal_keys_without_discriminators_are_rejected() -> None:
    class Bird(Entity):
        pet: str
        primary = Key("{pet}", "PET")

    with pytest.raises(DesignError, match="Discriminator"):

        class Aviary(Design):
            table = Table("aviary", entities=[Bird, Cat])


def test_invalid_discriminators_are_rejected() -> None:
    class Twice(Entity):
        name: str
        kind: str
        label = Discriminator("kind", "twice")
        primary = Key("TWICE#{name}", "HEAD")

    with pytest.raises(DesignError, match="of a Discriminator is also used by kind"):

        class Twices(Design):
            table = Table("twices", entities=[Twice])


def test_unique_values_that_differ_only_in_case_conflict() -> None:
    class Account(Entity):
        account: str
        email: str
        primary = Key("ACCOUNT#{account}", "HEAD")
        one_email = Unique("EMAIL#{email}", style=KeyStyle(case="lower"))

    class Accounts(Design):
        table = Table("accounts")

        @read("A1")
        def by_email(self, email: str) -> Account | None: ...

    with Accounts.open(":memory:") as accounts:
        ada = accounts.create(Account(account="1", email="Ada@example.com"))
        assert accounts.by_email("ADA@example.com") == ada
        assert accounts.update(ada, email="ada@example.com").email == "ada@example.com"
    verify(Accounts, stores=15)


def test_a_sort_key_that_does_not_sort_by_value_is_rejected() -> None:
    with pytest.raises(DesignError, match="as text in a different order"):

        class Ordered(Design):
            table = App.table

            @read("A1", newest_first=True)
            def best(self, project: str, employee: str) -> list[Task]: ...

    with pytest.raises(DesignError, match="points"):

        class Ranged(Design):
            table = App.table

            @read("A1")
            def between(self, project: str, employee: str, points: Range[int]) -> list[Task]: ...


class Leaf(Entity):
    tree: str
    branch: str
    number: str = "1"

    primary = Key("{tree}#{branch}", "{number}")


class Trees(Design):
    table = Table("trees", key_style=KeyStyle(raw=True))

    @read("L1")
    def leaf(self, tree: str, branch: str, number: str) -> Leaf | None: ...

    @read("L2")
    def leaves(self, tree: str, branch: str) -> list[Leaf]: ...

    @read("L3", entity=Leaf)
    def count(self, tree: str, branch: str) -> int: ...

    @read("L4")
    def some(self, tree: Each[str], branch: str, number: str) -> list[Leaf]: ...


def test_a_write_does_not_change_an_item_with_other_values_at_the_same_key() -> None:
    """Another program wrote an item with a value that contains the terminator of its key part."""
    with Trees.open(":memory:") as trees:
        other = {
            "pk": "a#b#c",
            "sk": "1",
            "tree": "a#b",
            "branch": "c",
            "number": "1",
            "gsi1pk": "c#a#b",
            "gsi1sk": "1",
        }
        trees.store.transport.call("PutItem", {"TableName": "trees", "Item": {k: {"S": v} for k, v in other.items()}})
        known: dict[str, Any] = {"tree": "a", "branch": "b#c"}
        assert trees.leaf(**known, number="1") is None
        assert trees.get(Leaf, **known, number="1") is None
        assert trees.get_many(Leaf, [{**known, "number": "1"}]) == [None]
        assert trees.leaves(**known) == []
        assert trees.count(**known) == 0
        assert trees.some(["a"], "b#c", "1") == []
        for action in (
            Put(Leaf(**known)),
            Delete(Leaf, **known, number="1"),
            Delete(Leaf(**known)),
            Check(Leaf, **known, number="1"),
        ):
            with pytest.raises(ConditionFailed):
                trees.transact([action])
        assert trees.leaf("a#b", "c", "1") == Leaf(tree="a#b", branch="c")
        assert [leaf.tree for leaf in trees.leaves("a#b", "c")] == ["a#b"]


def test_repeated_values_of_an_each_parameter_return_an_item_once() -> None:
    with App.open(":memory:") as app:
        app.put(Task(task="a", project="p", employee="e"))
        assert len(app.several(["a", "a", "A"], "p")) == 1
