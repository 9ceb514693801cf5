"""The errors: each class's name is its type on the wire."""

from __future__ import annotations

from keyplan.dynamodb import service_errors as errors
from keyplan.errors import DynamoDBError


def test_names_are_types() -> None:
    classes = DynamoDBError.__subclasses__()
    own = [each for each in classes if each.__module__ == errors.__name__]
    assert len(own) > 10
    for each in own:
        assert each.type == each.__name__
        assert each.__doc__


def test_a_cancelled_transaction_names_its_reasons() -> None:
    error = errors.TransactionCanceledException([{"Code": "None"}, {"Code": "ConditionalCheckFailed"}])
    assert error.message.endswith("[None, ConditionalCheckFailed]")
    assert error.fields["CancellationReasons"][0] == {"Code": "None"}
