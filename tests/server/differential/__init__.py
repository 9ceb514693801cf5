"""Generated sequences of operations for the server and DynamoDB Local, which must return the same responses."""
