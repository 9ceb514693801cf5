"""Generated sequences of operations. Keyplan's server and DynamoDB Local must return the same responses."""
