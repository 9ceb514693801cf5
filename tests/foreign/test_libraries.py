# mypy: disable-error-code="empty-body"
"""Features that the migration guides don't show: awkward values, collections, versions, discriminators, unique values
and additional attributes. Each library writes items, Keyplan reads and changes them, and the library reads the result.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any

import boto3  # type: ignore[import-untyped]
import pytest

from keyplan import (
    Add,
    Create,
    Design,
    Discriminator,
    Entity,
    Field,
    Index,
    Key,
    KeyStyle,
    StoredAs,
    Table,
    Ttl,
    Unique,
    Update,
    Version,
    read,
)
from keyplan.errors import ItemExists, UniqueValueTaken
from tests.foreign.conftest import RunProgram
from tests.server.support import Server

GSI1 = Index("gsi1", "gsi1pk", "gsi1sk")
ELECTRODB = """
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { Entity, Service } from "electrodb";
const options = { table: "company", client: new DynamoDBClient({}) };
const task = new Entity({
  model: { service: "company", entity: "task", version: "1" },
  attributes: {
    id: { type: "string" }, employee: { type: "string" }, points: { type: "number" }, old: { type: "any" },
    due: { type: "string" },
  },
  indexes: {
    byId: { pk: { field: "pk", composite: ["id"] }, sk: { field: "sk", composite: [] } },
    work: { collection: "work", index: "gsi1", pk: { field: "gsi1pk", composite: ["employee"] },
            sk: { field: "gsi1sk", composite: ["points", "due"] } },
  },
}, options);
const employee = new Entity({
  model: { service: "company", entity: "employee", version: "1" },
  attributes: { employee: { type: "string" }, name: { type: "string" } },
  indexes: {
    byId: { pk: { field: "pk", composite: ["employee"] }, sk: { field: "sk", composite: [] } },
    work: { collection: "work", index: "gsi1", pk: { field: "gsi1pk", composite: ["employee"] },
            sk: { field: "gsi1sk", composite: [] } },
  },
}, options);
const company = new Service({ task, employee });
"""


class Task(Entity, extra="allow"):
    id: str
    employee: str
    points: int
    due: Annotated[datetime, StoredAs("iso ms")]

    kind = Discriminator("__edb_e__", "task")
    model = Discriminator("__edb_v__", "1")
    primary = Key("$company#id_{id}", "$task_1")
    work = Key("$company#employee_{employee}", "$work#task_1#points_{points:d}#due_{due}", index=GSI1)


class Employee(Entity):
    employee: str
    name: str

    kind = Discriminator("__edb_e__", "employee")
    model = Discriminator("__edb_v__", "1")
    primary = Key("$company#employee_{employee}", "$employee_1")
    work = Key("$company#employee_{employee}", "$work#employee_1", index=GSI1)


class Company(Design):
    table = Table("company", indexes=[GSI1], key_style=KeyStyle(raw=True, case="lower"))

    @read("C1")
    def work(self, employee: str) -> list[Employee | Task]: ...

    @read("C2")
    def task(self, id: str) -> Task | None: ...  # noqa: A002 - the attribute's name


def opened(design: type[Any], server: Server) -> Any:
    """Create the design's table on the server and open the design."""
    server.call("CreateTable", design.compiled.table.create_request())
    return design.open(f"dynamodb+http://{server.url.removeprefix('http://')}/{design.compiled.table.name}")


@pytest.mark.usefixtures("node")
def test_electrodb_collections_and_escaped_values_are_readable(server: Server, run_program: RunProgram) -> None:
    with opened(Company, server) as company:
        run_program(
            "js",
            ELECTRODB
            + """
await employee.put({ employee: "ÀDA#1", name: "Ada" }).go();
await task.put({ id: "A#b/Ç", employee: "ÀDA#1", points: 10, due: "2026-11-21T09:42:00.007Z",
                 old: { keep: [1, "two"] } }).go();
await task.put({ id: "2", employee: "ÀDA#1", points: -9, due: "2026-11-21T09:42:00.007Z" }).go();
""",
        )
        value, *tasks = company.work("àda#1")
        assert (value.name, {each.id: each.points for each in tasks}) == ("Ada", {"A#b/Ç": 10, "2": -9})
        awkward = company.task("a#B/ç")
        assert awkward.due == datetime(2026, 11, 21, 9, 42, 0, 7000, tzinfo=UTC)
        company.update(awkward, points=11)
        changed = company.task("A#b/Ç")
        assert changed.model_extra == {"old": {"keep": [1, "two"]}}
        company.put(changed.model_copy(update={"points": 12}))
        company.create(Task(id="Third", employee="ÀDA#1", points=1, due=datetime(2026, 1, 1, tzinfo=UTC)))
        printed = run_program(
            "js",
            ELECTRODB
            + """
const { data } = await company.collections.work({ employee: "àda#1" }).go();
data.task.sort((one, other) => one.points - other.points);
console.log(JSON.stringify([data.employee, data.task]));
const { data: third } = await task.get({ id: "THIRD" }).go();
console.log(JSON.stringify(third));
""",
        )
        result, third = map(json.loads, printed.splitlines())
        assert [each["name"] for each in result[0]] == ["Ada"]
        assert [(each["id"], each["points"]) for each in result[1]] == [("2", -9), ("Third", 1), ("A#b/Ç", 12)]
        assert result[1][2]["old"] == {"keep": [1, "two"]}
        assert third == {"id": "Third", "employee": "ÀDA#1", "points": 1, "due": "2026-01-01T00:00:00.000Z"}


ONETABLE = """
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { Table } from "dynamodb-onetable";
import Dynamo from "dynamodb-onetable/Dynamo";
const table = new Table({
  name: "members", client: new (Dynamo.Dynamo ?? Dynamo)({ client: new DynamoDBClient({}) }), partial: true,
  schema: {
    format: "onetable:1.1.0", version: "0.0.1", indexes: { primary: { hash: "pk", sort: "sk" } },
    params: { isoDates: false, timestamps: false },
    models: { Member: {
      pk: { type: String, value: "club:${club}" }, sk: { type: String, value: "member:${joined}" },
      club: { type: String }, joined: { type: Date }, email: { type: String, unique: true },
      expires: { type: Date, ttl: true }, tags: { type: Set },
    } },
  },
});
const Member = table.getModel("Member");
"""


class Member(Entity):
    club: str
    joined: Annotated[datetime, StoredAs("ms")]
    email: str
    expires: Ttl | None = None
    tags: set[str] = Field(default_factory=set)

    kind = Discriminator("_type", "Member")
    primary = Key("club:{club}", "member:{joined}")
    one_email = Unique("_unique#Member#email#{email}", "_unique#")


class Members(Design):
    table = Table("members", key_style=KeyStyle(raw=True))

    @read("M1")
    def members(self, club: str) -> list[Member]: ...


@pytest.mark.usefixtures("node")
def test_onetable_dates_and_unique_values_are_readable(server: Server, run_program: RunProgram) -> None:
    with opened(Members, server) as members:
        run_program(
            "js",
            ONETABLE
            + """
await Member.create({ club: "a:b", joined: new Date(1795254120007), email: "Ada@x.org",
                      expires: new Date(1900000000000), tags: new Set(["x"]) });
""",
        )
        (ada,) = members.members("a:b")
        joined = datetime.fromtimestamp(1795254120, UTC).replace(microsecond=7000)
        assert (ada.joined, ada.tags, ada.email) == (joined, {"x"}, "Ada@x.org")
        assert ada.expires == datetime.fromtimestamp(1900000000, UTC)
        with pytest.raises(UniqueValueTaken):
            members.create(Member(club="c", joined=joined, email="Ada@x.org"))
        members.create(Member(club="a:b", joined=joined.replace(year=2027), email="bo@x.org"))
        printed = run_program(
            "js",
            ONETABLE
            + """
const found = await Member.find({ club: "a:b" });
console.log(found.map((one) => `${one.email} ${one.joined.toISOString()}`).join("; "));
try {
  await Member.create({ club: "d", joined: new Date(), email: "bo@x.org" });
} catch (error) {
  console.log(error.code);
}
""",
        )
        assert printed.splitlines() == [
            "Ada@x.org 2026-11-21T09:42:00.007Z; bo@x.org 2027-11-21T09:42:00.007Z",
            "UniqueError",
        ]


TOOLBOX = """
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { Entity } from "dynamodb-toolbox/entity";
import { GetItemCommand } from "dynamodb-toolbox/entity/actions/get";
import { PutItemCommand } from "dynamodb-toolbox/entity/actions/put";
import { item } from "dynamodb-toolbox/schema/item";
import { number } from "dynamodb-toolbox/schema/number";
import { string } from "dynamodb-toolbox/schema/string";
import { Table } from "dynamodb-toolbox/table";
const table = new Table({ name: "pets", partitionKey: { name: "id", type: "string" },
  documentClient: DynamoDBDocumentClient.from(new DynamoDBClient({})) });
const Cat = new Entity({ name: "Cat", table, schema: item({ id: string().key(), lives: number() }) });
const Dog = new Entity({ name: "Dog", table, schema: item({ id: string().key(), tricks: number().savedAs("t") }) });
"""


class Cat(Entity, extra="allow"):
    id: str
    lives: int

    kind = Discriminator("_et", "Cat")
    primary = Key("{id}")


class Dog(Entity, extra="allow"):
    id: str
    tricks: int = Field(alias="t")

    kind = Discriminator("_et", "Dog")
    primary = Key("{id}")


class Pets(Design):
    table = Table("pets", partition="id", sort=None)

    @read("P1")
    def cat(self, id: str) -> Cat | None: ...  # noqa: A002

    @read("P2")
    def dog(self, id: str) -> Dog | None: ...  # noqa: A002


@pytest.mark.usefixtures("node")
def test_dynamodb_toolbox_entities_are_distinguished_by_an_attribute(server: Server, run_program: RunProgram) -> None:
    with opened(Pets, server) as pets:
        run_program(
            "js",
            TOOLBOX
            + """
await Cat.build(PutItemCommand).item({ id: "a#1", lives: 9 }).send();
await Dog.build(PutItemCommand).item({ id: "b", tricks: 2 }).send();
""",
        )
        assert (pets.cat("a#1").lives, pets.dog("a#1"), pets.cat("b"), pets.dog("b").tricks) == (9, None, None, 2)
        pets.update(pets.dog("b"), tricks=Add(1))
        created = pets.cat("a#1").model_extra["_ct"]
        pets.put(pets.cat("a#1").model_copy(update={"lives": 8}))
        assert pets.cat("a#1").model_extra["_ct"] == created
        stamp = {
            "_ct": "2026-11-21T09:42:00.000Z",
            "_md": "2026-11-21T09:42:00.000Z",
        }  # it can't read items without these
        pets.create(Dog.model_validate({"id": "c", "tricks": 1, **stamp}))
        printed = run_program(
            "js",
            TOOLBOX
            + """
const { Item: cat } = await Cat.build(GetItemCommand).key({ id: "a#1" }).send();
const { Item: dog } = await Dog.build(GetItemCommand).key({ id: "b" }).send();
const { Item: other } = await Dog.build(GetItemCommand).key({ id: "c" }).send();
console.log(cat.lives, typeof cat.created, dog.tricks, other.tricks);
""",
        )
        assert printed == "8 string 3 1\n"


PYNAMODB = """
import json
from datetime import UTC, datetime
from pynamodb.attributes import (BinaryAttribute, DiscriminatorAttribute, ListAttribute, MapAttribute, NumberAttribute,
    NumberSetAttribute, TTLAttribute, UnicodeAttribute, UTCDateTimeAttribute, VersionAttribute)
from pynamodb.models import Model

class Shape(Model):
    class Meta:
        table_name = "shapes"
        region = "eu-west-1"
    name = UnicodeAttribute(hash_key=True)
    cls = DiscriminatorAttribute()
    drawn = UTCDateTimeAttribute()
    expires = TTLAttribute(null=True)
    content = BinaryAttribute(legacy_encoding=False)
    sizes = NumberSetAttribute()
    points = ListAttribute(default=list)
    version = VersionAttribute()

class Circle(Shape, discriminator="Circle"):
    radius = NumberAttribute()

class Square(Shape, discriminator="Square"):
    side = NumberAttribute()
"""


class Circle(Entity):
    name: str
    drawn: Annotated[datetime, StoredAs(layout="%Y-%m-%dT%H:%M:%S.%f%z")]
    expires: Ttl | None = None
    content: bytes
    sizes: set[int]
    points: list[list[int]] = Field(default_factory=list)
    version: Version = 0
    radius: Decimal

    kind = Discriminator("cls", "Circle")
    primary = Key("{name}")


class Shapes(Design):
    table = Table("shapes", partition="name", sort=None)

    @read("S1")
    def circle(self, name: str) -> Circle | None: ...

    @read("S2", scan=True)
    def circles(self) -> list[Circle]: ...


def test_pynamodb_versions_and_discriminators_are_kept(server: Server, run_program: RunProgram) -> None:
    with opened(Shapes, server) as shapes:
        run_program(
            "py",
            PYNAMODB
            + """
drawn = datetime(2026, 11, 21, 9, 42, 0, 7, tzinfo=UTC)
common = {"drawn": drawn, "content": b"\\xff", "sizes": {1, 2}, "points": [[1, 2]], "expires": 1900000000}
common["expires"] = datetime(2030, 3, 17, 17, 46, 40, tzinfo=UTC)
Circle("a", radius=2.5, **common).save()
Square("b", side=1, **common).save()
""",
        )
        assert [value.name for value in shapes.circles()] == ["a"]
        circle = shapes.circle("a")
        assert shapes.circle("b") is None
        assert (circle.version, circle.radius, circle.content, circle.sizes, circle.points) == (
            1, Decimal("2.5"), b"\xff", {1, 2}, [[1, 2]],
        )  # fmt: skip
        assert circle.drawn == datetime(2026, 11, 21, 9, 42, 0, 7, tzinfo=UTC)
        assert circle.expires == datetime(2030, 3, 17, 17, 46, 40, tzinfo=UTC)
        shapes.update(Update(circle, radius=Decimal(3)))
        with pytest.raises(ItemExists):
            shapes.create(circle)
        shapes.transact([Create(circle.model_copy(update={"name": "c", "version": 0}))])
        printed = run_program(
            "py",
            PYNAMODB
            + """
shape = Shape.get("a")
print(type(shape).__name__, shape.radius, shape.version, shape.drawn.isoformat(), shape.content, sorted(shape.sizes))
shape.update(actions=[Circle.radius.set(4)])
print(Shape.get("c").radius, Shape.get("c").version)
""",
        )
        assert printed.splitlines() == ["Circle 3 2 2026-11-21T09:42:00.000007+00:00 b'\\xff' [1, 2]", "2.5 1"]
        assert shapes.circle("a").version == 3


class Log(Entity, extra="allow"):
    day: str
    at: Annotated[datetime, StoredAs("ms as text")]
    level: Annotated[int, StoredAs("text")]
    loud: Annotated[bool, StoredAs("number")] = False
    text: Annotated[str, StoredAs("zlib")] = ""

    primary = Key("{day}", "{at}")


class Logs(Design):
    table = Table("logs", partition="day", sort="at")

    @read("L1", where="level = :level AND loud = :loud")
    def of_level(self, day: str, level: int, loud: bool) -> list[Log]: ...


def test_boto3_items_with_custom_stored_forms_are_readable(server: Server) -> None:
    import zlib  # noqa: PLC0415 - as such a program would

    with opened(Logs, server) as logs:
        resource: Any = boto3.resource(
            "dynamodb",
            endpoint_url=server.url,
            region_name="eu-west-1",
            aws_access_key_id="x",
            aws_secret_access_key="y",
        )
        table = resource.Table("logs")
        item = {
            "day": "2026-11-21",
            "at": "1795254120007",
            "level": "3",
            "loud": 1,
            "text": zlib.compress(b"hello"),
            "hosts": {"b", "a"},
            "raw": b"\x00",
            "exact": Decimal("0.12345678901234567890123"),
        }
        table.put_item(Item=item)
        (log,) = logs.of_level("2026-11-21", 3, True)
        assert (log.text, log.level, log.loud, log.hosts) == ("hello", 3, True, {"a", "b"})
        logs.put(log.model_copy(update={"text": "bye"}))
        logs.update(log, loud=False)
        key = {"day": "2026-11-21", "at": "1795254120007"}
        result = table.get_item(Key=key)["Item"]
        assert result["text"].value == zlib.compress(b"bye")
        assert (result["loud"], result["hosts"], result["raw"].value, result["exact"]) == (
            0, {"a", "b"}, b"\x00", Decimal("0.12345678901234567890123"),
        )  # fmt: skip
        resource.meta.client.close()
