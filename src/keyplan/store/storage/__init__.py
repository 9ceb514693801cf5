"""The storage on SQLite: only this package contains SQL, and this package doesn't implement rules of DynamoDB."""
