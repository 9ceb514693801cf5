"""Generated sequences of operations, asked of the served store and of DynamoDB Local, whose answers must be the same."""
