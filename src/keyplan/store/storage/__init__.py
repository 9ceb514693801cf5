"""The storage: tables, streams and what was, in SQLite. Above it nothing knows SQL; below it nothing knows DynamoDB's
rules.
"""
