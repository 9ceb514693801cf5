"""DynamoDB's protocol as data, without I/O: values, expressions, PartiQL, operations, limits and capacity."""
