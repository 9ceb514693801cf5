"""Bugs that other libraries have in writes, and that Keyplan doesn't have."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from keyplan import Add, Check, Create, Delete, Put, Update
from keyplan.errors import ConditionFailed, RequestError, StoreError, TransactionFailed, WriteFailed
from tests.known_bugs_elsewhere.design import Article, Draft, Halving, Magazine, Note, Pair, Watched, stored

NOTE = Note(owner="o", day=date(2026, 1, 1), name="n")


@pytest.mark.parametrize(
    "changes",
    [{"visits": "many"}, {"visits": -1}, {"title": None}, {"title": 5}, {"status": "gone"}, {"visits": Add("x")}],
)
@pytest.mark.parametrize("by", ["instance", "class", "pattern"])
def test_values_of_an_update_are_validated(magazine: Magazine, changes: dict[str, Any], by: str) -> None:
    """pydynantic and pydynox write invalid values without a check, and then can't read the item."""
    article = magazine.put(Article(article_id="1"))
    ways: dict[str, Callable[[], object]] = {
        "instance": lambda: magazine.update(article, **changes),
        "class": lambda: magazine.transact([Update(Article, article_id="1").set(**changes), Put(NOTE)]),
        "pattern": lambda: magazine.change(article, changes),
    }
    watched = Watched(magazine)
    with pytest.raises(RequestError) as caught:
        ways[by]()
    assert f"Article.{next(iter(changes))}" in str(caught.value)
    assert watched.requests == []
    assert magazine.article("1") == article


def test_an_update_of_an_unknown_field_is_rejected(magazine: Magazine) -> None:
    """pydynantic and pydynox store an attribute that the model doesn't have."""
    article = magazine.put(Article(article_id="1"))
    watched = Watched(magazine)
    with pytest.raises(RequestError, match="Article has no field 'titel'"):
        magazine.update(article, titel="Keys")
    with pytest.raises(RequestError, match="Article has no field 'titel'"):
        magazine.transact([Update(article, title="Keys").only_if(titel="Keys")])
    with pytest.raises(RequestError, match="unknown field 'titel'"):
        magazine.transact([Update(article, title="Keys").only_if("titel = :old", old="Keys")])
    assert watched.requests == []


def test_an_add_beyond_the_bounds_of_a_field_is_rejected(magazine: Magazine) -> None:
    """pydynantic and pydynox don't compare the result of an ADD with the bounds of the field."""
    article = magazine.put(Article(article_id="1", visits=1))
    with pytest.raises(ConditionFailed):
        magazine.transact([Update(Article, article_id="1").set(visits=Add(-2))])
    assert magazine.article("1") == article


def test_a_put_in_a_transaction_checks_the_version(magazine: Magazine) -> None:
    """In pydynantic, a put in a transaction overwrites a newer version, although a single put doesn't."""
    first = magazine.put(Draft(draft_id="1", text="first"))
    second = magazine.put(first.model_copy(update={"text": "second"}))
    assert (first.revision, second.revision) == (1, 2)
    late = first.model_copy(update={"text": "late"})
    with pytest.raises(ConditionFailed, match="revision is 2, expected 1"):
        magazine.put(late)
    with pytest.raises(WriteFailed, match="revision is 2, expected 1"):
        magazine.transact([Put(late), Put(NOTE)])
    with pytest.raises(WriteFailed, match="revision is 2, expected 1"):
        magazine.rewrite(late, NOTE)
    with pytest.raises(WriteFailed, match="Draft"):
        magazine.transact([Put(Draft(draft_id="1", text="as if new")), Put(NOTE)])
    assert magazine.get(Draft, draft_id="1") == second
    assert len(stored(magazine)) == 1
    assert magazine.rewrite(second.model_copy(update={"text": "third"}), NOTE).revision == 3


def test_a_batch_with_versioned_entities_is_rejected(magazine: Magazine) -> None:
    """pydynantic writes versioned entities by BatchWriteItem, which doesn't support conditions."""
    draft = magazine.put(Draft(draft_id="1", text="first"))
    with pytest.raises(RequestError, match="a version, or a key that another item can have, which a batch can't check"):
        magazine.batch([Put(draft)])
    with pytest.raises(RequestError, match="a version, or a key that another item can have, which a batch can't check"):
        magazine.batch([Delete(draft)])


def test_a_canceled_transaction_raises_an_error(magazine: Magazine) -> None:
    """In ElectroDB, a canceled transaction returns a result with a flag, and raises no error."""
    magazine.put(Pair(a="1", b="2", note="there"))
    with pytest.raises(WriteFailed) as caught:
        magazine.transact([Put(NOTE), Create(Pair(a="1", b="2"))])
    assert "Pair(pk=PAIR#a_1#b_2, sk=HEAD) already exists" in str(caught.value)
    with pytest.raises(TransactionFailed) as several:
        magazine.transact([Put(NOTE), Create(Pair(a="1", b="2")), Check(Article, article_id="none")])
    assert len(several.value.reasons) == 3
    assert [reason is None for reason in several.value.reasons] == [True, False, False]
    assert len(several.value.errors) == 2
    assert magazine.notes("o").items == []
    assert magazine.pair("1", "2") == Pair(a="1", b="2", note="there")


@pytest.mark.usefixtures("no_pauses")
def test_a_batch_write_retries_unprocessed_items(magazine: Magazine) -> None:
    """dynamodb-toolbox (by default) and aiodynamo return unprocessed writes to a caller that may not check."""
    articles = [Article(article_id=f"{number:02d}") for number in range(60)]
    halving = Halving(magazine)
    magazine.batch([Put(article) for article in articles])
    assert halving.operations.count("BatchWriteItem") > 3
    assert magazine.articles_by("Ada", limit=100).items == articles
    magazine.batch([Delete(article) for article in articles])
    assert stored(magazine) == []
    magazine.put_all(articles)
    assert len(stored(magazine)) == 60


@pytest.mark.usefixtures("no_pauses")
def test_a_batch_read_retries_unprocessed_keys(magazine: Magazine) -> None:
    """dynamodb-toolbox (by default) and aiodynamo omit the items of unprocessed keys from the result."""
    magazine.batch([Put(Article(article_id=f"{number:03d}")) for number in range(150)])
    wanted = [f"{number:03d}" for number in range(149, -1, -1)]
    halving = Halving(magazine)
    assert [article.article_id for article in magazine.articles(wanted)] == wanted
    articles = magazine.get_many(Article, [{"article_id": text} for text in (*wanted, "none", "000")])
    assert [article and article.article_id for article in articles] == [*wanted, None, "000"]
    assert halving.operations.count("BatchGetItem") > 4


def test_a_batch_raises_an_error_if_items_remain_unprocessed(magazine: Magazine, no_pauses: list[float]) -> None:
    """dynamodb-toolbox and aiodynamo return as if the batch had succeeded."""
    Halving(magazine, takes_nothing=True)
    with pytest.raises(StoreError, match="3 of 3 writes of a batch remain unprocessed"):
        magazine.batch([Put(Article(article_id=str(number))) for number in range(3)])
    with pytest.raises(StoreError, match="2 of 2 keys of a batch remain unprocessed"):
        magazine.articles(["1", "2"])
    assert no_pauses
    assert max(no_pauses) <= 2
