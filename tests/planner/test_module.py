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
