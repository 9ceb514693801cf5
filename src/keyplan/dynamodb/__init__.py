"""DynamoDB's protocol as data: values, expressions, PartiQL, operations, limits and capacity. No I/O."""
