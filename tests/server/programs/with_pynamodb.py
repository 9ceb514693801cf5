"""``python with_pynamodb.py ENDPOINT`` uses PynamoDB, and prints ``done`` if all assertions pass."""
# mypy: ignore-errors
# It runs in a separate environment; the type checker doesn't have its packages.

from __future__ import annotations

import sys
from typing import Any

from pynamodb.attributes import ListAttribute, NumberAttribute, UnicodeAttribute, VersionAttribute
from pynamodb.connection import Connection
from pynamodb.exceptions import PutError
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
from pynamodb.models import Model
from pynamodb.transactions import TransactWrite


class ByAuthor(GlobalSecondaryIndex[Any]):
    class Meta:
        index_name = "by_author"
        projection = AllProjection()
        billing_mode = "PAY_PER_REQUEST"

    author = UnicodeAttribute(hash_key=True)


class Article(Model):
    class Meta:
        table_name = "pynamodb"
        host = sys.argv[1]
        region = "eu-west-1"
        aws_access_key_id = "dev"
        aws_secret_access_key = "secret"
        billing_mode = "PAY_PER_REQUEST"

    name = UnicodeAttribute(hash_key=True)
    number = NumberAttribute(range_key=True)
    author = UnicodeAttribute()
    tags: Any = ListAttribute(default=list)
    version = VersionAttribute()
    by_author = ByAuthor()


Article.create_table(wait=True)
with Article.batch_write() as batch:
    for number in range(40):
        batch.save(Article("a", number, author=f"author{number % 2}", tags=["x", number]))
newest = Article.query("a", Article.number < 5, scan_index_forward=False)
assert [article.number for article in newest] == [4, 3, 2, 1, 0]
assert len(list(Article.by_author.query("author1", page_size=7))) == 20
article = Article.get("a", 3)
stale = Article.get("a", 3)
article.update(actions=[Article.author.set("other")])
refused = None
try:
    stale.save()
except PutError as error:
    refused = error.cause_response_code
assert refused == "ConditionalCheckFailedException"
connection = Connection(region="eu-west-1", host=sys.argv[1])
connection.session.set_credentials("dev", "secret")
with TransactWrite(connection=connection) as transaction:
    transaction.save(Article("b", 1, author="x"))
    transaction.delete(article)
assert Article.count("b") == 1
assert Article.count("a") == 39
Article.delete_table()
print("done")
