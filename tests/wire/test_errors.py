"""DynamoDB's errors: each class is named like its type."""

from __future__ import annotations

from keyplan.dynamodb import service_errors as errors
from keyplan.errors import DynamoDBError


def test_class_names_are_error_types() -> None:
    own = [each for name, each in vars(errors).items() if name.endswith("Exception")]
    assert len(own) > 10
    for each in own:
        assert issubclass(each, DynamoDBError)
        assert each.type == each.__name__
        assert each.__doc__


def test_canceled_transaction_lists_its_reasons() -> None:
    error = errors.TransactionCanceledException([{"Code": "None"}, {"Code": "ConditionalCheckFailed"}])
    assert error.message.endswith("[None, ConditionalCheckFailed]")
    assert error.fields["CancellationReasons"][0] == {"Code": "None"}
