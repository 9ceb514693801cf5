"""Generated sequences of operations, to which the server and DynamoDB Local must return the same responses."""
