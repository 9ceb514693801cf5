"""Generated sequences of operations, to which Keyplan's server and DynamoDB Local must return the same responses."""
