"""The classes of DynamoDB's errors, each of which has the name of its error type."""

from __future__ import annotations

from keyplan.dynamodb import service_errors as errors
from keyplan.errors import DynamoDBError


def test_the_name_of_an_error_class_is_its_error_type() -> None:
    own = [each for name, each in vars(errors).items() if name.endswith("Exception")]
    assert len(own) > 10
    for each in own:
        assert issubclass(each, DynamoDBError)
        assert each.type == each.__name__
        assert each.__doc__


def test_the_error_of_a_canceled_transaction_lists_its_reasons() -> None:
    error = errors.TransactionCanceledException([{"Code": "None"}, {"Code": "ConditionalCheckFailed"}])
    assert error.message.endswith("[None, ConditionalCheckFailed]")
    assert error.fields["CancellationReasons"][0] == {"Code": "None"}
