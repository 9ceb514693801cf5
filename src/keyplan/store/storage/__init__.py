"""The storage on SQLite: only this package contains SQL, and it contains no rules of DynamoDB."""
