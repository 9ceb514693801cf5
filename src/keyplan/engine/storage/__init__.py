"""The storage port and its SQLite adapter. Above it nothing knows SQL; below it nothing knows DynamoDB's
rules.
"""
