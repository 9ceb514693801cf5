"""Bugs that other libraries have in keys, and that Keyplan doesn't have."""

from __future__ import annotations

import pytest

from keyplan import Put, Remove, Update
from keyplan.errors import ConditionFailed, ItemExists, UpdateRejected
from tests.known_bugs_elsewhere.design import Article, Magazine, Pair, Watched, keys_in, stored


def test_an_update_by_instance_updates_the_index_keys(magazine: Magazine) -> None:
    """dynamodb-toolbox, OneTable and pydynox update the field, but not the index key that contains the field."""
    article = magazine.put(Article(article_id="1", author="Ada"))
    updated = magazine.update(article, author="Grace")
    assert keys_in(magazine, "GSI1") == [("AUTHOR#Grace", "draft#1")]
    assert magazine.articles_by("Ada").items == []
    assert magazine.articles_by("Grace").items == [updated]
    magazine.update(updated, status="published")
    assert keys_in(magazine, "GSI1") == [("AUTHOR#Grace", "published#1")]


def test_concurrent_updates_of_two_fields_of_a_key_leave_no_stale_key(magazine: Magazine) -> None:
    """In dynamodb-toolbox, OneTable and pydynox, each of two writers builds the key with an old value."""
    seen = magazine.put(Article(article_id="1"))
    magazine.update(seen, status="published")
    with pytest.raises(ConditionFailed, match="status is 'published', expected 'draft'"):
        magazine.update(seen, author="Grace")
    assert keys_in(magazine, "GSI1") == [("AUTHOR#Ada", "published#1")]


def test_an_update_by_class_that_changes_part_of_an_index_key_is_rejected(magazine: Magazine) -> None:
    """dynamodb-toolbox, OneTable and pydynox leave the index key stale, because it contains other fields, too."""
    magazine.put(Article(article_id="1"))
    watched = Watched(magazine)
    with pytest.raises(UpdateRejected, match="part of the key by_author") as caught:
        magazine.transact([Update(Article, article_id="1").set(author="Grace")])
    assert caught.value.place == "Article.author"
    assert watched.requests == []
    magazine.transact([Update(Article, article_id="1").set(title="Indexes")])
    assert magazine.article("1").title == "Indexes"
    assert keys_in(magazine, "GSI1") == [("AUTHOR#Ada", "draft#1")]


def test_an_update_in_a_transaction_updates_the_index_keys(magazine: Magazine) -> None:
    """dynamodb-toolbox, OneTable and pydynox leave the index key stale in transactions, too."""
    article = magazine.put(Article(article_id="1"))
    magazine.hand_over(article, "Grace")
    assert keys_in(magazine, "GSI1") == [("AUTHOR#Grace", "draft#1")]
    magazine.transact([Update(magazine.article("1"), status="published"), Put(Pair(a="1", b="2"))])
    assert keys_in(magazine, "GSI1") == [("AUTHOR#Grace", "published#1")]


def test_different_values_never_have_the_same_key(magazine: Magazine) -> None:
    """ElectroDB joins values without escaping: ("1#b_2", "3") and ("1", "2#b_3") have the same key."""
    pair, other = Pair(a="1#b_2", b="3", note="one"), Pair(a="1", b="2#b_3", note="other")
    magazine.create(pair)
    magazine.create(other)
    assert len({item["pk"]["S"] for item in stored(magazine)}) == 2
    assert magazine.pair("1#b_2", "3") == pair
    assert magazine.pair("1", "2#b_3") == other


def test_keys_are_case_sensitive(magazine: Magazine) -> None:
    """By default, ElectroDB converts keys to lower case: a second item overwrites one that differs only in case."""
    magazine.create(Pair(a="x", b="Y", note="one"))
    magazine.create(Pair(a="X", b="y", note="other"))
    magazine.put(Article(article_id="1", author="ada"))
    magazine.put(Article(article_id="2", author="Ada"))
    notes = [pair.note for pair in (magazine.pair("x", "Y"), magazine.pair("X", "y")) if pair]
    assert notes == ["one", "other"]
    assert [article.article_id for article in magazine.articles_by("ada")] == ["1"]


def test_a_put_never_overwrites_an_item_with_other_key_values(magazine: Magazine) -> None:
    """In pydynantic, a second put overwrites the first item if the joined key values of both are equal."""
    first = magazine.put(Pair(a="1#b_2", b="3", note="first"))
    magazine.put(Pair(a="1", b="2#b_3", note="second"))
    assert magazine.pair("1#b_2", "3") == first
    with pytest.raises(ItemExists):
        magazine.create(Pair(a="1", b="2#b_3", note="third"))
    pair = magazine.pair("1", "2#b_3")
    assert pair is not None
    assert pair.note == "second"


def test_an_optional_field_in_a_key_template_makes_the_index_sparse(magazine: Magazine) -> None:
    """pydynox and pydynantic raise an error if an optional field in a key template is None."""
    article = magazine.put(Article(article_id="1"))
    assert keys_in(magazine, "GSI2") == []
    article = magazine.update(article, section="essays")
    assert keys_in(magazine, "GSI2") == [("SECTION#essays", "ARTICLE#1")]
    assert magazine.articles_in("essays") == [article]
    article = magazine.update(article, section=None)
    assert keys_in(magazine, "GSI2") == []
    article = magazine.update(article, section="news")
    magazine.update(article, section=Remove())
    assert keys_in(magazine, "GSI2") == []
    magazine.put(Article(article_id="1", section="again"))
    assert keys_in(magazine, "GSI2") == [("SECTION#again", "ARTICLE#1")]


def test_stored_key_values_are_readable() -> None:
    """Joined values are escaped, not hashed or encoded as a whole."""
    compiled = Magazine.compiled.by_name["Pair"]
    assert compiled.to_item(Pair(a="1#b_2", b="3"))["pk"] == {"S": "PAIR#a_1$cb_2#b_3"}
    assert compiled.to_item(Pair(a="1", b="2#b_3"))["pk"] == {"S": "PAIR#a_1#b_2$cb_3"}
    article = Magazine.compiled.by_name["Article"]
    assert article.to_item(Article(article_id="1#x$"))["pk"] == {"S": "ARTICLE#1$cx$d"}
