"""Implements DynamoDB's values, expressions, PartiQL, operations, limits and capacity, without I/O."""
