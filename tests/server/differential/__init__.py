"""Generated sequences of operations, asked of the served store and of DynamoDB Local, which must answer the same."""
