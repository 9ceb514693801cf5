"""Stores tables in SQLite. Only this package contains SQL, and it doesn't implement rules of DynamoDB."""
