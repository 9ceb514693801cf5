"""Where a plan's indexes are written into a module: the table's call, however it is laid out."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyplan.design.deferral import deferred
from keyplan.planner import plan
from keyplan.planner.module import rewritten
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
def test_the_tables_indexes_are_written_where_they_belong(tmp_path: Path, given: str, wanted: str) -> None:
    path = tmp_path / "ships.py"
    path.write_text(SHIPS.replace("TABLE", given), encoding="utf-8")
    with deferred():
        module = imported(path)
    after = rewritten(plan(module.Ships)[0]).after
    assert f"class Ships(Design):\n    {wanted}\n\n" in after
    compile(after, "ships.py", "exec")


DECLARED = (
    'primary = Key("SHIP#{ship_id}", "HEAD")',
    'by_flag = Key("FLAG#{flag}", "SHIP#{ship_id}", index=GSI1)',
)


@pytest.mark.parametrize("count", range(3))
def test_a_key_that_is_declared_is_neither_lost_nor_written_again(tmp_path: Path, count: int) -> None:
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
