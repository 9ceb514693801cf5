"""State that other libraries have per process, and Keyplan per open design."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from keyplan.client.transports.embedded import InProcess
from keyplan.session.stores import Store
from keyplan.store import Engine
from tests.known_bugs_elsewhere.design import Article, Magazine, Watched


def test_designs_open_on_two_stores_are_independent(tmp_path: Path) -> None:
    """In PynamoDB, the session and host belong to the model class: a second store requires a second class."""
    with (
        Magazine.open(":memory:") as element,
        Magazine.open(":memory:") as two,
        Magazine.open(tmp_path / "three.db") as three,
    ):
        for number, magazine in enumerate([element, two, three]):
            magazine.put(Article(article_id="1", title=f"store {number}"))
        titles = [magazine.article("1").title for magazine in (element, two, three)]
        assert titles == ["store 0", "store 1", "store 2"]
        with ThreadPoolExecutor(3) as pool:
            result = list(pool.map(lambda magazine: magazine.article("1").title, [element, two, three] * 20))
        assert result == titles * 20
    with Magazine.open(tmp_path / "three.db") as again:
        assert again.article("1").title == "store 2"


def test_the_table_name_belongs_to_the_open_design() -> None:
    """In PynamoDB, the table name is in the Meta class of a model: a class has one table in the whole process."""
    engine = Engine.open(":memory:")
    stores = [Store(InProcess(engine.call, engine.close), ":memory:", name) for name in ("magazine-test", "magazine-2")]
    for store in stores:
        store.transport.call("CreateTable", Magazine.table.create_request(store.table_name))
    magazine, two = (Magazine(store) for store in stores)
    magazine.put(Article(article_id="1", title="in the first"))
    two.put(Article(article_id="1", title="in the second"))
    watched = [Watched(magazine), Watched(two)]
    assert (magazine.article("1").title, two.article("1").title) == ("in the first", "in the second")
    assert [each.requests[0].parameters["TableName"] for each in watched] == ["magazine-test", "magazine-2"]
    assert Magazine.table.name == "magazine"
    engine.close()


def test_the_cursor_secret_belongs_to_the_open_design() -> None:
    """Each open design has its own secret; opening a design doesn't change its class."""
    with Magazine.open(":memory:", secret="one") as element, Magazine.open(":memory:", secret="two") as two:
        for magazine in (element, two):
            for number in range(3):
                magazine.put(Article(article_id=str(number)))
        cursors = {magazine.articles_by("Ada", limit=1).cursor for magazine in (element, two)}
        assert len(cursors) == 2
