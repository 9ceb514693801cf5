"""Tests of writing a plan into a module: keys, indexes, the Table call and decorators, in any layout."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from keyplan.cli.designs import find
from keyplan.errors import UnknownDesign
from keyplan.model.deferral import deferred
from keyplan.planner import Plan, plan, rewritten
from tests.cli.support import run
from tests.planner.test_planning import imported

SHIPS = """from keyplan import Design, Entity, Id, Index, Table, read

T = "ships"


class Ship(Entity):
    ship_id: Id[str]
    flag: str


class Ships(Design):
    TABLE

    @read("S1")
    def of_flag(self, flag: str) -> list[Ship]: ...
"""


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ('table = Table("ships")', 'table = Table("ships", indexes=[GSI1])'),
        ("table = Table(T)", "table = Table(T, indexes=[GSI1])"),
        ("table = Table(name=T)", "table = Table(indexes=[GSI1], name=T)"),
        ("table = Table(T, entities=[], indexes=[])", "table = Table(T, entities=[], indexes=[GSI1])"),
        ('note = "für alle"; table = Table( T )', 'note = "für alle"; table = Table( T, indexes=[GSI1] )'),
        ("table = Table(\n        T\n        ,\n    )", "table = Table(\n        T, indexes=[GSI1]\n        ,\n    )"),
    ],
)  # fmt: skip
def test_planned_indexes_are_added_to_the_table_declaration(tmp_path: Path, given: str, wanted: str) -> None:
    path = tmp_path / "ships.py"
    path.write_text(SHIPS.replace("TABLE", given), encoding="utf-8")
    with deferred():
        module = imported(path)
    after = rewritten(plan(module.Ships)[0]).after
    assert f"class Ships(Design):\n    {wanted}\n\n" in after
    compile(after, "ships.py", "exec")


DECLARED = ('primary = Key("SHIP#{ship_id}", "HEAD")', 'by_flag = Key("FLAG#{flag}", "SHIP#{ship_id}", index=GSI1)')


@pytest.mark.parametrize("count", range(3))
def test_keys_that_the_module_declares_are_not_duplicated(tmp_path: Path, count: int) -> None:
    path = tmp_path / "ships.py"
    keys = "".join(f"    {line}\n" for line in DECLARED[:count])
    table = "Table(T, indexes=[GSI1])" if count > 1 else "Table(T)"
    text = SHIPS.replace("TABLE", f"table = {table}").replace("Index, Table", "Index, Key, Table")
    if count > 0:
        text = text.replace("    flag: str\n\n", f"    flag: str\n\n{keys}\n", 1)
    if count > 1:
        text = text.replace('T = "ships"\n', 'T = "ships"\nGSI1 = Index("GSI1", "gsi1pk", "gsi1sk")\n')
    path.write_text(text, encoding="utf-8")
    with deferred():
        module = imported(path)
    after = rewritten(plan(module.Ships)[0]).after
    lines = [line.strip() for line in after.splitlines() if " = Key(" in line]
    assert [line.partition(" = ")[0] for line in lines] == ["primary", "by_flag"]
    assert lines[:count] == [*DECLARED[:count]]
    block = "".join(f"    {line}\n" for line in lines)
    assert f"    flag: str\n\n{block}\n\nclass Ships" in after
    assert after.count("GSI1 = Index(") == 1
    assert (after == text) == (count == 2)
    compile(after, "ships.py", "exec")


LAID_OUT = '''from keyplan import Design, Entity, Field, Id, Index, Key, Table, read

TABLE = Table(
    "ships",
    indexes=[],
)


class Port(Entity):
    port_id: Id[str]


class Ship(Entity):
    ship_id: Id[str]
    flag: str = Field(
        default="none",
        examples=["de"],
    )
    """Under which
    it sails.
    """


class Ships(Design):
    table = TABLE

    @read("S1")
    def of_flag(self, flag: str) -> list[Ship]: ...

    @read("S2")
    def port(self, port_id: str) -> Port | None: ...
'''
KEYS = """
    primary = Key(
        "S#{ship_id}",
        "HEAD",
    )
    by_flag = Key(
        "F#{flag}",
        "S#{ship_id}",
        index=GSI1,
    )
    by_ship = Key(
        "S#{ship_id}",
        "F#{flag}",
        index=OLD,
    )
"""
INDEXES = """GSI1 = Index(
    "GSI1",
    "gsi1pk",
    "gsi1sk",
)
OLD = Index(
    "OLD",
    "old_pk",
    "old_sk",
)
"""
LAYOUTS = {
    "the table first": LAID_OUT,
    "the table last": LAID_OUT.replace('TABLE = Table(\n    "ships",\n    indexes=[],\n)\n\n\n', "").replace(
        "table = TABLE", 'table = Table("ships")'
    ),
    "keys": LAID_OUT.replace("TABLE =", f"{INDEXES}TABLE =")
    .replace("indexes=[]", "indexes=[GSI1, OLD]")
    .replace('    it sails.\n    """\n', f'    it sails.\n    """\n{KEYS}'),
    "a key as the first": LAID_OUT.replace("    port_id: Id[str]\n", '    """In the sea."""\n\n    port_id: Id[str]\n'),
}


def test_a_plan_for_entities_in_another_file_is_not_written(tmp_path: Path) -> None:
    """The error lists each class and its file."""
    entities, _, design = LAYOUTS["the table last"].partition("class Ships")
    (tmp_path / "ships_entities.py").write_text(entities, encoding="utf-8")
    path = tmp_path / "ships.py"
    path.write_text(
        f"from keyplan import Design, Table, read\nfrom ships_entities import Port, Ship\n\n\nclass Ships{design}",
        encoding="utf-8",
    )
    sys.path.insert(0, str(tmp_path))
    try:
        with deferred():
            module = imported(path)
        made = plan(module.Ships)[0]
        assert told(made) == ["Ships ships.py", "Port ships_entities.py", "Ship ships_entities.py"]
        del sys.modules["ships_entities"]
        assert told(made) == ["Ships ships.py", "Port no file", "Ship no file"]
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("ships_entities", None)


def told(made: Plan) -> list[str]:
    """Each class in the error, with its file."""
    with pytest.raises(UnknownDesign) as caught:
        rewritten(made)
    first, *rest = (f"{fault.place} {Path(fault.message.removeprefix('is in ')).name}" for fault in caught.value.errors)
    return [first, *sorted(rest)]


MODULE = """
from keyplan import Design, Entity, Id, Table, View, read


class Order(Entity):
    order_id: Id[str]
    customer: str
    state: str = "open"
    notes: str = ""


class OrderRow(View[Order]):
    order_id: str
    state: str


class Orders(Design):
    table = Table("orders")

    @read("O1")
    def orders(self, customer: str) -> list[OrderRow]: ...

    @read("O2", where={"state": "open"}, scan_index=OPEN_ORDERS)
    def waiting(self) -> list[Order]: ...
"""


def test_projections_and_indexes_for_scans_are_written_into_the_module(tmp_path: Path) -> None:
    path = tmp_path / "orders.py"
    path.write_text(MODULE.replace("import Design,", "import Design, Index,").replace("\n\n\nclass Order(", OPEN, 1))
    result = run("plan", f"{path}:Orders", "--write", "--traffic", str(traffic_file(tmp_path)))
    assert result.exit_code == 0, result.output
    text = path.read_text()
    assert 'GSI1 = Index("GSI1", "gsi1pk", "gsi1sk", projection=["state"])' in text
    assert 'OPEN_ORDERS = Index("OPEN", "openpk", "opensk")' in text
    assert "GSI1 projects the keys and state" in result.output
    again = run("plan", f"{path}:Orders", "--write")
    assert again.exit_code == 0, again.output
    assert path.read_text() == text


OPEN = """

OPEN_ORDERS = Index("OPEN", "open_key", "open_since")


class Order("""


def traffic_file(folder: Path) -> Path:
    path = folder / "traffic.toml"
    path.write_text("[patterns.orders]\nper_second = 1\n[entities.Order]\ncount = 100_000\nitem_bytes = 3000\n")
    return path


@pytest.mark.parametrize(
    ("front", "given", "written"),
    [
        ("", 'table = Table("orders")', 'table = Table("orders", indexes=[GSI1, GSI2])'),
        ("", 'table: ClassVar[Table] = Table("orders")', 'ClassVar[Table] = Table("orders", indexes=[GSI1, GSI2])'),
        ("", 'table = Table("orders", partition="PK")', 'Table("orders", indexes=[GSI1, GSI2], partition="PK")'),
        (
            'TABLE = Table("orders", sort="SK")\n\n\n',
            "table = TABLE",
            'Table("orders", indexes=[GSI1, GSI2], sort="SK")',
        ),
    ],
)
def test_indexes_are_written_where_the_table_is_created(front: str, given: str, written: str, tmp_path: Path) -> None:
    path = tmp_path / "orders.py"
    text = MODULE.replace(", scan_index=OPEN_ORDERS", "").replace('table = Table("orders")', given)
    path.write_text(
        text.replace("class Order(", f"{front}class Order(", 1).replace(
            "\nfrom", "\nfrom typing import ClassVar\nfrom", 1
        )
    )
    result = run("plan", f"{path}:Orders", "--write")
    assert result.exit_code == 0, result.output
    assert written in path.read_text()
    assert find(f"{path}:Orders").design.table.indexes


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ('@read("O3")', '@read("O3", where="state = :state")'),
        ('@read(\n        "O3",\n    )', '@read(\n        "O3",\n        where="state = :state",\n    )'),
        ('@read("O3",)', '@read("O3", where="state = :state")'),
        ('@read(\n        "O3")', '@read(\n        "O3", where="state = :state")'),
    ],
)
def test_the_options_that_a_plan_requires_are_added_to_decorators(given: str, written: str, tmp_path: Path) -> None:
    path = tmp_path / "orders.py"
    pattern = f"    {given}\n    def in_state(self, order_id: str, state: str) -> Order | None: ...\n"
    path.write_text(MODULE.partition('    @read("O2"')[0] + pattern)
    with deferred():
        made = plan(find(f"{path}:Orders").design)[0]
    assert f"    {written}\n    def in_state(" in rewritten(made).after
